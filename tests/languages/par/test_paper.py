"""The worked examples of the paper, and each rule of Figures 3–5."""

from __future__ import annotations

import pytest

from cereus import par
from cereus.languages.par.machine.alphabet import Symbol
from cereus.languages.par.tree import Completion
from cereus.reference import par as reference

from .random_programs import atom

TOP, IOTA, BOTTOM = Completion.SUCCESS, Completion.INCOMPLETE, Completion.FAILURE


def word(events: str) -> list[Symbol]:
    return [frozenset({atom(each), atom("*")}) for each in events]


def shown(program: str, events: str) -> str:
    """Outputs and completions along an input of types, `.` for neither; the reference and the
    minimal machine agree on them."""
    observed = [tuple(each) for each in reference.run(par.parse(program), word(events))]
    assert [tuple(each) for each in par.run(par.machine(program), events)] == observed
    return " ".join(
        "".join(sorted(output)) + {TOP: "⊤", IOTA: "", BOTTOM: "⊥"}[completion] or "."
        for output, completion in observed
    )


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ("a", "A⊤"),
        ("dda", ". . A⊤"),
        ("ba", "⊥ ."),
        ("dca", ". ⊥ ."),
        ("aa", "A⊤ ."),
    ],
)
def test_example_1_waits_for_a_without_b_or_c(events: str, expected: str) -> None:
    assert shown("(try a unless (b | c))[A]", events) == expected


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ("ab", ". A"),
        ("aaab", ". . . A"),  # subsequent occurrences of a are ignored
        ("bab", ". . A"),
        ("acb", ". . A"),  # one c is not two
        ("accb", ". . ⊥ ."),  # two c: the program stops
        ("abcab", ". A . . A"),  # it restarts
        ("abcacb", ". A . . . A"),  # and the count of c with it
    ],
)
def test_example_2_notifies_and_restarts(events: str, expected: str) -> None:
    assert shown("repeat (a ; try b[A] unless (c ; c))", events) == expected


FIGURE_1 = par.draw(
    ("q0", "a", "q1"),
    ("q1", "a", "q0", "A"),
    ("q1", "b", "s", (), BOTTOM),
)


def test_example_3_the_run_of_figure_1() -> None:
    observed = par.run(FIGURE_1, "caccabbcbcab")
    assert [set(each.output) for each in observed] == [
        {"A"} if position == 4 else set() for position in range(12)
    ]
    assert [each.completion for each in observed] == [IOTA] * 11 + [BOTTOM]
    state, visited = 0, []
    for symbol in word("caccabbcbcab"):
        _, _, state = FIGURE_1.step(state, symbol & set(FIGURE_1.atoms))
        visited.append(FIGURE_1.labels[state])
    assert visited == ["q0", "q1", "q1", "q1", "q0", "q0", "q0", "q0", "q0", "q0", "q1", "s"]


def test_example_5_derivatives_of_behaviours() -> None:
    program = par.parse("repeat (a ; try a[A] unless b)")
    state: par.Program = program
    for symbol in word("aaa"):
        state = reference.derivative(state, symbol)
    assert par.equivalent(
        state, par.draw(("q1", "a", "q0", "A"), ("q1", "b", "s", (), BOTTOM), ("q0", "a", "q1"))
    )


def test_example_6_is_the_machine_of_figure_1() -> None:
    text = "repeat (a ; try a[A] unless b)"
    assert par.equivalent(text, FIGURE_1)
    assert par.machine(text) == FIGURE_1
    assert shown(text, "caccabbcbcab") == ". . . . A . . . . . . ⊥"


def test_the_unless_that_succeeds_together_with_its_try_does_not_preempt() -> None:
    assert shown("try a unless a", "a") == "⊤"
    assert shown("try a[A] unless *[B]", "a") == "AB⊤"
    assert shown("try a[A] unless *[B]", "b") == "B⊥"


RULES = [
    # rule, program, event, α, o, ∂
    ("αEv₁ Silent oEv", "a", "a", TOP, "", "silent"),
    ("αEv₂ Ev oEv", "a", "b", IOTA, "", "a"),
    ("αSilent ∂Silent oSilent", "silent", "a", IOTA, "", "silent"),
    ("αSeq Seq₁ oSeq", "a ; b", "b", IOTA, "", "a ; b"),
    ("αSeq Seq₂ oSeq", "a[A] ; b", "a", IOTA, "A", "b"),
    ("αSeq Silent", "!a ; b", "a", BOTTOM, "", "silent"),
    ("αSel Sel₁ oSel", "a | b ; c", "b", IOTA, "", "a | c"),
    ("αSel Sel₂", "!b | c", "b", IOTA, "", "c"),
    ("αSel Sel₃", "c | !b", "b", IOTA, "", "c"),
    ("αSel Silent, success wins", "a[A] | !a", "a", TOP, "A", "silent"),
    ("αSel Silent, both fail", "!a | !a", "a", BOTTOM, "", "silent"),
    ("αSel oSel", "a[A] | a[B]", "a", TOP, "AB", "silent"),
    ("αRep Rep₁ oRep", "repeat (a[A] ; b)", "a", IOTA, "A", "b ; repeat (a[A] ; b)"),
    ("αRep Rep₂", "repeat a[A]", "a", IOTA, "A", "repeat a[A]"),
    ("αRep Silent", "repeat !a", "a", BOTTOM, "", "silent"),
    ("αPush oPush₁", "a[A][B]", "a", TOP, "AB", "silent"),
    ("αPush Push oPush₂", "(a ; b)[A]", "a", IOTA, "", "b[A]"),
    ("αPush oPush₂ on failure", "(!a)[A]", "a", BOTTOM, "", "silent"),
    ("αNeg oNeg", "!a[A]", "a", BOTTOM, "A", "silent"),
    ("αNeg Neg", "!(a ; b)", "a", IOTA, "", "!b"),
    ("αTry₁ oTry, success", "try a[A] unless b", "a", TOP, "A", "silent"),
    ("αTry₁, failure", "try !a unless b", "a", BOTTOM, "", "silent"),
    ("αTry₂ Silent oTry", "try a unless b[B]", "b", BOTTOM, "B", "silent"),
    ("αTry₂ Try₁", "try a ; b unless a ; c", "a", IOTA, "", "try b unless c"),
    ("αTry₂ Try₂", "try a unless !b", "b", IOTA, "", "a"),
]


@pytest.mark.parametrize(
    ("program", "event", "completion", "output", "derivative"),
    [rule[1:] for rule in RULES],
    ids=[rule[0] for rule in RULES],
)
def test_rule(
    program: str, event: str, completion: Completion, output: str, derivative: str
) -> None:
    x, (a,) = par.parse(program), word(event)
    assert reference.alpha(x, a) is completion
    assert reference.output(x, a) == set(output)
    assert reference.derivative(x, a) == par.parse(derivative)


def test_silent_is_definable_against_the_claim_of_minimality_in_section_7() -> None:
    assert par.equivalent("repeat a", "silent")
