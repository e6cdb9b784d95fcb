"""Long and deeply nested texts: each ends in an answer or an error, soon and in little memory.

Nothing here looks at a clock. A text that takes for ever does not end, and that is the failure.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import cereus
from cereus.errors import (
    ConditionTypeError,
    LimitError,
    QuerySyntaxError,
    RefusedError,
    UnknownNameError,
)
from cereus.report import report
from cereus.syntax.parsing import MOST_TOKENS
from tests.adversaries import TEXTS, ceql, numbers, sase
from tests.safety import surfaces
from tests.safety.texts.families import hostile

SCHEMA = pa.schema([("type", pa.string()), ("ts", pa.timestamp("us")), ("x", pa.int64())])


ANSWER = "an answer"
OUTCOMES: dict[str, str | type[cereus.CereusError]] = {
    "IN of 2,000 values": ANSWER,
    "OR of 200 types": ANSWER,
    "OR of 2,000 types": ANSWER,
    "200 iterations in a row": ANSWER,
    "2,000 in a row": QuerySyntaxError,
    "NEXT in NEXT, 60 deep": ANSWER,
    "NEXT in NEXT, 250 deep": QuerySyntaxError,
    "MAX in MAX, 40 deep": ANSWER,
    "PROJECT in PROJECT, 100 deep": ANSWER,
    "START in START, 100 deep": ANSWER,
    "UNLESS in UNLESS, 60 deep": RefusedError,
    "brackets, 5,000 deep": ANSWER,
    "iterations, 60 deep": RefusedError,
    "CASE in CASE, 60 deep": ANSWER,
    "coalesce, 100 deep": ANSWER,
    "functions, 100 deep": ANSWER,
    "functions, 1,000 deep": QuerySyntaxError,
    "AND and OR, 60 deep": ANSWER,
    "NOT, 1,000 times": QuerySyntaxError,
    "minus, 10,000 times": QuerySyntaxError,
    "a sum of 5,000": QuerySyntaxError,
    "AND of 2,000 conditions": ANSWER,
    "AND of 20,000 conditions": LimitError,
    "OR of 3,000 conditions": ANSWER,
    "1,000 tests": ANSWER,
    "ALL of 30 choices": LimitError,
    "ALL of 20 types": ANSWER,
    "AND of 60 types": ANSWER,
    "counted, 100,000 times": RefusedError,
    "counted in counted": RefusedError,
    "1,000 keys": UnknownNameError,
    "iterations of iterations": RefusedError,
    "iterations of two kinds, 200 deep": RefusedError,
    "a megabyte of sequence": LimitError,
    "a megabyte of brackets": LimitError,
    "a megabyte of one name": ANSWER,
    "a megabyte of one string": ANSWER,
    "a megabyte of one number": QuerySyntaxError,
    "a megabyte of blanks": ANSWER,
    "a megabyte of a comment": ANSWER,
    "a megabyte of quotes": QuerySyntaxError,
    "a megabyte of backslashes": ANSWER,
    "a megabyte of zeros": QuerySyntaxError,
    "a megabyte of signs": QuerySyntaxError,
    "REGEXP of many counts": ConditionTypeError,
    "regexp_extract of 5,000 groups": ANSWER,
    "regexp_extract of a class that is not closed": ConditionTypeError,
    "a megabyte of WITHIN": LimitError,
    "SREMO, 200 conditions": ANSWER,
    "SREMO, 2,000 in a row": QuerySyntaxError,
    "SREMO, stars, 60 deep": ANSWER,
    "SREMO, either of 500": QuerySyntaxError,
    "SREMO, 100 registers": ANSWER,
    "SREMO, any of any, 100 deep": ANSWER,
    "SREMO, + behind +, 90 times": ANSWER,
    "SREMO, 40 stars side by side": LimitError,
    "SREMO, next in next, 30 deep": LimitError,
    "SREMO, next of iterations, 30 deep": LimitError,
    "SREMO, any of iterations, 30 deep": LimitError,
    "SREMO, a megabyte": LimitError,
    "SASE+, 200 conditions": ANSWER,
    "SASE+, 1,000 conditions": ANSWER,
    "SASE+, UNION of 50": ANSWER,
    "SASE+, UNION of 2,000": LimitError,
    "SASE+, 500 in a row": ANSWER,
    "SASE+, 60 negations": ANSWER,
    "SASE+, 40 iterations": ANSWER,
    "SASE+, a megabyte": LimitError,
    "PAR, 2,000 in a row": QuerySyntaxError,
    "PAR, repeat, 200 deep": LimitError,
    "PAR, try, 60 deep": ANSWER,
    "PAR, 90 rows side by side": LimitError,
    "PAR, brackets, 5,000 deep": ANSWER,
    "PAR, a megabyte": LimitError,
    "algebra, 150 in sequence": ANSWER,
    "algebra, either of 150": ANSWER,
    "algebra, all of 150": ANSWER,
    "algebra, sequences to the right, 150 deep": ANSWER,
    "algebra, mixed, 150 deep": ANSWER,
    "algebra, 150 restrictions": RefusedError,
    "algebra, brackets, 5,000 deep": ANSWER,
    "algebra, a megabyte": LimitError,
    "rows, PERMUTE of 500": RefusedError,
    "rows, PERMUTE in PERMUTE": LimitError,
    "rows, a{1,100000}": LimitError,
    "rows, a{100000}": LimitError,
    "rows, a{0,999999999999}": RefusedError,
    "rows, counts in counts": LimitError,
    "rows, quantifiers, 60 deep": QuerySyntaxError,
    "rows, empty iterations, 40 deep": ANSWER,
    "rows, a megabyte of blanks in a count": QuerySyntaxError,
    "rows, a megabyte of blanks behind a comma": QuerySyntaxError,
    "rows, 6,000 optional loops": LimitError,
    "rows, 10,000 measures": LimitError,
    "rows, 5,000 SUBSETs": LimitError,
}
"""What becomes of each text: it is compiled, explained and run, or refused with this error."""
SLOW = {
    "OR of 2,000 types",
    "OR of 3,000 conditions",
    "1,000 tests",
    "SASE+, 1,000 conditions",
    "SREMO, stars, 60 deep",
    "PAR, 90 rows side by side",
    "PAR, a megabyte",
    "SASE+, a megabyte",
    "algebra, a megabyte",
    "algebra, 150 in sequence",
    "algebra, either of 150",
    "algebra, all of 150",
    "algebra, sequences to the right, 150 deep",
    "algebra, mixed, 150 deep",
    "rows, 6,000 optional loops",
    "rows, 10,000 measures",
}
"""What takes a second or longer, and runs in `make test-long`."""
ANSWERED = [name for name, outcome in OUTCOMES.items() if outcome == ANSWER]
REFUSED = [name for name in OUTCOMES if name not in ANSWERED]


def _each(names: list[str]) -> list[Any]:
    return [pytest.param(name, marks=pytest.mark.long) if name in SLOW else name for name in names]


@pytest.mark.parametrize("name", _each(ANSWERED))
def test_a_long_text_is_compiled_and_explained(name: str) -> None:
    dialect, text = TEXTS[name]
    query = surfaces.compiled(text, dialect)
    assert query.explain()
    assert query.run(surfaces.EVENTS) is not None


@pytest.mark.parametrize("name", _each(REFUSED))
def test_a_text_beyond_the_limits_is_refused(name: str) -> None:
    dialect, text = TEXTS[name]
    error = OUTCOMES[name]
    assert isinstance(error, type)
    with pytest.raises(error) as refused:
        surfaces.compiled(text, dialect).explain()
    assert len(str(refused.value)) < 1_000


@pytest.mark.long
@pytest.mark.parametrize(
    "pattern",
    [
        " ALL ".join(["A"] * 10),
        " AND ".join(f"(A OR T{n})+" for n in range(12)),
        numbers(12, "(A OR T{})+ AND (", "") + "A+" + ")" * 12,
    ],
)
def test_parts_that_all_take_the_same_event_are_explained_and_end_at_a_limit(pattern: str) -> None:
    """Each part takes an event, or goes on without it."""
    query = cereus.compile(f"SELECT * WHERE {pattern}")
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

EVENTS = 20_000
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
        "DEFINE a AS max(lower(CLASSIFIER())) >= 'a', c AS x < 0)",
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
def test_all_of_twenty_types_are_gathered_type_by_type() -> None:
    """Any of the types that have come may be part of a partial match, or not: no state for each
    set of them is made."""
    kinds = [f"T{i}" for i in range(20)]
    query = cereus.compile(f"SELECT * WHERE {' ALL '.join(kinds)}")
    assert len(query.run(pa.table({"type": kinds}))) == 1
    assert query.count(pa.table({"type": kinds * 2})) == 2**20


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


# ---------------------------------------------------------------- every surface


def test_what_is_too_large_to_take_apart_is_an_error() -> None:
    """`why` runs the pattern up to each of its steps, and leaves out each condition once."""
    dialect, text = TEXTS["200 iterations in a row"]
    query = cereus.compile(text, dialect=dialect, schema=SCHEMA, stream=cereus.Stream(time="ts"))
    for take_apart in (lambda: query.why(stream(3)), lambda: query.why_not(stream(3), [0, 1])):
        with pytest.raises(LimitError, match="200 tests and conditions; up to 100"):
            take_apart()
    assert "200 tests and conditions" in report(query, stream(3))


def test_comparisons_count_among_what_is_taken_apart() -> None:
    """Seven hundred events of one type, each compared with the first: they have one test."""
    text = next(each.text for each in hostile((700,)) if each.name == "sase, a row compared, 700")
    query = cereus.compile(text, dialect="sase", schema=SCHEMA, stream=cereus.Stream(time="ts"))
    with pytest.raises(LimitError, match="1,400 tests and conditions; up to 100"):
        query.why(stream(3))


def test_what_is_too_deep_to_run_is_an_error() -> None:
    """A thousand comparisons are compiled; what they remember is planned when a run begins."""
    dialect, text = TEXTS["SASE+, 1,000 comparisons"]
    query = cereus.compile(text, dialect=dialect, schema=SCHEMA, stream=cereus.Stream(time="ts"))
    for use in (query.run, query.count):
        with pytest.raises(QuerySyntaxError, match="nested too deeply"):
            use(stream(3))
