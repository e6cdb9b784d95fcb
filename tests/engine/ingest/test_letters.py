"""Letters against the conditions themselves, asked row by row."""

from __future__ import annotations

from random import Random

import pyarrow as pa
import pytest

from cereus.engine.ingest.letters import WORD, Letters
from cereus.expr.text import parse_condition
from cereus.plan.tests import EventTest, conditions_of
from cereus.reference.conditions import holds
from cereus.stream import Stream

STREAM = Stream(type="type", stream="src")

TYPES = ["A", "B", "größe", "a name longer than eight bytes", ""]
CONDITIONS = [
    "s = 'u'", "s != 'u'", "s IN ('u', 'w')", "s NOT IN ('u', 'w')", "NOT s = 'v'",
    "s = 'u' OR s = 'v'", "s = 'u' AND s != 'v'", "s IS NULL", "s LIKE 'u%'",
    "x > 1", "x <= 0", "x IS NULL", "NOT x = 2", "x > 0 OR s = 'u'", "d = 'one'",
    "d != 'one' AND s = 'u'", "n.s = 'deep'", "n.s != 'deep'", "s = d",
]  # fmt: skip
SCHEMA = pa.schema(
    {
        "type": pa.string(),
        "src": pa.large_string(),
        "s": pa.string(),
        "d": pa.dictionary(pa.int8(), pa.string()),
        "x": pa.int64(),
        "n": pa.struct({"s": pa.string()}),
    }
)


def batch(draw: Random, size: int) -> pa.RecordBatch:
    rows = [
        {
            "type": draw.choice([*TYPES, "other", None]),
            "src": draw.choice(["S1", "S2", None]),
            "s": draw.choice(["u", "v", "w", "", None]),
            "d": draw.choice(["one", "u", None]),
            "x": draw.choice([0, 1, 2, None]),
            "n": draw.choice([{"s": "deep"}, {"s": None}, None]),
        }
        for _ in range(size)
    ]
    return pa.RecordBatch.from_pylist(rows, SCHEMA).slice(1)


def drawn_tests(draw: Random, number: int) -> list[EventTest]:
    return [
        EventTest(
            draw.choice([None, *TYPES]),
            draw.choice([None, None, "S1", "S2"]),
            tuple(parse_condition(c) for c in draw.sample(CONDITIONS, draw.randint(0, 2))),
            negated=draw.randrange(4) == 0,
        )
        for _ in range(number)
    ]


def expected(tests: list[EventTest], events: pa.RecordBatch) -> list[int]:
    letters = []
    for event in events.to_pylist():
        letter = 0
        for bit, test in enumerate(tests):
            conditions = conditions_of(test, STREAM)
            passed = all(holds(condition, event) for condition in conditions)
            letter |= int(passed != test.negated) << bit
        letters.append(letter)
    return letters


@pytest.mark.parametrize("number", [1, 5, WORD - 1, WORD, WORD + 1, 2 * WORD + 9])
@pytest.mark.parametrize("seed", range(4))
def test_letters_are_what_the_conditions_say(number: int, seed: int) -> None:
    draw = Random(1000 * number + seed)
    tests = drawn_tests(draw, number)
    letters = Letters(tests, STREAM, SCHEMA)
    known: dict[int, int] = {}
    for size in (1, 2, 60):
        events = batch(draw, size)
        every = expected(tests, events)
        rows, classes = letters.classify(events, known)
        of_class = {number: letter for letter, number in known.items()}
        assert rows.tolist() == [row for row, letter in enumerate(every) if letter]
        assert [of_class[c] for c in classes.tolist()] == [every[row] for row in rows]
        rows, classes = letters.classify(events, known, keep_all=True)
        of_class = {number: letter for letter, number in known.items()}
        assert [of_class[c] for c in classes.tolist()] == every


def test_a_stream_without_a_type_column_has_events_of_type_event() -> None:
    tests = [EventTest("EVENT"), EventTest("A"), EventTest(None)]
    letters = Letters(tests, Stream(type=None), SCHEMA)
    known: dict[int, int] = {}
    rows, _ = letters.classify(batch(Random(1), 5), known)
    assert len(rows) == 4
    assert list(known) == [0b101]


def test_many_constants_are_too_many_for_a_table_and_still_right() -> None:
    draw = Random(3)
    tests = [
        EventTest(None, None, (parse_condition(f"{column} = '{word}'"),))
        for column in ("s", "d", "src")
        for word in ["u", "one", "S1", *(f"w{i}" for i in range(60))]
    ]
    letters = Letters(tests, STREAM, SCHEMA)
    events = batch(draw, 30)
    known: dict[int, int] = {}
    _, classes = letters.classify(events, known, keep_all=True)
    of_class = {number: letter for letter, number in known.items()}
    assert [of_class[c] for c in classes.tolist()] == expected(tests, events)
