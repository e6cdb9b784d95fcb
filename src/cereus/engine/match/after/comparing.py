"""Decides NOT FOLLOWED BY where the event that must not follow is compared with those of the match.

The conditions are evaluated like those of matches, over columns with a row for each pair of a
waiting match and an event after it, up to its deadline. Where an attribute of both has to be equal,
only pairs with equal values are looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cereus.automata.memory.absence import THIS
from cereus.engine.ingest.events import Events
from cereus.engine.ingest.substreams import Ints
from cereus.engine.kernel.layout import FIRST_SHOWN
from cereus.engine.match.runner import Runner
from cereus.engine.memory import NO_INTS
from cereus.engine.ranges import ranges
from cereus.engine.results.match_chunks import Mask, MatchChunk
from cereus.engine.results.values import MatchValues, VariableEvents
from cereus.expr import tree as ex
from cereus.plan.plan import Follower

PIECE = 1 << 18
"""At most about this many pairs are looked at together."""
MISSING = -1


@dataclass
class ComparedFollowers:
    """One kind of events that must not follow; `known` are the ordinals of such events that the
    history still has."""

    runner: Runner
    kind: Follower
    known: Ints = field(default_factory=lambda: NO_INTS)

    def among(self, events: Events) -> Ints:
        """The ordinals of such events among these. They are remembered."""
        bits = [bool(letter >> self.kind.bit & 1) for letter in self.runner.reader.known]
        ordinals = events.first_ordinal + np.flatnonzero(np.array(bits, bool)[events.classes])
        kept = self.known[self.known >= self.runner.history.first]
        self.known = np.concatenate([kept, ordinals])
        return ordinals

    def follow(self, waiting: MatchChunk, ordinals: Ints, deadlines: Ints) -> Mask:
        """The matches that are followed in time by one of these events for which the conditions
        hold."""
        followed = np.zeros(len(waiting), bool)
        if not len(ordinals):
            return followed
        places = {name: self._places(waiting, name) for name in self._variables}
        for matches, events in self._pairs(waiting, ordinals, deadlines, places):
            hold = self._hold(matches, events, places)
            followed[matches[hold]] = True
        return followed

    @property
    def _variables(self) -> list[str]:
        return sorted({name for c in self.kind.conditions for name in ex.variables(c)} - {THIS})

    def _places(self, waiting: MatchChunk, name: str) -> Ints:
        """For each match, where the event of a variable is remembered; MISSING if it has none."""
        labels = self.runner.labels.shown
        chosen = np.array([name in label for label in labels], bool)[waiting.labels - FIRST_SHOWN]
        offsets, cells = waiting.cells_where(chosen)
        places = np.full(len(waiting), MISSING)
        there = np.diff(offsets) > 0
        places[there] = cells[offsets[:-1][there]] - self.runner.history.first
        return places

    # ------------------------------------------------------------ pairs

    def _pairs(
        self, waiting: MatchChunk, ordinals: Ints, deadlines: Ints, places: dict[str, Ints]
    ) -> Iterator[tuple[Ints, Ints]]:
        """Pairs of a match and the place of an event after it, up to its deadline, in the same
        key."""
        history = self.runner.history
        ends, events = waiting.last - history.first, ordinals - history.first
        both = np.concatenate([history.keys[ends], history.keys[events]]).astype(np.int64)
        for numbers in self._equal(places, events):
            _, both = np.unique(both * (int(numbers.max()) + 1) + numbers, return_inverse=True)
        groups, of_events = both[: len(ends)], both[len(ends) :]
        order = np.lexsort((events, of_events))
        events, of_events = events[order], of_events[order]
        ranks = _ranks(np.concatenate([history.times[events], deadlines]), int(both.max()) + 1)
        low = _after(of_events, events, groups, ends)
        high = _after(of_events, ranks[: len(events)], groups, ranks[len(events) :])
        sizes = np.maximum(high - low, 0)
        for begin, end in _cuts(sizes):
            count = sizes[begin:end]
            matches = np.repeat(np.arange(begin, end), count)
            if len(matches):
                yield matches, events[ranges(low[begin:end], count)]

    def _equal(self, places: dict[str, Ints], events: Ints) -> Iterator[Ints]:
        """For each equality of an attribute: numbers for its values in the matches and in the
        events. NULL gets a number too; the condition itself decides that it equals nothing."""
        payload = self.runner.history.payload
        assert payload is not None
        values = MatchValues(payload, {}, 0)
        for condition in self.kind.conditions:
            match condition:
                case ex.Comparison("=", ex.Attribute() as one, ex.Attribute() as two):
                    this, other = (one, two) if one.variable == THIS else (two, one)
                    there = places.get(str(other.variable))
                    if this.variable != THIS or there is None or (there == MISSING).any():
                        continue
                    left, right = values.read(other.path, there), values.read(this.path, events)
                    if left.type == right.type:
                        yield _numbered(left, right)

    def _hold(self, matches: Ints, events: Ints, places: dict[str, Ints]) -> Mask:
        """The pairs for which all conditions are true. A condition on a variable without an event
        counts as true."""
        payload = self.runner.history.payload
        assert payload is not None
        every = {name: each[matches] for name, each in places.items()} | {THIS: events}
        variables = {name: _single(each) for name, each in every.items()}
        values = MatchValues(payload, variables, len(matches))
        hold = np.ones(len(matches), bool)
        for condition in self.kind.conditions:
            true = values.mask(condition)
            for name in ex.variables(condition):
                true = true | (every[name] == MISSING)
            hold &= true
        return hold


def _single(places: Ints) -> VariableEvents:
    there = places != MISSING
    if there.all():
        return VariableEvents(places, np.arange(len(places) + 1))
    return VariableEvents(places[there], np.concatenate([[0], np.cumsum(there)]))


def _numbered(one: pa.Array, other: pa.Array) -> Ints:
    """Numbers for the values of two arrays, those of one followed by those of the other."""
    both = pa.concat_arrays([_plain(one), _plain(other)])
    numbers: Ints = both.dictionary_encode(null_encoding="encode").indices.to_numpy()
    return numbers.astype(np.int64)


def _plain(array: pa.Array) -> pa.Array:
    if pa.types.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    return pc.add(array, 0.0) if pa.types.is_floating(array.type) else array  # -0.0 is 0.0


def _ranks(times: Ints, groups: int) -> Ints:
    """Small numbers in the order of the times (as a rule, the time since the first), so that
    `_after` can put this many groups into one number with them."""
    first, last = int(times.min()), int(times.max())
    if (last - first + 2) * groups < 1 << 62:
        return times - first
    _, ranks = np.unique(times, return_inverse=True)
    return ranks


def _after(of_events: Ints, events: Ints, groups: Ints, ends: Ints) -> Ints:
    """For each group, the first event after a place, among events sorted by group and place; or
    after a time, which has the same order."""
    size = int(max(events.max(), ends.max())) + 2  # times a group below 2**63 (`_ranks`)
    return np.searchsorted(of_events * size + events, groups * size + ends + 1)


def _cuts(sizes: Ints) -> Iterator[tuple[int, int]]:
    """Ranges of matches that have few enough pairs together."""
    piece = np.cumsum(sizes) // PIECE
    ends = np.append(np.flatnonzero(np.diff(piece)) + 1, len(sizes))
    begin = 0
    for end in ends.tolist():
        yield begin, end
        begin = end
