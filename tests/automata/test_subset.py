"""The subset construction keeps what an automaton recognises, and finds every match once."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

import pytest

from cereus.automata import beside
from cereus.automata import construct as make
from cereus.automata.model import Automaton, Check, Label, Slot, State
from cereus.automata.subset import Determinised, JointMove, exclusive, index_columns

A, B = make.AtomAutomaton(0, frozenset({"a"})), make.AtomAutomaton(1, frozenset({"b"}))
AUTOMATA: dict[str, Automaton] = {
    "a ; b": make.ConcatenationAutomaton(A, B),
    "a : b": make.ConcatenationAutomaton(A, B, contiguous=True),
    "a+": make.RepetitionAutomaton(A),
    "(a OR b)+": make.RepetitionAutomaton(make.UnionAutomaton(A, B)),
    "(a ; b) OR (a ; b)": make.UnionAutomaton(
        make.ConcatenationAutomaton(A, B), make.ConcatenationAutomaton(A, B)
    ),
    "a ALL b": beside.Interleaving((A, B), (False, False)),
    "a+ UNLESS b": beside.UnlessAutomaton(make.RepetitionAutomaton(A), B),
}
WORDS = list(product(range(4), repeat=4))
Labels = tuple[Label, ...]


def runs(automaton: Automaton, word: Iterable[int]) -> list[tuple[Labels, State]]:
    """Every run on a word: its labels, and where it ends."""
    found: list[tuple[Labels, State]] = [((), state) for state in automaton.initial()]
    for letter in word:
        found = [
            ((*labels, move.label), move.target)
            for labels, state in found
            for move in automaton.moves(state, letter)
        ]
    return found


def accepted(automaton: Automaton, word: Iterable[int]) -> list[Labels]:
    return [labels for labels, state in runs(automaton, word) if automaton.accepts(state)]


@pytest.mark.parametrize("name", AUTOMATA)
def test_the_same_matches_are_recognised(name: str) -> None:
    automaton = AUTOMATA[name]
    for word in WORDS:
        assert set(accepted(automaton, word)) == set(accepted(Determinised(automaton), word))


@pytest.mark.parametrize("name", AUTOMATA)
def test_every_way_of_marking_events_has_one_run(name: str) -> None:
    for word in WORDS:
        labels = [labels for labels, _ in runs(Determinised(AUTOMATA[name]), word)]
        assert len(labels) == len(set(labels))


def test_moves_that_are_seen_alike_are_one() -> None:
    either = make.UnionAutomaton(A, B)
    assert len(accepted(Determinised(either), [3])) == 2
    assert accepted(Determinised(either, lambda label: label & {"c"}), [3]) == [(frozenset(),)]


SLOT, OTHER = Slot(False, 1, 0), Slot(False, 2, 0)


def test_moves_exclude_each_other_if_one_denies_what_the_other_asks() -> None:
    same, differs = Check("=", SLOT, 3), Check("differs", SLOT, 3)
    assert exclusive((same,), (differs,))
    assert not exclusive((same,), (differs._replace(slot=OTHER),))
    assert not exclusive((), (differs,))
    first = JointMove(1, (same,), (), frozenset())
    assert first.excludes(first._replace(checks=(differs,)))
    assert first.excludes(first._replace(label=2))
    assert not first.excludes(first)


def test_an_index_needs_a_column_that_all_moves_ask_a_slot_to_equal() -> None:
    moves = [(Check("=", SLOT, 3), Check("=", SLOT, 4)), (Check("=", SLOT, 4),)]
    assert index_columns(SLOT, moves) == {4}
    assert index_columns(OTHER, moves) == frozenset()
    assert index_columns(SLOT, [*moves, ()]) == frozenset()
    assert index_columns(SLOT, []) == frozenset()
