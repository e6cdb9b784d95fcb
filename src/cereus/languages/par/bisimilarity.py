"""Decides whether two programs are the same, with a shortest input on which they differ.

Bisimilarity (Definition 6) is equality of behaviour; output equivalence (Definition 7) looks at
outputs alone. Both are decided by walking the two sides together, breadth first, over the input
symbols on which the two current states depend. Pairs that are already known to be equal, also by
symmetry and transitivity, are not walked again (Hopcroft and Karp). That keeps the witness
shortest: if a pair follows from pairs seen before, and some input distinguishes it, the same input
distinguishes one of those, and they were no deeper.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from cereus.languages.par.machine.alphabet import Occurrence, Symbol, occurrences
from cereus.languages.par.machine.derivative import frontier, step
from cereus.languages.par.machine.machine import Machine
from cereus.languages.par.tree import Atom, Completion, Program
from cereus.languages.par.tree import atoms as atoms_of


class Observation(NamedTuple):
    output: frozenset[str]
    completion: Completion


State = Hashable


class System(Protocol):
    """Something that makes steps: a program by its derivatives, a machine by its tables."""

    @property
    def start(self) -> State: ...
    @property
    def atoms(self) -> tuple[Atom, ...]: ...
    def frontier(self, state: Any) -> tuple[Atom, ...]: ...
    def step(self, state: Any, symbol: Symbol) -> tuple[Observation, State]: ...


@dataclass(frozen=True)
class Derivatives:
    """The machine of PAR expressions (Theorem 5): a state is a program."""

    start: Program

    @property
    def atoms(self) -> tuple[Atom, ...]:
        return atoms_of(self.start)

    def frontier(self, state: Program) -> tuple[Atom, ...]:
        return frontier(state)

    def step(self, state: Program, symbol: Symbol) -> tuple[Observation, Program]:
        output, completion, after = step(state, symbol)
        return Observation(output, completion), after


Numbered = tuple[int, int]
"""The identity of a machine, and the number of a state in it."""


@dataclass(frozen=True)
class Tables:
    """A finite machine: a state is its number."""

    machine: Machine

    @property
    def start(self) -> Numbered:
        return id(self.machine), 0

    @property
    def atoms(self) -> tuple[Atom, ...]:
        return self.machine.atoms

    def frontier(self, state: Numbered) -> tuple[Atom, ...]:
        return self.machine.atoms

    def step(self, state: Numbered, symbol: Symbol) -> tuple[Observation, Numbered]:
        output, completion, after = self.machine.step(state[1], symbol)
        return Observation(output, completion), (state[0], after)


@dataclass(frozen=True)
class Difference:
    """A shortest input at whose last event the two sides show different things."""

    events: tuple[Occurrence, ...]
    left: tuple[Observation, ...]
    right: tuple[Observation, ...]
    atoms: tuple[Atom, ...]

    @property
    def symbols(self) -> tuple[Symbol, ...]:
        """The input as exact sets of atoms."""
        return tuple(event.symbol(self.atoms) for event in self.events)

    def __str__(self) -> str:
        from cereus.languages.par.machine.show import difference_text

        return difference_text(self)


@dataclass(frozen=True)
class Verdict:
    """How two programs differ. `difference` is None if they are bisimilar, `output_difference` if
    they are output equivalent."""

    difference: Difference | None
    output_difference: Difference | None

    @property
    def bisimilar(self) -> bool:
        return self.difference is None

    @property
    def output_equivalent(self) -> bool:
        return self.output_difference is None

    def __bool__(self) -> bool:
        return self.bisimilar

    def __str__(self) -> str:
        from cereus.languages.par.machine.show import verdict_text

        return verdict_text(self)


def compare(left: Program | Machine, right: Program | Machine) -> Verdict:
    """Bisimilar, output equivalent only, or different, with shortest witnesses."""
    difference = distinguish(left, right)
    if difference is None:
        return Verdict(None, None)
    return Verdict(difference, distinguish(left, right, outputs_only=True))


def bisimilar(left: Program | Machine, right: Program | Machine) -> bool:
    return distinguish(left, right) is None


def output_equivalent(left: Program | Machine, right: Program | Machine) -> bool:
    return distinguish(left, right, outputs_only=True) is None


class Pair(NamedTuple):
    left: State
    right: State
    before: int
    event: Occurrence | None


def distinguish(
    left: Program | Machine, right: Program | Machine, *, outputs_only: bool = False
) -> Difference | None:
    """A shortest input on which two programs or machines differ, or None."""
    x, y = system(left), system(right)
    equal = UnionFind()
    if not equal.join(x.start, y.start):
        return None
    pairs = [Pair(x.start, y.start, -1, None)]
    for index, pair in enumerate(pairs):  # grows while it is read: breadth first
        depends = tuple(dict.fromkeys(x.frontier(pair.left) + y.frontier(pair.right)))
        for event, symbol in occurrences(depends):
            shown_x, after_x = x.step(pair.left, symbol)
            shown_y, after_y = y.step(pair.right, symbol)
            if shown_x.output != shown_y.output or (
                not outputs_only and shown_x.completion != shown_y.completion
            ):
                return witness(x, y, pairs, index, event)
            if equal.join(after_x, after_y):
                pairs.append(Pair(after_x, after_y, index, event))
    return None


def system(side: Program | Machine) -> System:
    return Tables(side) if isinstance(side, Machine) else Derivatives(side)


def witness(x: System, y: System, pairs: list[Pair], index: int, last: Occurrence) -> Difference:
    """The input that led to a pair, and what both sides show along it."""
    events = [last]
    while (pair := pairs[index]).event is not None:
        events.append(pair.event)
        index = pair.before
    events.reverse()
    atoms = tuple(dict.fromkeys(x.atoms + y.atoms))
    symbols = [event.symbol(atoms) for event in events]
    return Difference(tuple(events), observe(x, symbols), observe(y, symbols), atoms)


def observe(side: System, symbols: list[Symbol]) -> tuple[Observation, ...]:
    state, seen = side.start, []
    for symbol in symbols:
        observation, state = side.step(state, symbol)
        seen.append(observation)
    return tuple(seen)


class UnionFind:
    """Classes of states that are equal so far."""

    def __init__(self) -> None:
        self.parent: dict[Hashable, Hashable] = {}

    def find(self, item: Hashable) -> Hashable:
        root = item
        while (above := self.parent.get(root, root)) != root:
            root = above
        while item != root:
            self.parent[item], item = root, self.parent[item]
        return root

    def join(self, x: Hashable, y: Hashable) -> bool:
        """Make x and y equal; False when they already were."""
        x, y = self.find(x), self.find(y)
        if x == y:
            return False
        self.parent[x] = y
        return True
