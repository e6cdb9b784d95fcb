"""Every law holds for random programs, by the decision procedure; false ones are refuted."""

from __future__ import annotations

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from cereus import par
from cereus.languages.par.bisimilarity import bisimilar, distinguish
from cereus.languages.par.laws import LAWS, OURS, PAPER, SAME_UP_TO, Law, instantiate
from cereus.languages.par.simplify import representative
from cereus.languages.par.tree import Program, Simple, size
from cereus.reference import par as reference

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


@settings(max_examples=500)
@given(bindings)
def test_the_equations_of_section_6_hold(bound: Bound) -> None:
    assert len(SAME_UP_TO + PAPER) == 8
    assert_all_hold(SAME_UP_TO + PAPER, bound)


@settings(max_examples=200)
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
    @settings(max_examples=500, database=None, derandomize=True, phases=[Phase.generate])
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

PAIRS = [
    ("double negation", "!!a", "a"),
    ("negated sequence", "!a | a ; !b", "!(a ; b)"),
    ("sequence into try", "try a ; b unless (a ; c)", "a ; try b unless c"),
    ("repeat unfolds", "a ; b[A] ; repeat (a ; b[A])", "repeat (a ; b[A])"),
    ("sequence into selection", "(a ; b) | (a ; c)", "a ; (b | c)"),
    ("on failure", "a ; b | !(a ; b) ; c", "!(!(a ; b) ; !c)"),
    ("already succeeded", "a | a ; b", "a"),
    ("one attempt is enough", "a | (try b unless a)", "a | b"),
    ("repeat never succeeds", "(repeat !a) ; b", "repeat !a"),
    ("repeat has no output of its own", "(repeat !a)[A]", "repeat !a"),
    ("repeat of repeat", "repeat repeat !a", "repeat !a"),
    ("repeat that ends in repeat", "repeat (!a ; repeat !b)", "!a ; repeat !b"),
    ("repeat of a double", "repeat (!a ; b ; !a ; b)", "repeat (!a ; b)"),
    ("repeat rotates", "!a ; repeat (b ; !a)", "repeat (!a ; b)"),
    ("repeat that ends in silence", "repeat (!a ; silent)", "!a ; silent"),
    ("repeat of an atom", "repeat a(v > 1)", "silent"),
    ("atom before silence", "a ; silent", "silent"),
    ("repeat of silence", "repeat silent", "silent"),
    ("nothing after silence", "!a ; silent ; b", "!a ; silent"),
    ("negated silence", "!silent", "silent"),
    ("output of silence", "silent[A]", "silent"),
    ("empty output", "a[]", "a"),
    ("output of output", "a[A][B]", "a[A, B]"),
    ("output of selection", "a[A] | b[A]", "(a | b)[A]"),
    ("output of sequence", "(a ; b)[A] | a ; c[A]", "a ; (b | c)[A]"),
    ("output of try", "(try a[A] unless c) | (try b unless c)[A]", "(try a | b unless c)[A]"),
    ("output already there", "a[A] | a", "a[A]"),
    ("unless silence", "try a unless silent", "a"),
    ("unless itself", "try a ; b unless (a ; b)", "a ; b"),
    ("unless its output", "try a unless a[A]", "a[A]"),
    ("with output unless itself", "try a[A] unless a", "a[A]"),
    ("unless its failure", "try a ; !b unless !(a ; !b)", "a ; !b"),
    ("unless it went on", "try a unless (a ; b)", "a"),
    ("unless its failure went on", "try a unless (!a ; b)", "a"),
    ("unless itself or", "try a unless (a | b)", "try a unless b"),
    ("unless tried first", "try a unless (try b unless a)", "try a unless b"),
    ("try of try", "try (try a unless b) unless b", "try a unless b"),
    ("try of selection", "(try a unless c) | (try b unless c)", "try a | b unless c"),
]


@pytest.mark.parametrize(("name", "before", "after"), PAIRS, ids=[pair[0] for pair in PAIRS])
def test_simplify_uses(name: str, before: str, after: str) -> None:
    assert str(par.simplify(before)) == after
    assert bisimilar(par.parse(before), par.parse(after))


def test_every_law_has_its_pair() -> None:
    assert [pair[0] for pair in PAIRS] == [law.name for law in LAWS]


@settings(max_examples=100)
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
