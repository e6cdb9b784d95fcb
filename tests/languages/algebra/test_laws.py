"""The laws: each on random instances under the full semantics, and as a rewrite rule."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from cereus.languages.algebra.laws import BY_NUMBER, LAWS, Binding, Law, fill, names
from cereus.languages.algebra.normal import normal_form, rebuild
from cereus.languages.algebra.rewriting import neighbours, rules
from cereus.languages.algebra.text import parse
from cereus.languages.algebra.tree import EventExpression
from cereus.reference import algebra as reference
from tests.golden import Golden, pairs
from tests.volume import volume

from .drawing import PRIMITIVES, TAUS, events, expression

INSTANCES = volume(8, 24)
FILES = Path(__file__).with_name("golden")
LEFT, RIGHT = FILES / "left_to_right.txt", FILES / "right_to_left.txt"
"""What each law makes of an expression, by its number and name."""


def instance(law: Law, draw: random.Random) -> Binding:
    """Random expressions and restrictions for the variables of a law."""
    binding: Binding = {}
    for name in sorted(names(law.left) | names(law.right)):
        drawn = expression(draw, draw.randint(1, 5))
        binding[name] = draw.choice(TAUS) if name.startswith("τ") else drawn
    if law.number == 26:
        binding["A"] = draw.choice(PRIMITIVES)
    return binding


def same_meaning(
    first: EventExpression, second: EventExpression, draw: random.Random, streams: int = 2
) -> bool:
    for _ in range(streams):
        interpretation = reference.interpret(events(draw, draw.randint(1, 5)))
        if reference.meaning(first, interpretation) != reference.meaning(second, interpretation):
            return False
    return True


def test_there_are_38() -> None:
    assert [law.number for law in LAWS] == list(range(1, 39))
    assert len({law.name for law in LAWS}) == 38


@pytest.mark.parametrize("law", LAWS, ids=lambda law: f"law-{law.number}")
def test_a_law_holds_for_the_full_semantics(law: Law) -> None:
    draw = random.Random(law.number)
    for _ in range(INSTANCES):
        binding = instance(law, draw)
        left, right = fill(law.left, binding), fill(law.right, binding)
        assert same_meaning(left, right, draw), f"{left} ≡ {right}"


@pytest.mark.parametrize("law", LAWS, ids=lambda law: f"law-{law.number}")
def test_a_law_rewrites_either_side_into_the_other(law: Law) -> None:
    draw = random.Random(law.number)
    for _ in range(INSTANCES):
        binding = instance(law, draw)
        left, right = fill(law.left, binding), fill(law.right, binding)
        assert law.forward(left) == (right if law.has_forward else None)
        assert law.backward(right) == (left if law.has_backward else None)


def test_directions_that_would_invent_something_are_not_offered() -> None:
    assert [law.number for law in LAWS if not law.has_forward] == [26]
    assert [law.number for law in LAWS if not law.has_backward] == [27, 31, 32, 33, 34, 36, 37, 38]


def heading(law: Law) -> str:
    return f"{law.number} {law.name}"


BY_HEADING = {heading(law): law for law in LAWS}


def test_left_to_right(golden: Golden) -> None:
    golden.pairs(LEFT, lambda p: str(BY_HEADING[p.heading].forward(parse(p.given))))


def test_right_to_left(golden: Golden) -> None:
    golden.pairs(RIGHT, lambda p: str(BY_HEADING[p.heading].backward(parse(p.given))))


def test_every_law_has_its_pairs() -> None:
    def headings(path: Path) -> list[str]:
        return list(dict.fromkeys(pair.heading for pair in pairs(path)))

    assert headings(LEFT) == [heading(law) for law in LAWS if law.has_forward]
    assert headings(RIGHT) == [heading(law) for law in LAWS if law.has_backward]


@pytest.mark.parametrize(
    ("number", "text"),
    [(1, "A | B"), (7, "(A ; B) + C"), (17, "(A ; B) - C_1"), (33, "(A ; B) - (B ; A)")],
)
def test_a_law_applies_only_where_its_pattern_fits(number: int, text: str) -> None:
    law = BY_NUMBER[number]
    assert (law.backward if number == 17 else law.forward)(parse(text)) is None


def test_law_26_is_for_primitives() -> None:
    assert BY_NUMBER[26].backward(parse("(A ; B)_5")) is None


def test_restrictions_of_different_length_do_not_factor() -> None:
    assert BY_NUMBER[19].backward(parse("(A ; B)_2 | (A ; C)_3")) is None


def test_every_step_inside_an_expression_keeps_its_meaning() -> None:
    draw = random.Random(40)
    for _ in range(40):
        each = expression(draw, draw.randint(1, 7))
        for step in neighbours(each, rules()):
            assert same_meaning(step.before, step.after, draw, streams=1), str(step)


# ---------------------------------------------------------------- the normal form


@pytest.mark.parametrize("law", LAWS, ids=lambda law: f"law-{law.number}")
def test_both_sides_of_a_law_have_one_normal_form(law: Law) -> None:
    draw = random.Random(law.number)
    for _ in range(INSTANCES):
        binding = instance(law, draw)
        left, right = fill(law.left, binding), fill(law.right, binding)
        assert normal_form(left)[0] == normal_form(right)[0], f"{left} ≡ {right}"


def test_a_normal_form_means_the_same() -> None:
    draw = random.Random(41)
    for _ in range(volume(30, 125)):
        each = expression(draw, draw.randint(1, 11))
        terms, _ = normal_form(each)
        assert same_meaning(each, rebuild(terms), draw)
        assert normal_form(rebuild(terms))[0] == terms


@pytest.mark.parametrize(
    ("text", "normal", "laws"),
    [
        ("A ; (B ; C)", "A ; B ; C", {6}),
        ("(B | A) ; C", "(A ; C) | (B ; C)", {2, 9}),
        ("((A - C) ; B) - C", "(A ; B) - C", {17, 18}),
        ("((A ; B)_5 ; C)_3", "(A ; B ; C)_3", {6, 24, 25}),
        ("A - (A | B)", "0", {14, 33, 34}),
        ("((A + D) ; (C + (D + B))) - D", "0", {3, 5, 12, 13, 17, 18, 31, 32, 33, 36, 37}),
        ("A - (B ; C)_3", "A - (B ; C)", {23}),
    ],
)
def test_normal_forms_and_the_laws_they_cite(text: str, normal: str, laws: set[int]) -> None:
    terms, used = normal_form(parse(text))
    assert rebuild(terms) == parse(normal)
    assert used == laws
