"""Exploring an automaton ends after a bounded amount of work, however large the automaton is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import cereus
from cereus.automata.beside import Interleaving
from cereus.automata.explore import MOST_MOVES_OF_PARTS
from cereus.automata.model import Letter, Move
from cereus.explain.analysis import PlanAnalysis
from cereus.language.pattern import PatternQuery
from tests.safety.surfaces import SCHEMA, STREAM

WIDE = {
    # every part takes an A, keeps its place or does not: 3**12 moves on one letter
    "ceql": ("SELECT * WHERE " + " AND ".join(f"(A OR T{n})+" for n in range(12)), 20_000),
    # the configurations of the last choice are nested 300 deep
    "sremo": (" | ".join(f"({{A:}} . {{B{n}:}})*" for n in range(300)), 1_000),
}
"""A text, and the most moves that are looked at. Explaining these took 20 seconds when only states
and letters were counted."""


@pytest.mark.parametrize("dialect", WIDE)
def test_moves_count_where_there_are_many(dialect: str) -> None:
    text, most = WIDE[dialect]
    compiled = cereus.compile(text, dialect=dialect, schema=SCHEMA, stream=STREAM).compiled
    assert isinstance(compiled, PatternQuery)
    built = PlanAnalysis(compiled.plan(SCHEMA), compiled.description).built
    assert not built.complete
    assert 0 < len(built.edges) <= most


def test_moves_inside_a_strategy_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Explaining this took 15 seconds: the strategy reads 12,000 moves of its parts on a letter."""
    parts = " ALL ".join(f"(A{n} OR B)+" for n in range(8))
    compiled = cereus.compile(f"SELECT * WHERE MAX({parts})", schema=SCHEMA, stream=STREAM).compiled
    assert isinstance(compiled, PatternQuery)
    analysis = PlanAnalysis(compiled.plan(SCHEMA), compiled.description)
    read = 0
    moves_of = Interleaving.moves

    def counted(self: Interleaving, state: Any, letter: Letter) -> Iterator[Move]:
        nonlocal read
        for move in moves_of(self, state, letter):
            read += 1
            yield move

    monkeypatch.setattr(Interleaving, "moves", counted)
    assert not analysis.built.complete
    assert read < 2 * MOST_MOVES_OF_PARTS
