"""Every law holds for random programs, by the decision procedure; false ones are refuted."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from cereus import par
from cereus.languages.par.bisimilarity import bisimilar, distinguish
from cereus.languages.par.laws import LAWS, OURS, PAPER, SAME_UP_TO, Law, instantiate
from cereus.languages.par.simplify import representative
from cereus.languages.par.tree import Program, Simple, size
from cereus.reference import par as reference
from tests.golden import Golden, Pair, pairs
from tests.volume import volume

from .random_programs import OVERLAPPING, outputs, programs

bindings = st.fixed_dictionaries(
    {
        **{letter: programs(leaves=3) for letter in "xyz"},
        "a": st.sampled_from([Simple(each) for each in OVERLAPPING]),
        **dict.fromkeys("AB", outputs),
    }
)
Bound = dict[str, Program | frozenset[str]]


def assert_all_hold(laws: tuple[Law, ...], bound: Bound) -> None:
    for law in laws:
        left, right = (instantiate(side, bound) for side in law.sides)
        assert bisimilar(left, right), f"{law.equation}: {left} is not {right}"


@settings(max_examples=volume(15, 62))
@given(bindings)
def test_the_equations_of_section_6_hold(bound: Bound) -> None:
    assert len(SAME_UP_TO + PAPER) == 8
    assert_all_hold(SAME_UP_TO + PAPER, bound)


@settings(max_examples=volume(6, 25))
@given(bindings)
def test_the_laws_of_ours_hold(bound: Bound) -> None:
    assert_all_hold(OURS, bound)


FALSE = [
    "x ; y = y ; x",
    "x | silent = x",
    "(try x unless y) ; z = try x ; z unless y",
    "try x unless y = try y unless x",
    "!(x | y) = !x ; !y",
    "(x | y) ; z = x ; z | y ; z",
    "!x[A] = (!x)[A]",
    "repeat (x | y) = repeat x | repeat y",
    "(x ; y)[A] = x[A] ; y",
    "repeat !repeat x = repeat !x",
    "try silent unless x = !x",
    "!(x | y) = try !x unless y",
]


@pytest.mark.parametrize("equation", FALSE)
def test_a_false_equation_is_refuted_by_a_counterexample(equation: str) -> None:
    @settings(
        max_examples=volume(500, 1000), database=None, derandomize=True, phases=[Phase.generate]
    )
    @given(bindings)
    def on_random_instances(bound: Bound) -> None:
        left, right = (instantiate(side, bound) for side in Law("", equation).sides)
        difference = distinguish(left, right)
        if difference is not None:
            ours, theirs = (list(reference.run(side, difference.symbols)) for side in (left, right))
            assert ours[:-1] == theirs[:-1] and ours[-1] != theirs[-1], "not a counterexample"
            raise Refuted

    with pytest.raises(Refuted):
        on_random_instances()


class Refuted(Exception):
    pass


# ---------------------------------------------------------------- simplify

SIMPLIFIED = Path(__file__).with_name("golden") / "simplify.txt"
"""Under the name of each law a program that it makes smaller."""


def test_simplify_uses_every_law(golden: Golden) -> None:
    def simplified(pair: Pair) -> str:
        simple = par.simplify(pair.given)
        assert bisimilar(par.parse(pair.given), simple), pair
        return str(simple)

    golden.pairs(SIMPLIFIED, simplified)


def test_every_law_has_its_pair() -> None:
    assert [pair.heading for pair in pairs(SIMPLIFIED)] == [law.name for law in LAWS]


@settings(max_examples=volume(6, 25))
@given(programs(leaves=7), st.data())
def test_simplify_keeps_the_behaviour_whatever_laws_are_on(
    program: Program, data: st.DataObject
) -> None:
    laws = tuple(data.draw(st.lists(st.sampled_from(LAWS), unique=True)))
    for chosen in (LAWS, laws, ()):
        simple = par.simplify(program, laws=chosen, effort=300)
        assert bisimilar(program, simple)
        assert size(simple) <= size(program)


@given(programs(leaves=7))
def test_simplify_is_stable(program: Program) -> None:
    simple = par.simplify(program)
    assert size(par.simplify(simple)) == size(simple)
    assert representative(simple) == simple
