"""Event expression → the instructions that detect it.

A tick concerns only the subexpressions in which one of its primitives occurs: in all others nothing
changes and nothing is detected (§4.2). So each set of primitives that can share a tick has its own
*schedule*, in which everything that is known for such a tick is already worked out (Fig. 7, per
tick). The likely sets have one each; schedule 0, which assumes nothing, serves all others.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from itertools import combinations, islice

import numpy as np
import numpy.typing as npt

from cereus.errors import RefusedError
from cereus.languages.algebra.detect import instructions
from cereus.languages.algebra.detect.instructions import (
    FIELDS,
    LONGEST,
    NEVER_CELL,
    NO_QUEUE,
    NOW_CELL,
    Instruction,
    instruction,
)
from cereus.languages.algebra.detect.layout import Addresses, Layout, lay_out
from cereus.languages.algebra.sizes import sized
from cereus.languages.algebra.tree import (
    Conjunction,
    Disjunction,
    Empty,
    EventExpression,
    Negation,
    Primitive,
    Sequence,
    TemporalRestriction,
    check,
    primitives,
    restrictions,
    tau_length,
)

Int64s = npt.NDArray[np.int64]

MOST_SCHEDULES = 64
LARGEST_TABLE = 12
"""Up to this many primitives, a table says which schedule a tick's mask has."""


@dataclass(frozen=True, eq=False)
class DetectorProgram:
    """An expression ready to run: immutable, picklable, the same for every key and batch."""

    expression: EventExpression
    values: bool
    """Whether instances carry their constituents (Example 5) or only intervals (Example 4)."""
    layout: Layout
    primitives: tuple[Primitive, ...]
    """Primitive number i is bit i % 64 of mask word i // 64."""
    code: Int64s
    entries: Int64s
    """Schedule s is the instructions from entries[s] to entries[s + 1]."""
    results: Int64s
    """The address of the expression's instance after each schedule."""
    sources: Int64s
    """Where the starts are that decide what a sequence has to remember (`instructions`)."""
    known: tuple[int, ...]
    """The mask of schedule 1, 2, …"""

    @property
    def words(self) -> int:
        """How many words of 64 bits a mask of the primitives takes."""
        return max(1, -(-len(self.primitives) // 64))

    @property
    def constituents(self) -> int:
        return sized(self.expression).constituents if self.values else 0

    @property
    def in_durations(self) -> bool | None:
        """True if τ is in microseconds, False if in ticks; None when there is no τ."""
        taus = restrictions(self.expression)
        return isinstance(taus[0], timedelta) if taus else None

    def new_states(self, keys: int = 1) -> Int64s:
        """The state before the first tick, one row per key."""
        initial = np.array(self.layout.initial[self.layout.state_at :], np.int64)
        return np.tile(initial, (keys, 1))

    def schedules(self, masks: npt.NDArray[np.uint64]) -> npt.NDArray[np.int32]:
        """Which schedule each tick takes, given the masks of the ticks."""
        if not self.known:
            return np.zeros(len(masks), np.int32)
        if len(self.primitives) <= LARGEST_TABLE:
            return self._table[masks[:, 0].view(np.int64)]  # signed indices are faster in numpy
        sorted_masks, numbers = self._sorted_known
        at = np.searchsorted(sorted_masks, masks[:, 0])
        at = np.minimum(at, len(sorted_masks) - 1)
        return np.where(sorted_masks[at] == masks[:, 0], numbers[at], np.int32(0))

    @cached_property
    def _table(self) -> npt.NDArray[np.int32]:
        table = np.zeros(2 ** len(self.primitives), np.int32)
        table[list(self.known)] = np.arange(1, len(self.known) + 1)
        return table

    @cached_property
    def _sorted_known(self) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int32]]:
        masks = np.array(self.known, np.uint64)
        order = np.argsort(masks)
        return masks[order], (order + 1).astype(np.int32)


def build(expression: EventExpression, *, values: bool = False) -> DetectorProgram:
    """Compile an expression; `values` chooses the framework of Example 5 over Example 4's."""
    check(expression)
    for tau in restrictions(expression):
        if tau_length(tau) >= LONGEST:
            raise RefusedError(f"the time restriction {tau} is too long", hint="leave it out")
    layout = lay_out(expression, values=values)
    leaves = primitives(expression)
    reach = _reach(expression, leaves)
    # Masks of several words are not looked up (see `schedules`).
    known = tuple(islice(_likely_masks(len(leaves)), MOST_SCHEDULES)) if len(leaves) <= 64 else ()
    code: list[Instruction] = []
    entries, results = [0], []
    for mask in (None, *known):
        schedule = Schedule(layout, reach, mask, values)
        results.append(schedule.visit(expression))
        code.extend(schedule.code)
        entries.append(len(code))
    return DetectorProgram(
        expression=expression,
        values=values,
        layout=layout,
        primitives=leaves,
        code=np.array(code, np.int64).reshape(-1, FIELDS),
        entries=np.array(entries, np.int64),
        results=np.array(results, np.int64),
        sources=np.array(layout.sources, np.int64).reshape(-1, 3),
        known=known,
    )


def _reach(
    expression: EventExpression, leaves: tuple[Primitive, ...]
) -> dict[EventExpression, int]:
    """The primitives that occur in each subexpression, as a mask."""
    reach: dict[EventExpression, int] = {p: 1 << number for number, p in enumerate(leaves)}
    for node in expression.postorder():
        if node not in reach:
            below = [reach[child] for child in node.children()]
            reach[node] = functools.reduce(operator.or_, below, 0)
    return reach


def _likely_masks(count: int) -> Iterator[int]:
    """The sets of `count` primitives, small ones first: a tick seldom has many."""
    for size in range(count + 1):
        for chosen in combinations(range(count), size):
            yield sum(1 << number for number in chosen)


@dataclass
class Schedule:
    """The instructions of one kind of tick: those in which exactly the primitives of `mask`
    occur, or any tick at all when `mask` is None."""

    layout: Layout
    reach: dict[EventExpression, int]
    mask: int | None
    values: bool
    code: list[Instruction] = field(default_factory=list)
    done: dict[EventExpression, int] = field(default_factory=dict)

    def visit(self, node: EventExpression) -> int:
        """Emit the instructions that detect `node`. Returns the address of its instance: NEVER_CELL
        if it cannot occur in such a tick, NOW_CELL if it does occur and starts now."""
        if node not in self.done:
            self.done[node] = self._visit(node) if self.active(node) else NEVER_CELL
        return self.done[node]

    def active(self, node: EventExpression) -> bool:
        return self.mask is None or bool(self.reach[node] & self.mask)

    def _visit(self, node: EventExpression) -> int:
        place = self.layout.places[node]
        match node:
            case Primitive():
                return self._primitive(node, place)
            case Empty():
                return NEVER_CELL
            case Disjunction(left, right):
                return self._disjunction(place, self.visit(left), self.visit(right))
            case Conjunction(left, right):
                return self._conjunction(place, self.visit(left), self.visit(right))
            case Negation(left, right):
                return self._negation(place, self.visit(left), self.visit(right))
            case Sequence(left, right):
                first, second = self.visit(left), self.visit(right)
                if place.queue == NO_QUEUE:
                    return self._latch(place, first, second)
                return self._sequence(place, first, second, right)
            case TemporalRestriction(body, tau):
                return self._restriction(place, self.visit(body), tau_length(tau))
        raise TypeError(f"not an event expression: {node!r}")

    def _emit(
        self,
        op: int,
        to: int,
        left: int,
        right: int,
        *,
        x: int = 0,
        y: int = 0,
        z: int = 0,
        d: int = 1,
    ) -> int:
        self.code.append(instruction(op, to=to, left=left, right=right, x=x, y=y, z=z, stride=d))
        return to

    def _primitive(self, node: Primitive, place: Addresses) -> int:
        if self.mask is not None and not self.values:
            return NOW_CELL
        number = self.reach[node].bit_length() - 1
        return self._emit(instructions.PRIMITIVE, place.register, NEVER_CELL, NEVER_CELL, x=number)

    def _disjunction(self, place: Addresses, left: int, right: int) -> int:
        if left == right or right == NEVER_CELL:
            return left
        if left == NEVER_CELL:
            return right
        if NOW_CELL in (left, right):
            return NOW_CELL
        return self._emit(instructions.DISJUNCTION, place.register, left, right)

    def _conjunction(self, place: Addresses, left: int, right: int) -> int:
        if left == right == NEVER_CELL:
            return NEVER_CELL
        return self._emit(
            instructions.CONJUNCTION, place.register, left, right, x=place.left, y=place.right
        )

    def _negation(self, place: Addresses, left: int, right: int) -> int:
        if right == NEVER_CELL and left in (NEVER_CELL, NOW_CELL):
            return left  # whatever t is, it lies before now
        self._emit(instructions.NEGATION, place.register, left, right, x=place.left)
        return NEVER_CELL if left == NEVER_CELL else place.register

    def _latch(self, place: Addresses, left: int, right: int) -> int:
        if left == right == NEVER_CELL:
            return NEVER_CELL
        self._emit(instructions.LATCH, place.register, left, right, x=place.left)
        return NEVER_CELL if right == NEVER_CELL else place.register

    def _sequence(self, place: Addresses, left: int, right: int, operand: EventExpression) -> int:
        active = self.active(operand)  # something may begin in it even when it has no instance
        if active or left != NEVER_CELL:
            self._emit(
                instructions.SEQUENCE if active else instructions.STORE,
                place.register,
                left,
                right,
                x=place.left,
                y=place.queue,
                z=place.sources,
                d=place.stride,
            )
        return NEVER_CELL if right == NEVER_CELL else place.register

    def _restriction(self, place: Addresses, body: int, tau: int) -> int:
        if body in (NEVER_CELL, NOW_CELL):
            return body
        return self._emit(instructions.RESTRICTION, place.register, body, NEVER_CELL, x=tau)
