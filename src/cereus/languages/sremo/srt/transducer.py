"""A symbolic register transducer (Def. 21), its configurations and runs (Def. 23, 24, 26)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from cereus.expr.print import condition_text
from cereus.expr.python.evaluate import holds
from cereus.expr.tree import Expression, variables
from cereus.languages.sremo.srt.negation import exclude
from cereus.languages.sremo.tree import TRUE, with_empty

Event = Mapping[str, Any]
Valuation = tuple[tuple[str, int], ...]
"""The position that each register holds, in the order of their names; empty ones are left out."""


class Transition(NamedTuple):
    """q, φ↑o↓W → q′; `condition` None is ε."""

    source: int
    condition: Expression | None
    marks: bool
    writes: frozenset[str]
    target: int

    def __str__(self) -> str:
        condition = "ε" if self.condition is None else condition_text(self.condition)
        output = "•" if self.marks else "⊗"
        written = f"↓{','.join(sorted(self.writes))}" if self.writes else ""
        return f"{self.source} -- {condition}↑{output}{written} -> {self.target}"


class Configuration(NamedTuple):
    """[j, q, v], with the positions marked on the way."""

    position: int
    state: int
    valuation: Valuation
    marked: frozenset[int]
    last_marked: bool


@dataclass(frozen=True)
class Transducer:
    """(Q, qs, Qf, R, Δ); states are 0 … states − 1."""

    states: int
    start: int
    final: frozenset[int]
    registers: frozenset[str]
    transitions: tuple[Transition, ...]

    @cached_property
    def by_source(self) -> dict[int, list[Transition]]:
        outgoing: dict[int, list[Transition]] = {state: [] for state in range(self.states)}
        for transition in self.transitions:
            outgoing[transition.source].append(transition)
        return outgoing

    @cached_property
    def written(self) -> frozenset[str]:
        """The registers that some transition writes."""
        return frozenset().union(*(move.writes for move in self.transitions))

    @cached_property
    def read(self) -> frozenset[str]:
        """The registers that some condition reads."""
        conditions = (move.condition for move in self.transitions if move.condition is not None)
        return frozenset().union(*map(variables, conditions))

    @property
    def remembers(self) -> bool:
        """Whether a value that it reads from a register may depend on what it has written."""
        return bool(self.written & self.read)

    def with_used_registers(self) -> Transducer:
        """The transducer with only the registers that transitions use."""
        return replace(self, registers=self.written | self.read)

    @property
    def has_epsilon(self) -> bool:
        return any(transition.condition is None for transition in self.transitions)

    @property
    def deterministic(self) -> bool:
        """Whether a state's conditions exclude each other by their form, as minterms do."""
        return not self.has_epsilon and all(
            exclude(one.condition or TRUE, two.condition or TRUE)
            for moves in self.by_source.values()
            for place, one in enumerate(moves)
            for two in moves[:place]
        )

    # ------------------------------------------------------------ runs

    def runs(self, string: Sequence[Event]) -> Iterator[Configuration]:
        """The last configurations of all runs over the whole string (Def. 24)."""
        todo = {Configuration(0, self.start, (), frozenset(), False)}
        seen: set[Configuration] = set()
        while todo:
            now = todo.pop()
            if now in seen:
                continue
            seen.add(now)
            todo.update(self.successors(now, string))
        yield from (c for c in seen if c.position == len(string))

    def successors(self, now: Configuration, string: Sequence[Event]) -> Iterator[Configuration]:
        """The configurations that one transition leads to (Def. 23)."""
        for move in self.by_source[now.state]:
            if move.condition is None:
                yield now._replace(state=move.target)
            elif now.position < len(string) and _satisfied(move.condition, now, string):
                yield self._moved(now, move)

    @staticmethod
    def _moved(now: Configuration, move: Transition) -> Configuration:
        registers = dict(now.valuation) | dict.fromkeys(move.writes, now.position)
        marked = now.marked | {now.position} if move.marks else now.marked
        valuation = tuple(sorted(registers.items()))
        return Configuration(now.position + 1, move.target, valuation, marked, move.marks)

    def matches(self, string: Sequence[Event]) -> frozenset[frozenset[int]]:
        """Match(T, S) as in Def. 18 for expressions; positions count from 0."""
        return frozenset(c.marked for c in self.runs(string) if c.state in self.final)

    def reported(self, string: Sequence[Event]) -> frozenset[frozenset[int]]:
        """Match(T, S) of Def. 26: of accepting runs, whose last event is marked (Def. 24)."""
        final = (c for c in self.runs(string) if c.state in self.final)
        return frozenset(c.marked for c in final if c.last_marked)

    def accepts(self, string: Sequence[Event]) -> bool:
        """Whether some run accepts the string, whatever it puts out: S ∈ Lang(T)."""
        return any(c.state in self.final for c in self.runs(string))


def _satisfied(condition: Expression, now: Configuration, string: Sequence[Event]) -> bool:
    """Whether an event and the registers satisfy a condition: (u, v) ⊨ φ, Def. 13."""
    registers = {register: string[position] for register, position in now.valuation}
    known = with_empty(condition, variables(condition) - registers.keys())
    return holds(known, string[now.position], registers)
