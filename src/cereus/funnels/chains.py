"""The pass over the events of all keys: which of them are a step of a chain.

The definition is that of ClickHouse's `windowFunnel`: a chain is one event of each of the first
steps, in the order of time, the last at most `within` after the first; a key has come as far as
its longest chain. The argument for one pass per step: of all chains that end at an event, the one
with the latest start leaves the most time, and the latest event of a step has the latest start
(starts never go back along the events of a step). So an event of the next step has to look at one
event only, the latest of the step before it: if that is too long ago, so are all others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Times = npt.NDArray[Any]
"""Times in the units of their column: int64, or float64."""
Masks = Iterable[npt.NDArray[np.bool_]]


@dataclass(frozen=True)
class Chains:
    """The longest chain of each key, the first of several: its events, by place, in as many columns
    as steps; -1 after the end of the chain."""

    keys: Ints
    places: Ints

    @property
    def levels(self) -> Ints:
        return np.asarray((self.places >= 0).sum(axis=1))


def longest_chains(
    keys: Ints,
    times: Times,
    masks: Masks,
    within: float | None,
    gaps: Sequence[float | None],
) -> Chains:
    """The longest chains. `keys` and `times` are those of events sorted by key, and by time within
    each; `masks` say for each step which events can be it."""
    first, *later = (np.flatnonzero(mask) for mask in masks)
    places, parents = [first], [np.zeros(0, np.int64)]
    starts = times[places[0]]
    for events, gap in zip(later, gaps, strict=True):
        before = places[-1]
        latest = np.searchsorted(before, events) - 1
        some = latest >= 0
        events, latest = events[some], latest[some]
        reached = keys[before[latest]] == keys[events]
        reached &= _near(starts[latest], times[events], within)
        reached &= _near(times[before[latest]], times[events], gap)
        places.append(events[reached])
        parents.append(latest[reached])
        starts = starts[latest[reached]]
    return _longest(keys, places, parents)


def _near(early: Times, late: Times, most: float | None) -> npt.NDArray[np.bool_]:
    if most is None:
        return np.ones(len(early), np.bool_)
    if early.dtype == np.int64:  # as unsigned numbers, differences do not overflow
        return np.asarray((late - early).view(np.uint64) <= np.uint64(max(0, int(most))))
    return np.asarray(late - early <= most)


def _longest(keys: Ints, places: list[Ints], parents: list[Ints]) -> Chains:
    every = np.unique(keys)
    chosen = np.full((len(every), len(places)), -1, np.int64)
    open_keys = np.ones(len(every), np.bool_)
    rows, at = np.zeros(0, np.int64), np.zeros(0, np.int64)
    for level in range(len(places) - 1, -1, -1):  # chains that end here join those of further steps
        with_chain, first = np.unique(keys[places[level]], return_index=True)
        ending = np.searchsorted(every, with_chain)
        fresh = open_keys[ending]
        open_keys[ending] = False
        rows, at = np.append(rows, ending[fresh]), np.append(at, first[fresh])
        chosen[rows, level] = places[level][at]
        at = parents[level][at] if level else at
    return Chains(every, chosen)
