"""Checks the saved state of a kernel before the kernel takes it up (`Kernel.restore`).

The kernel is compiled without bounds checks, and its loops end because links point to older nodes.
So whatever it reads by number must exist, and its invariants must hold of a saved forest:

nodes    columns as in `layout`; row 0 stands for nothing. Links and children are older; starts as
         invariant 1 of `stepper` says; ranks as in a leftist heap, since a meld goes down the
         right-hand children, recursively.
carry    columns as in `layout`; the configurations of key k begin at carry_from[k]
sets     of values that configurations have in slots: how many each has (0: there is no such set),
         and the members of all of them, in ascending order
vectors  of a counting kernel: a node is a stretch of cells, and no two nodes share a cell
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from cereus.engine.kernel import layout
from cereus.state.checked import array, ascending, integers, refuse_unless, within

Ints = npt.NDArray[np.int64]
NO_SETS: Ints = np.zeros(0, np.int64)
MOST_NODES = 2**30
"""The kernel counts nodes in 32 bits, and makes room for twice as many."""


@dataclass(frozen=True)
class KernelBounds:
    """The bounds of everything that a saved kernel refers to.

    keys, states, slots, labels  how many there are
    first                        the ordinal of the first remembered event
    history_keys                 the key of every remembered event; -1 if the key was forgotten.
                                 None: nothing is remembered, and all events came before `first`
    totals                       how many totals are counted; None where matches are listed
    with_sets                    the states with sets in slots, and which slots these are
    past                         how many kinds of events of the past there are, and how many
                                 numbers each has; None if there are none
    outlives                     nodes may be kept that are out of the window, and refer to events
                                 that are not remembered
    """

    keys: int
    states: int
    slots: int
    labels: int
    first: int
    history_keys: npt.NDArray[np.int32] | None = None
    totals: int | None = None
    past: tuple[int, int] | None = None
    with_sets: dict[int, list[int]] = field(default_factory=dict)
    outlives: bool = False


def check_kernel(saved: dict[str, Any], bounds: KernelBounds) -> None:
    """Refuse a saved kernel that breaks what the kernel relies on."""
    nodes = array(saved["nodes"], "the forest", np.int64, None, layout.NODE_WORDS)
    refuse_unless(0 < len(nodes) < MOST_NODES, "the forest is empty or too large")
    _check_carry(saved, bounds, len(nodes))
    if bounds.past:
        _check_past(saved, bounds)
    _check_sets(saved, bounds)
    if bounds.totals is None:
        _check_forest(nodes, bounds, saved)
    else:
        _check_vectors(nodes, saved, bounds.totals)


def _check_carry(saved: dict[str, Any], bounds: KernelBounds, nodes: int) -> None:
    carry = array(
        saved["carry"], "the configurations", np.int64, None, layout.CARRY_VALUES + bounds.slots
    )
    within(carry[:, layout.CARRY_STATE], 0, bounds.states, "the state of a configuration")
    within(carry[:, layout.CARRY_ROOT], 0, nodes, "the heap of a configuration")
    within(carry[:, layout.CARRY_EMPTY], layout.NONE, nodes, "the empty match of a configuration")
    starts = integers(saved["carry_from"], "the places of configurations")
    refuse_unless(0 < len(starts) <= bounds.keys + 1, "there are configurations of unknown keys")
    ascending(starts, "the places of configurations")
    refuse_unless(starts[0] == 0 and starts[-1] == len(carry), "configurations are of no key")
    positions = integers(saved["last_position"], "the positions of keys", len(starts) - 1)
    within(positions, -1, 2**62, "the position of a key")
    integers(saved["last_floor"], "the floors of keys", len(starts) - 1)


def _check_sets(saved: dict[str, Any], bounds: KernelBounds) -> None:
    sizes = integers(saved.get("set_sizes", NO_SETS), "the sizes of sets")
    within(sizes, 0, 2**31, "the size of a set")
    members = integers(saved.get("set_members", NO_SETS), "the members of sets", int(sizes.sum()))
    first = np.zeros(len(members), bool)
    first[(np.cumsum(sizes) - sizes)[sizes > 0]] = True
    sorted_so = (members[1:] > members[:-1]) | first[1:]
    refuse_unless(np.all(sorted_so), "the members of a set are out of order")
    carry = saved["carry"]
    for state, places in bounds.with_sets.items():
        numbers = carry[carry[:, layout.CARRY_STATE] == state][:, layout.CARRY_VALUES :][:, places]
        within(numbers, 0, len(sizes), "the set of a configuration")
        refuse_unless(np.all(sizes[numbers] > 0), "the set of a configuration is not there")


def _check_past(saved: dict[str, Any], bounds: KernelBounds) -> None:
    assert bounds.past is not None
    kinds, width = bounds.past
    sizes = integers(saved["past_sizes"], "the numbers of events of the past")
    within(sizes, 0, 2**40, "the number of events of the past")
    keys = len(saved["carry_from"]) - 1
    refuse_unless(len(sizes) == keys * kinds, "there are events of unknown keys")
    rows = array(saved["past"], "the events of the past", np.int64, int(sizes.sum()), width)
    new = np.zeros(len(rows), bool)
    new[np.minimum(np.cumsum(sizes) - sizes, max(0, len(rows) - 1))[sizes > 0]] = True
    for place in (layout.PAST_ORDINAL, layout.PAST_MEASURE):
        refuse_unless(
            np.all((np.diff(rows[:, place]) >= 0) | new[1:]), "events of the past are out of order"
        )


def _check_forest(nodes: Ints, bounds: KernelBounds, saved: dict[str, Any]) -> None:
    parts, ids = nodes.view(np.int32), np.arange(len(nodes))
    for place in (layout.NODE_LINK, layout.NODE_LEFT, layout.NODE_RIGHT):
        below = parts[1:, place]
        refuse_unless(
            np.all((below >= 0) & (below < ids[1:])), "a node links to one that is not older"
        )
    link, left, right = (
        parts[1:, place] for place in (layout.NODE_LINK, layout.NODE_LEFT, layout.NODE_RIGHT)
    )
    _check_starts(nodes[:, layout.NODE_START], link, left, right)
    _check_ranks(parts[:, layout.NODE_TAG] & layout.RANK_MASK, left, right)
    labels = parts[1:, layout.NODE_TAG] >> layout.RANK_BITS
    within(labels & layout.LABEL_MASK, 0, bounds.labels, "the label of a node")
    within(labels >> layout.LABEL_BITS, 0, 1 << layout.STAMP_BITS, "the stamps of a node")
    inside = np.ones(len(nodes) - 1, bool)
    if bounds.outlives:
        inside = nodes[1:, layout.NODE_START] >= _floors(parts, saved)[1:]
    events = nodes[1:][inside, layout.NODE_EVENT]
    if bounds.history_keys is None:
        within(events, 0, bounds.first, "an event")
        return
    within(events, bounds.first, bounds.first + len(bounds.history_keys), "an event")
    keys = bounds.history_keys[events - bounds.first]
    refuse_unless(np.all(keys >= 0), "a node's event is of no key")


def _floors(parts: Any, saved: dict[str, Any]) -> Ints:
    """For every node, the floor of the key whose configurations reach it, since a window of events
    begins anew with every key. A node that none reaches is out of all windows."""
    floors = np.full(len(parts), np.iinfo(np.int64).max)
    counts = np.diff(saved["carry_from"])
    of_rows = np.repeat(saved["last_floor"], counts)
    for place in (layout.CARRY_ROOT, layout.CARRY_EMPTY):
        roots = saved["carry"][:, place]
        np.minimum.at(floors, roots[roots > 0], of_rows[roots > 0])
    below = parts[:, [layout.NODE_LINK, layout.NODE_LEFT, layout.NODE_RIGHT]]
    for node in range(len(parts) - 1, 0, -1):  # links lead to older nodes
        floors[below[node]] = np.minimum(floors[below[node]], floors[node])
    return floors


def _check_starts(starts: Ints, link: Any, left: Any, right: Any) -> None:
    """Check invariant 1 of `stepper`."""
    of_node = starts[1:]
    refuse_unless(
        np.all((of_node == starts[link]) | (link == 0))
        and np.all((of_node >= starts[left]) | (left == 0))
        and np.all((of_node >= starts[right]) | (right == 0)),
        "the starts of partial matches are out of order",
    )


def _check_ranks(ranks: Any, left: Any, right: Any) -> None:
    below = np.where(right == 0, 0, ranks[right])
    beside = np.where(left == 0, 0, ranks[left])
    leftist = np.all(ranks[1:] == 1 + below) and np.all(beside >= below)
    refuse_unless(leftist, "a heap is out of balance")


def _check_vectors(nodes: Ints, saved: dict[str, Any], totals: int) -> None:
    starts = integers(saved["vector_starts"], "the starts of vectors")
    array(saved["vector_counts"], "the counts of vectors", np.float64, len(starts))
    array(saved["vector_totals"], "the totals of vectors", np.float64, len(starts), totals)
    offsets, sizes = (
        nodes[1:, layout.VECTOR_BEGIN],
        nodes.view(np.int32)[1:, layout.VECTOR_SIZE].astype(np.int64),
    )
    within(sizes, 1, len(starts) + 1, "the size of a vector")
    ends = np.cumsum(sizes)
    apart = np.all(offsets == ends - sizes) and (ends[-1] if len(ends) else 0) == len(starts)
    refuse_unless(apart, "vectors overlap")
    refuse_unless(
        np.all(nodes[1:, layout.VECTOR_START] == starts[ends - 1]),
        "a vector's start is not its last",
    )
    used = np.bincount(saved["carry"][:, layout.CARRY_ROOT], minlength=1)[1:]
    refuse_unless(used.max(initial=0) <= 1, "two configurations share a vector")
