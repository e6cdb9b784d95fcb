"""Equalities at every component split the stream as an equivalence test does."""

from __future__ import annotations

from random import Random

import pytest

import cereus
from tests.volume import volume

from .strategies import SCHEMA, STRATEGIES, Part, Writer, events
from .test_engine import block, plan_of, same_by_slots_and_states

KEYED = {
    "SEQ(A a, B b)": "b.k = a.k",
    "SEQ(A a, B b, C c)": "a.k = b.k ^ c.k = b.k",
    "SEQ(A+ a[], B b)": "a[i].k = a[i-1].k ^ b.k = a[1].k",
    "SEQ(A a, B+ b[])": "b[i].k = a.k",
    "SEQ(A a, ~B n, C c)": "c.k = a.k ^ n.k = c.k",
    "SEQ(A a, ~(B+ n[]), C c)": "c.k = a.k ^ n[i].k = a.k",
}
NOT_KEYED = {
    # under skip_till_next_match b takes what comes, and the run ends at c
    "SEQ(A a, B b, C c)": "c.k = a.k ^ c.k = b.k",
    "SEQ(A+ a[], B b)": "b.k = a[1].k",
    "SEQ(A a, B+ b[])": "b[1].k = a.k",
    "SEQ(A a, ~B n, C c)": "c.k = a.k",
    "SEQ(A a, B b)": "(b.k = a.k OR b.x = 1)",
}


def keys(pattern: str, where: str, window: str = "") -> tuple[tuple[str, ...], ...]:
    return plan_of(block(f"PATTERN {pattern} WHERE {where} {window}")).keys


@pytest.mark.parametrize("pattern", KEYED)
def test_equalities_at_all_components_are_keys(pattern: str) -> None:
    assert keys(pattern, KEYED[pattern]) == (("k",),)
    assert keys(pattern, KEYED[pattern], "WITHIN 5 EVENTS") == ()


@pytest.mark.parametrize("pattern", NOT_KEYED)
def test_others_are_not(pattern: str) -> None:
    assert keys(pattern, NOT_KEYED[pattern]) == ()


def test_contiguity_looks_at_events_of_other_keys() -> None:
    for strategy in STRATEGIES:
        found = keys("SEQ(A a, B b)", f"{strategy}(a, b) {{ b.k = a.k }}")
        assert bool(found) == strategy.startswith("skip")


def test_explain_says_that_the_stream_is_split() -> None:
    query = cereus.compile(
        "PATTERN SEQ(A a, B b) WHERE b.k = a.k",
        dialect="sase",
        stream=cereus.Stream(time="time"),
        schema=SCHEMA,
    )
    assert "k: all components are equal in it, so it splits the stream" in query.explain()


def linked(draw: Random) -> str:
    """A query whose components are compared in `k`, most of them where they are selected."""
    writer = Writer(draw)
    parts = [Part(name, draw.random() < 0.5) for name in "abc"[: draw.choice((2, 2, 3))]]
    if draw.random() < 0.4:
        parts.insert(draw.randrange(1, len(parts)), Part("n", draw.random() < 0.5, True))
    writer.parts = parts
    pattern = ", ".join(map(writer.component, parts))
    clauses = [clause for part in parts for clause in links(draw, part, parts)]
    clauses += [writer.clause(draw.choice(parts))] if draw.random() < 0.5 else []
    heads = ", ".join(part.head for part in parts if not part.negated)
    where = f"{draw.choice(STRATEGIES[1:])}({heads}) {{ {' ^ '.join(clauses)} }}"
    window = draw.choice(("", "WITHIN 4 seconds"))
    return f"PATTERN SEQ({pattern}) WHERE {where} {window}"


def links(draw: Random, part: Part, parts: list[Part]) -> list[str]:
    name = part.variable
    within = [f"{name}[i].k = {name}[{draw.choice(('1', 'i-1'))}].k"] if part.kleene else []
    earlier = [each for each in parts[: parts.index(part)] if not each.negated]
    if not earlier:
        return within
    other = draw.choice(earlier)
    at = draw.choice(("[1]", f"[{other.variable}.LEN]")) if other.kleene else ""
    here = draw.choice(("[i]", "[i]", "[1]")) if part.kleene else ""
    return [f"{name}{here}.k = {other.variable}{at}.k", *(within if here != "[i]" else [])]


def test_random_queries_with_implied_keys_equal_the_reference() -> None:
    keyed = found = 0
    number = volume(15, 187)
    for seed in range(number):
        draw = Random(seed)
        text = linked(draw)
        keyed += bool(plan_of(block(text)).keys)
        found += same_by_slots_and_states(text, events(draw))
    assert keyed > number // 3
    assert found > number // 4
