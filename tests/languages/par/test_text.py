"""PAR texts: precedence, round trips, places, and what is said about mistakes."""

from __future__ import annotations

import pytest
from hypothesis import given

from cereus import par
from cereus.errors import LimitError, QuerySyntaxError
from cereus.languages.par.tree import (
    Negation,
    Output,
    Preemption,
    Program,
    Repetition,
    Selection,
    Sequential,
)

from .random_programs import programs

a, b, c, d = (par.event(each) for each in "abcd")


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a ; b | c", Selection(Sequential(a, b), c)),
        ("a | b ; c", Selection(a, Sequential(b, c))),
        ("a ; b ; c", Sequential(a, Sequential(b, c))),
        ("a | b | c", Selection(a, Selection(b, c))),
        ("!a ; b", Sequential(Negation(a), b)),
        ("¬a", Negation(a)),
        ("!!a", Negation(Negation(a))),
        ("!a[A]", Negation(Output(a, frozenset("A")))),
        ("repeat a ; b", Sequential(Repetition(a), b)),
        ("repeat a[A]", Repetition(Output(a, frozenset("A")))),
        ("repeat !repeat a", Repetition(Negation(Repetition(a)))),
        ("a[A][B, C]", Output(Output(a, frozenset("A")), frozenset("BC"))),
        ("a[]", Output(a, frozenset())),
        ("try a ; b unless a ; c", Preemption(Sequential(a, b), Sequential(a, c))),
        ("try a | b unless c", Preemption(Selection(a, b), c)),
        ("try a unless b | c", Selection(Preemption(a, b), c)),
        ("a ; try b unless c ; d", Sequential(a, Preemption(b, Sequential(c, d)))),
        ("(try a unless b)[A]", Output(Preemption(a, b), frozenset("A"))),
        ("SILENT | Try a UNLESS b", Selection(par.silent, Preemption(a, b))),
        ("a -- what\n ; /* then */ b", Sequential(a, b)),
        ("*", par.any_event),
        ("*(v > 1)", par.event(where="v > 1")),
        ("BUY(price > 10 and volume<5)", par.event("BUY", where="price > 10 AND volume < 5")),
        ('"try"[`two words`]', Output(par.event("try"), frozenset({"two words"}))),
        ('"web.click"(repeat = 1)', par.event("web.click", where="repeat = 1")),
    ],
)
def test_reads(text: str, tree: Program) -> None:
    assert par.parse(text) == tree


@pytest.mark.parametrize(
    "text",
    [
        "repeat (a ; try b[A] unless (c ; c))",
        "(try a unless (b | c))[A]",
        "(try a unless b) | c",
        "!(a ; b) | a ; !b",
        "(a ; b) ; c",
        "(a | b) | c",
        "try a ; b unless (a ; c)",
        "try (try a unless b) unless c",
        'BUY(price > 10)[A, "too high"]',
        '"repeat" ; silent',
        "*(v > 1) | *",
    ],
)
def test_writes_the_usual_text(text: str) -> None:
    assert str(par.parse(text)) == text


@given(programs(leaves=12))
def test_reads_what_it_writes(program: Program) -> None:
    assert par.parse(str(program)) == program


def test_objects_build_the_same_programs_as_texts() -> None:
    program = par.repeat(a >> par.try_(b["A"], unless=c >> c)) | ~d["B", "C"]
    assert program == par.parse("repeat (a ; try b[A] unless (c ; c)) | !d[B, C]")
    assert par.event("BUY", where="price > 10") == par.parse("BUY(price > 10)")
    with pytest.raises(TypeError):
        iter(a)  # type: ignore[call-overload]


def test_nodes_know_their_place() -> None:
    text = "repeat (a ; try b[A] unless (c ; c))"
    spans = {str(node): node.span for node in par.parse(text).walk()}
    for written, (start, end) in ((k, v) for k, v in spans.items() if v is not None):
        assert text[start:end] == written


ERRORS = [
    (
        "repeat try a unless b",
        "expected a program (an event type, '*', '(', '!', repeat or silent), but found 'try'\n"
        "1 | repeat try a unless b\n"
        "           ^^^\n"
        "hint: put it in parentheses: repeat (try … unless …)",
    ),
    (
        "BUY[price > 10]",
        "expected ',' or ']', but found '>'\n"
        "1 | BUY[price > 10]\n"
        "              ^\n"
        "hint: […] names outputs; a condition stands in parentheses: BUY(price > 10)",
    ),
    (
        "a b",
        "expected ';' (then) or '|' (either) or the end of the text, but found 'b'\n"
        "1 | a b\n"
        "      ^\n"
        "hint: put ; (then) or | (either) between two programs",
    ),
    (
        "a* ; b",
        "expected ';' (then) or '|' (either) or the end of the text, but found '*'\n"
        "1 | a* ; b\n"
        "     ^\n"
        "hint: repeat stands before what it repeats: repeat a; to match one or the other, write |",
    ),
    (
        "try a ; b",
        "expected unless, but the text ends\n"
        "1 | try a ; b\n"
        "             ^\n"
        "hint: try x needs its unless y; without one, write x alone",
    ),
    (
        "a ;",
        "expected a program (an event type, '*', '(', '!', repeat, try or silent), "
        "but the text ends\n"
        "1 | a ;\n"
        "       ^\n"
        "hint: ; joins two programs: drop it here",
    ),
    (
        "(a ; b",
        "this '(' is never closed\n1 | (a ; b\n    ^\nhint: close it with ')'",
    ),
]


@pytest.mark.parametrize(("text", "message"), ERRORS, ids=[text for text, _ in ERRORS])
def test_says_what_is_wrong(text: str, message: str) -> None:
    with pytest.raises(QuerySyntaxError) as error:
        par.parse(text)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("a (b ; c)", "hold a condition"),
        ("a unless b", "try x unless y"),
        ("a ; [A]", "a[A], (a ; b)[A]"),
        ("a -> b", "write ;"),
        ("a, b", "write ;"),
        ("a || b", "write |"),
        ("a & b", "the operators are"),
        ("a !b", "put ; (then)"),
        ("silent (a)", "put ; (then)"),
        ("BUY(!price > 1)", "write NOT"),
        ("BUY(price >)", "compare with"),
        ("BUY(sum(b.price) > 10)", "greatest"),
        ("a ; | b", None),
        ("", None),
    ],
)
def test_hints_at_what_was_meant(text: str, hint: str | None) -> None:
    with pytest.raises(QuerySyntaxError) as error:
        par.parse(text)
    assert error.value.span is not None
    assert hint is None or hint in (error.value.hint or "")


def test_depth_is_limited_with_an_error_not_a_crash() -> None:
    assert par.machine(" ; ".join("a" * 240)).states == 241
    for text in (" ; ".join("a" * 300), "!" * 300 + "a", " | ".join("a" * 5000)):
        with pytest.raises((LimitError, QuerySyntaxError)):
            par.parse(text)
    program = a
    for _ in range(300):
        program = program | program
    with pytest.raises(LimitError):
        par.machine(program)
