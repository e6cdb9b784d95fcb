"""Long and deeply nested texts: each ends in an answer or an error, soon and in little memory.

Nothing here looks at a clock. A text that takes for ever does not end, and that is the failure.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import cereus
from cereus.errors import LimitError, QuerySyntaxError, RefusedError
from cereus.syntax.parsing import MOST_TOKENS
from tests.volume import volume

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
    "iterations of iterations": (ceql("A" + "+" * 150), RefusedError),
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


# ---------------------------------------------------------------- while a query runs

EVENTS = volume(10_000, 500_000)
LONG_RUNS = {
    "values that are compared": ceql("A AS a ; B AS b FILTER a.x + b.x = 7"),
    "values in order": ceql("A AS a ; B AS b ; B AS c FILTER a.x < b.x AND b.x < c.x"),
    "SREMO registers": ("sremo", "{A:} -> r . SKIP* . {B: x > r.x}"),
    "SASE+ without a window": sase(
        "PATTERN SEQ(A a, B b) WHERE skip_till_any_match(a, b) { a.x < b.x }"
    ),
    "rows that look back": (
        "match_recognize",
        "MATCH_RECOGNIZE (ORDER BY ts MEASURES count(a.x) AS n PATTERN (a+ c) "
        "DEFINE a AS max(CLASSIFIER()) >= 'A', c AS x < 0)",
    ),
}


def stream(rows: int, kinds: str = "AB", per_second: int = 1) -> pa.Table:
    """Each x once, so that no two remembered values are one."""
    return pa.table(
        {
            "type": [kinds[i % len(kinds)] for i in range(rows)],
            "ts": pa.array(np.arange(rows) * (1_000_000 // per_second), pa.timestamp("us")),
            "x": np.arange(rows),
        },
        schema=SCHEMA,
    )


@pytest.mark.parametrize("name", LONG_RUNS)
def test_a_limit_on_steps_ends_a_run(name: str) -> None:
    """Where the work for an event grows with the stream."""
    dialect, text = LONG_RUNS[name]
    limits = cereus.Limits(steps_per_event=100)
    query = cereus.compile(text, dialect=dialect, limits=limits, stream=cereus.Stream(time="ts"))
    with pytest.raises(LimitError, match="100"):
        query.run(stream(1_000))


def test_languages_whose_steps_are_known_check_them_before_the_run() -> None:
    few = cereus.Limits(steps_per_event=3)
    with pytest.raises(LimitError, match=r"an event may take \d+ steps, more than 3"):
        cereus.compile("A ; B ; C", dialect="algebra", limits=few)
    machine = cereus.compile("repeat (A[X] ; B[Y])", dialect="par", limits=few)
    assert machine.run(stream(1_000)).costs.steps == 1_000


def test_more_matches_than_there_are_atoms_are_counted() -> None:
    """A+ of 700 events: every set of them but the empty one."""
    assert cereus.compile("SELECT * WHERE A+").count(stream(700, "A")) == 2.0**700


def test_one_key_with_all_events() -> None:
    """Costs what the stream costs without keys."""
    table = stream(EVENTS).append_column("k", pa.array([7] * EVENTS))
    text = "SELECT * WHERE A ; B{} WITHIN 3 seconds"
    keyed, plain = (
        cereus.compile(text.format(keys), stream=cereus.Stream(time="ts")).run(table)
        for keys in (" PARTITION BY k", "")
    )
    assert len(keyed) == len(plain) == EVENTS - 1
    assert keyed.costs.nodes <= 1.1 * plain.costs.nodes + 100
    assert keyed.costs.steps <= 1.1 * plain.costs.steps + 100


def test_as_many_keys_as_events() -> None:
    """Each is forgotten when its window has passed."""
    table = stream(EVENTS, per_second=1_000).append_column("k", pa.array(np.arange(EVENTS) // 2))
    text = "SELECT * WHERE A ; B PARTITION BY k WITHIN 3 seconds"
    recognizer = cereus.compile(text, stream=cereus.Stream(time="ts")).recognizer()
    found = sum(len(recognizer.push(batch)) for batch in table.to_batches(max_chunksize=10_000))
    assert found == EVENTS // 2
    assert recognizer.costs.steps <= 6 * EVENTS


def test_two_hundred_tests_of_an_event() -> None:
    tests = " OR ".join(f"(A AS a{i} FILTER a{i}[x % 211 = {i}])" for i in range(200))
    found = cereus.compile(f"SELECT * WHERE {tests}").run(stream(211, "A"))
    assert len(found) == 200
    assert found.costs.tests <= 200 * 211


@pytest.mark.long
def test_all_of_twenty_types_end_at_a_limit() -> None:
    """Any of the types that have come may be part of a partial match, or not."""
    kinds = [f"T{i}" for i in range(20)]
    query = cereus.compile(f"SELECT * WHERE {' ALL '.join(kinds)}")
    with pytest.raises(LimitError, match="ways"):
        query.run(pa.table({"type": kinds}))


@pytest.mark.long
def test_fourteen_choices_side_by_side_are_too_many_states() -> None:
    choices = " | ".join(f"(A{i} ; B{i}[X{i}])" for i in range(14))
    with pytest.raises(LimitError, match="states"):
        cereus.compile(f"repeat ({choices})", dialect="par").run(pa.table({"type": ["A0"]}))


def test_the_next_event_without_a_window() -> None:
    """SASE+, skip till next match: one run of each A, which the next B ends."""
    text = "PATTERN SEQ(A a, B b) WHERE skip_till_next_match(a, b) { }"
    found = cereus.compile(text, dialect="sase", stream=cereus.Stream(time="ts")).run(
        stream(EVENTS)
    )
    assert len(found) == EVENTS // 2
    assert found.costs.steps <= 6 * EVENTS


def test_counts_in_a_window_of_an_hour() -> None:
    """At a B with n As in the hour before, A+ ; B has 2**n - 1 matches."""
    table = stream(EVENTS, "AAAAB" + 15 * "C")
    text = "SELECT COUNT(*) WHERE A+ ; B WITHIN 3600 seconds"
    found = cereus.compile(text, stream=cereus.Stream(time="ts")).run(table)
    rounds = np.minimum(np.arange(1, EVENTS // 20 + 1), 3600 // 20)
    counts = found.table.column("count").to_numpy()
    early = counts[: 3600 // 20]
    assert (early == 2.0 ** (4 * rounds[: len(early)]) - 1).all()
    assert found.costs.steps <= 6 * EVENTS
