"""SASE+ with values in the automaton's states, which decide anything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from cereus.expr import tree as ex
from cereus.languages.sase import tree as sase
from cereus.languages.sase.nfa.memory import Cell, NfaMemory, ValueMemory
from cereus.languages.sase.nfa.stages import NfaStage, Question
from cereus.languages.sase.places import identifiers
from cereus.languages.sase.planning.lower import BlockLowering


@dataclass
class BuffersInStates(BlockLowering):
    """Lowering with values in states: decides anything."""

    aggregates: Mapping[str, sase.UserAggregate] = field(default_factory=dict)
    read: list[tuple[int, Cell]] = field(default_factory=list)

    def question(
        self, clauses: list[ex.Expression], bit: int | None, at: Question, stage: int
    ) -> Question:
        cells = (Cell.of(node) for clause in clauses for node in identifiers(clause))
        self.read += [(stage, cell) for cell in cells if cell is not None]
        return at._replace(bit=bit, others=tuple(clauses))

    def memory(self, stages: tuple[NfaStage, ...]) -> NfaMemory:
        read_from = tuple(
            frozenset(cell for stage, cell in self.read if stage >= number)
            for number in range(len(stages) + 1)
        )
        return ValueMemory(tuple(sorted(read_from[0], key=repr)), read_from, self.aggregates)
