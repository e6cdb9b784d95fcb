"""Deciding: bisimilar, output equivalent, or different with a shortest input that shows it."""

from __future__ import annotations

from itertools import product

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from cereus import par
from cereus.languages.par.bisimilarity import bisimilar, distinguish, output_equivalent
from cereus.languages.par.machine.alphabet import Symbol, occurrences
from cereus.languages.par.tree import (
    Negation,
    Output,
    Preemption,
    Program,
    Repetition,
    Selection,
    Sequential,
    atoms,
)
from cereus.reference import par as reference
from tests.volume import volume

from .random_programs import programs


def test_silent_and_an_atom_are_output_equivalent_but_not_bisimilar() -> None:
    verdict = par.equivalent("silent", "a")
    assert verdict.output_equivalent and not verdict.bisimilar and not verdict
    assert str(verdict) == (
        "output equivalent, not bisimilar: same outputs on every input, "
        "but they complete differently\n"
        "event  first  second\n"
        "a      –      ⊤"
    )


def test_with_an_output_silent_and_an_atom_are_different() -> None:
    verdict = par.equivalent("silent[A]", "a[A]")
    assert not verdict.output_equivalent
    assert str(verdict) == (
        "different: their outputs differ\nevent  first  second\na      –      A ⊤"
    )


def test_the_shortest_input_is_shown_event_by_event() -> None:
    verdict = par.equivalent("BUY(price > 10) ; SELL[A]", "BUY(price > 10) ; SELL(volume > 5)[A]")
    assert str(verdict) == (
        "different: their outputs differ\n"
        "event                      first  second\n"
        "BUY where price > 10       –      –\n"
        "SELL where NOT volume > 5  A ⊤    –"
    )


def test_bisimilar_programs_say_so() -> None:
    verdict = par.equivalent("!(a ; b)", "!a | a ; !b")
    assert verdict and verdict.difference is None
    assert str(verdict) == "bisimilar: same outputs and same completion on every input"


def shows(program: Program, word: tuple[Symbol, ...], outputs_only: bool) -> list[object]:
    observed = list(reference.run(program, word))
    return [each.output for each in observed] if outputs_only else list(observed)


@settings(max_examples=volume(23, 75))
@given(programs(leaves=4), programs(leaves=4), st.booleans())
def test_a_difference_is_real_and_shortest(
    left: Program, right: Program, outputs_only: bool
) -> None:
    found = distinguish(left, right, outputs_only=outputs_only)
    alphabet = [symbol for _, symbol in occurrences(atoms(left, right))]
    if found is not None:
        for side, seen in ((left, found.left), (right, found.right)):
            assert list(map(tuple, reference.run(side, found.symbols))) == list(map(tuple, seen))
        ours, theirs = (shows(side, found.symbols, outputs_only) for side in (left, right))
        assert ours[:-1] == theirs[:-1] and ours[-1] != theirs[-1]
    shorter = min(3, len(found.symbols) - 1) if found is not None else 3
    assume(len(alphabet) ** shorter <= 2000)
    for length in range(1, shorter + 1):
        for word in product(alphabet, repeat=length):
            assert shows(left, word, outputs_only) == shows(right, word, outputs_only)


def contexts(hole: Program, other: Program) -> list[Program]:
    """Every operator around a program (§5)."""
    return [
        Negation(hole),
        Repetition(hole),
        Output(hole, frozenset("C")),
        Selection(hole, other),
        Sequential(hole, other),
        Sequential(other, hole),
        Preemption(hole, other),
        Preemption(other, hole),
    ]


@settings(max_examples=volume(23, 75))
@given(programs(leaves=5), programs(leaves=4))
def test_theorem_4_1_bisimilarity_is_a_congruence(program: Program, other: Program) -> None:
    same = par.simplify(program, effort=100)  # bisimilar, and most often written differently
    assert bisimilar(program, same)
    for ours, theirs in zip(contexts(program, other), contexts(same, other), strict=True):
        assert bisimilar(ours, theirs)


@given(programs(leaves=4), programs(leaves=4))
def test_theorem_4_2_contexts_tell_apart_what_is_not_bisimilar(
    left: Program, right: Program
) -> None:
    assume(not bisimilar(left, right))
    then = par.parse("*[C]")  # an output that neither program has
    distinguished = (
        not output_equivalent(left, right)
        or not output_equivalent(left >> then, right >> then)
        or not output_equivalent(~left >> then, ~right >> then)
    )
    assert distinguished


def test_output_equivalence_is_no_congruence() -> None:
    left, right = par.silent, par.event("a")
    assert output_equivalent(left, right)
    assert not output_equivalent(left["A"], right["A"])
