"""The optimiser lowers bounds and keeps (start, end) pairs."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from cereus.languages.algebra import optimise as optimise_module
from cereus.languages.algebra.detect import run
from cereus.languages.algebra.detect.program import build
from cereus.languages.algebra.laws import LAWS
from cereus.languages.algebra.optimise import optimise
from cereus.languages.algebra.rewriting import DirectedLaw, RewriteStep
from cereus.languages.algebra.text import parse
from cereus.languages.algebra.tree import EventExpression, size
from cereus.reference import algebra as reference
from tests.golden import Golden, Pair
from tests.volume import volume

from .drawing import Events, events, expression, ticks


def test_what_it_finds(golden: Golden) -> None:
    def better(pair: Pair) -> str:
        found = optimise(parse(pair.given))
        assert found.laws
        return str(found.after)

    golden.pairs(Path(__file__).with_name("golden") / "optimise.txt", better)


def test_expressions_that_are_known_already_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """90 restrictions inside each other lead to the same expressions in many ways."""
    looked_at, rewritten = 0, optimise_module.neighbours

    def counted(current: EventExpression, chosen: tuple[DirectedLaw, ...]) -> Iterator[RewriteStep]:
        nonlocal looked_at
        for step in rewritten(current, chosen):
            looked_at += size(current)
            yield step

    monkeypatch.setattr(optimise_module, "neighbours", counted)
    optimise(parse("(" * 90 + "A ; B" + ")_9" * 90))
    assert looked_at <= optimise_module.MOST_LOOKED_AT + 1_000


def test_what_cannot_be_better_stays() -> None:
    found = optimise(parse("(B ; B)_2 - (P | T)"))
    assert found.after == found.before
    assert found.laws == ()
    assert "no law lowers these bounds" in str(found)


@pytest.mark.parametrize("values", [False, True], ids=["simple", "values"])
def test_bounds_are_never_worse_and_pairs_stay_the_same(values: bool) -> None:
    draw = random.Random(30 + values)
    improved = 0
    for _ in range(volume(15, 80)):
        each = expression(draw, draw.randint(3, 15))
        found = optimise(each, values=values, patience=2)
        before, after = found.bounds_before, found.bounds_after
        assert after.memory <= before.memory
        assert after.steps <= before.steps
        assert after.state_bytes <= before.state_bytes
        improved += after.memory < before.memory
        for _ in range(3):
            stream = events(draw, draw.randint(1, 10))
            assert pairs(found.before, stream, values) == pairs(found.after, stream, values)
    assert improved > volume(15, 80) // 5


def pairs(each: EventExpression, stream: Events, values: bool) -> list[tuple[int, int]]:
    program = build(each, values=values)
    return run.detect(program, ticks(program, stream)).pairs()


def test_the_steps_lead_from_before_to_after_by_equivalences() -> None:
    draw = random.Random(33)
    for _ in range(volume(8, 40)):
        found = optimise(expression(draw, draw.randint(3, 9)), patience=2)
        at = found.before
        for step in found.steps:
            assert step.before == at
            interpretation = reference.interpret(events(draw, 4))
            assert reference.meaning(step.before, interpretation) == reference.meaning(
                step.after, interpretation
            ), str(step)
            at = step.after
        assert at == found.after


def test_a_law_can_be_switched_off() -> None:
    text = "A ; (B ; C)"
    without = tuple(law for law in LAWS if law.number != 6)
    assert optimise(parse(text), laws=without).after == parse(text)
    assert optimise(parse(text), laws=()).after == parse(text)


def test_what_it_says() -> None:
    assert str(optimise(parse("A ; (B ; C)"))).splitlines() == [
        "A ; (B ; C)",
        "  5 subexpressions: 24 memory units, at most 44 steps a tick, 56 bytes of state per key",
        "A ; B ; C",
        "  5 subexpressions: 19 memory units, at most 33 steps a tick, 16 bytes of state per key",
        "  by law 6",
    ]
