"""Long and deeply nested texts: each ends in an answer or an error, soon and in little memory.

Nothing here looks at a clock. A text that takes for ever does not end, and that is the failure.
"""

from __future__ import annotations

import pyarrow as pa
import pytest

import cereus
from cereus.errors import LimitError, QuerySyntaxError, RefusedError
from cereus.syntax.parsing import MOST_TOKENS

SCHEMA = pa.schema([("type", pa.string()), ("ts", pa.timestamp("us")), ("x", pa.int64())])


def numbers(count: int, text: str, between: str) -> str:
    return between.join(text.format(i) for i in range(count))


def nested(depth: int, begin: str, inner: str, end: str) -> str:
    return begin * depth + inner + end * depth


def ceql(pattern: str) -> tuple[str, str]:
    return "ceql", f"SELECT * WHERE {pattern}"


def filtered(condition: str) -> tuple[str, str]:
    return ceql(f"A AS a FILTER a[{condition}]")


def sase(text: str) -> tuple[str, str]:
    return "sase", text


def algebra(text: str) -> tuple[str, str]:
    return "algebra", text


ANSWERED = {
    "IN of 2,000 values": filtered(f"x IN ({numbers(2_000, '{}', ', ')})"),
    "OR of 200 types": ceql(f"({numbers(200, 'T{}', ' OR ')}) ; B"),
    "200 iterations in a row": ceql(numbers(200, "T{}+", " ; ")),
    "NEXT in NEXT, 60 deep": ceql(nested(60, "NEXT(", "A ; B", ")")),
    "brackets, 5,000 deep": ceql(nested(5_000, "(", "A", ")")),
    "CASE in CASE, 60 deep": filtered(
        nested(60, "CASE WHEN x > 1 THEN ", "1", " ELSE 0 END") + " > 0"
    ),
    "AND and OR, 60 deep": filtered(nested(60, "(x > 1 AND (x < 2 OR ", "x = 1", "))")),
    "AND of 2,000 conditions": filtered(numbers(2_000, "x > {}", " AND ")),
    "SASE+, 200 conditions": sase(
        "PATTERN SEQ(A a, B b) WHERE skip_till_any_match(a, b) { "
        + numbers(200, "a.x > {}", " AND ")
        + " } WITHIN 5 seconds"
    ),
    "SASE+, UNION of 50": sase(
        numbers(50, "PATTERN SEQ(A a, B b) WITHIN 5 seconds RETURN a.x", " UNION ")
    ),
    "iterations of iterations": ceql("A" + "+" * 150),
    "OR of 3,000 conditions": filtered(numbers(3_000, "x = {}", " OR ")),
    "ALL of 20 types": ceql(numbers(20, "T{}", " ALL ")),
    "algebra, 150 in sequence": algebra(numbers(150, "T{}", " ; ")),
    "algebra, either of 150": algebra(numbers(150, "T{}", " | ")),
    "algebra, all of 150": algebra(numbers(150, "T{}", " + ")),
}

REFUSED: dict[str, tuple[tuple[str, str], type[cereus.CereusError]]] = {
    "AND of 20,000 conditions": (filtered(numbers(20_000, "x > {}", " AND ")), LimitError),
    "a megabyte of sequence": (ceql("A ; " * 250_000 + "B"), LimitError),
    "NEXT in NEXT, 250 deep": (ceql(nested(250, "NEXT(", "A ; B", ")")), QuerySyntaxError),
    "functions, 1,000 deep": (filtered(nested(1_000, "abs(", "x", ")") + " > 1"), QuerySyntaxError),
    "iterations of two kinds, 200 deep": (ceql("A" + "+:+" * 100), RefusedError),
    "a megabyte of brackets": (ceql("(" * 1_000_000), LimitError),
}


@pytest.mark.parametrize("name", ANSWERED)
def test_a_long_text_is_compiled_and_explained(name: str) -> None:
    dialect, text = ANSWERED[name]
    query = cereus.compile(text, dialect=dialect, schema=SCHEMA, stream=cereus.Stream(time="ts"))
    assert query.explain()
    events = pa.table({"type": ["A", "B", "T0"], "ts": [1, 2, 3], "x": [5, 6, 7]}, schema=SCHEMA)
    assert query.run(events) is not None


@pytest.mark.parametrize("name", REFUSED)
def test_a_text_beyond_the_limits_is_refused(name: str) -> None:
    (dialect, text), error = REFUSED[name]
    with pytest.raises(error) as refused:
        cereus.compile(text, dialect=dialect, schema=SCHEMA).explain()
    assert len(str(refused.value)) < 1_000


@pytest.mark.long
def test_parts_that_all_take_the_same_event_are_explained_and_end_at_a_limit() -> None:
    """Each of ten parts takes an event, or goes on without it."""
    query = cereus.compile("SELECT * WHERE " + " ALL ".join(["A"] * 10))
    assert query.explain()
    with pytest.raises(LimitError, match=r"one event can go on in more than 50,000 ways"):
        query.run(pa.table({"type": ["A"] * 3}))


def test_as_many_words_as_allowed_are_read() -> None:
    values = numbers(MOST_TOKENS // 2 - 20, "{}", ", ")
    assert cereus.compile(f"SELECT * WHERE A AS a FILTER a[x IN ({values})]").text


def test_an_error_shows_a_part_of_a_long_line() -> None:
    with pytest.raises(QuerySyntaxError) as refused:
        cereus.compile("SELECT * WHERE " + "A ; " * 500 + "; B" + " ; C" * 500)
    line, carets = str(refused.value).splitlines()[1:3]
    assert len(line) < 500
    assert line[carets.index("^")] == ";"
