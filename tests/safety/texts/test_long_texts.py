"""Texts of a megabyte: each is read or refused in seconds, with a message that can be read."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from types import FrameType
from typing import Any

import pyarrow as pa
import pytest

import cereus
from cereus.errors import CereusError, QuerySyntaxError, did_you_mean, nearest
from cereus.expr.text import parse_condition
from cereus.language.formatting import formatted
from cereus.language.registry import language
from cereus.languages.match_recognize.statement import rewritten, tokens
from cereus.lsp import features
from cereus.syntax.literals import length_of, split_duration

MEGABYTE = 1_000_000
TEXTS = {
    "quotes": "'" * MEGABYTE,
    "an unclosed quote": "'" * (MEGABYTE + 1),
    "double quotes": '"' * MEGABYTE,
    "an unclosed name": '"' * (MEGABYTE + 1),
    "unclosed comments": "/*" * (MEGABYTE // 2),
    "a long comment": "/" + "*" * MEGABYTE,
    "a long name": "a" * MEGABYTE,
    "a long number": "1" * MEGABYTE,
    "blanks": " " * MEGABYTE + "!",
    "brackets": "(" * MEGABYTE,
}
LANGUAGES = ("ceql", "sase", "par", "sremo", "algebra", "match_recognize")


def refused_or_read(read: Any) -> None:
    try:
        read()
    except CereusError as error:
        assert len(str(error)) < 20_000


@pytest.mark.parametrize("name", TEXTS)
def test_a_long_text_takes_seconds(name: str) -> None:
    text = TEXTS[name]
    refused_or_read(lambda: parse_condition(f"a = {text}"))
    refused_or_read(lambda: tokens(text))
    refused_or_read(lambda: split_duration(f"1 hour {text}"))
    refused_or_read(lambda: length_of(text, "within"))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", ["quotes", "unclosed comments", "a long name"])
def test_a_long_query_takes_seconds(name: str, language: str) -> None:
    refused_or_read(lambda: cereus.compile(TEXTS[name], dialect=language))


@pytest.mark.parametrize("path", ["x.ceql", "x.sase", "x.par"])
@pytest.mark.parametrize("text", ["'" * 300_001, "/*" * 150_000, "a" * 300_000, "'\ud800'", "\0"])
def test_a_document_in_an_editor_may_hold_anything(text: str, path: str) -> None:
    language = features.language_of(path)
    found = features.problems(text, language)
    assert found or features.meaning(text, language) is not None
    assert all(len(each.message) < 20_000 for each in found)
    features.laid_out(text, language)


def test_comments_of_a_long_text_stay_with_their_words() -> None:
    """Words of both texts were compared each with each: minutes for some thousands."""
    lines = "\n".join(f"  OR (T{n}) -- note {n}" for n in range(400))
    made = formatted(f"SELECT * WHERE A\n{lines}\n", language("ceql"))
    places = [made.index(f"-- note {n}\n") for n in range(400)]
    assert places == sorted(places)
    commented = "SELECT * WHERE " + " OR ".join(f"T{n} /* {n} */" for n in range(3_000))
    assert formatted(commented, language("ceql")).count("/*") == 3_000


def test_a_thousand_clauses_of_a_statement_are_replaced_at_once() -> None:
    """The statement was read anew for each of them."""
    clause = "MATCH_RECOGNIZE (ORDER BY ts PATTERN (a) DEFINE a AS x > 1)"
    tables = ", ".join(f"t{n} {clause} AS m{n}" for n in range(1_000))
    sources: list[str] = []
    made = rewritten(f"SELECT * FROM {tables}", lambda each: sources.append(each.source) or "r")
    assert sources == [f"SELECT * FROM t{n}" for n in range(1_000)]
    assert [each.text for each in tokens(made)][:8] == [
        "SELECT",
        "*",
        "FROM",
        "r",
        "AS",
        "m0",
        ",",
        "r",
    ]
    nested = f"SELECT * FROM (SELECT * FROM t {clause}) {clause}, u {clause}"
    made = rewritten(nested, lambda each: f"r{sources.append(each.source) or len(sources)}")
    assert " ".join(each.text for each in tokens(made)) == "SELECT * FROM r1003 , r1002"


def test_a_comment_that_is_not_closed_is_refused_in_a_statement() -> None:
    with pytest.raises(CereusError, match="this /\\* is never closed"):
        tokens("SELECT 1 /* one")
    assert [each.text for each in tokens("SELECT $$a$$ /* one */, 'b''c'")][1:] == [
        "$$a$$",
        ",",
        "'b''c'",
    ]


@pytest.mark.parametrize("blanks", [30, 100_000])
def test_blanks_in_a_length_of_time_are_read_once(blanks: int) -> None:
    assert split_duration(("1 h" + " " * blanks) * 9 + "!") is None
    assert split_duration("1 hour 30 minutes ") == [("1", "hour"), ("30", "minutes")]


def test_names_that_are_long_or_none_have_no_near_name() -> None:
    assert nearest("a" * MEGABYTE, ["b" * 100, "c"]) is None
    assert nearest("volum", ["x" * MEGABYTE, "volume"]) == "volume"
    assert did_you_mean(5, ["a"]) == "known here: a"
    assert len(did_you_mean("a", ["x" * MEGABYTE]) or "") < 1000
    assert len(str(CereusError("x" * MEGABYTE, hint="y" * MEGABYTE))) < 20_000


def test_a_thousand_comparisons_are_refused_when_events_come() -> None:
    many = " AND ".join(f"b.x > a.x + {n}" for n in range(1000))
    text = f"PATTERN SEQ(A a, B b) WHERE {many} WITHIN 10 seconds"
    query = cereus.compile(text, dialect="sase", stream=cereus.Stream(time="t", unit="s"))
    recognizer = query.recognizer()
    events = pa.table({"type": ["A", "B"], "t": [1, 2], "x": [1, 5000]})
    try:
        assert len(recognizer.push(events)) == 1
    except CereusError as error:
        assert "too deeply" in str(error)


@pytest.mark.parametrize("hours", [-12, 0, 14])
def test_moments_at_the_ends_of_the_calendar_are_values(hours: int) -> None:
    zone = timezone(timedelta(hours=hours))
    events = pa.table({"type": ["A"], "ts": pa.array([datetime(2024, 1, 1, tzinfo=UTC)])})
    for moment in (datetime(9999, 12, 31, 23, tzinfo=zone), datetime(1, 1, 1, tzinfo=zone)):
        query = cereus.compile("SELECT * WHERE A AS a RETURN :m AS m", params={"m": moment})
        assert query.run(events).table.num_rows == 1


def test_a_duration_of_a_megabyte_is_refused() -> None:
    """Its size was beyond what decimals can be multiplied to."""
    with pytest.raises(QuerySyntaxError, match="this duration is too long"):
        cereus.compile(f"(A ; B)_{'9' * MEGABYTE}s", dialect="algebra")


@pytest.mark.parametrize("dialect", ["ceql", "sase"])
def test_amounts_whose_sum_is_too_long_are_refused(dialect: str) -> None:
    """Each of them is a decimal, and their sum is none."""
    pattern = {"ceql": "SELECT * WHERE A ; B", "sase": "PATTERN SEQ(A a, B b)"}[dialect]
    with pytest.raises(QuerySyntaxError, match="this duration is too long"):
        cereus.compile(f"{pattern} WITHIN 6e999999 us 6e999999 us", dialect=dialect)


@pytest.mark.parametrize("digits", [5_000, MEGABYTE + 100])
def test_a_percentage_of_thousands_of_digits_is_refused(digits: int) -> None:
    """It was an integer, which Python refuses to write as a text, or beyond all decimals."""
    text = f"PATTERN SEQ(A a, B b) WHERE {'9' * digits}% * a.x > b.x"
    with pytest.raises(QuerySyntaxError, match="too large for a double"):
        cereus.compile(text, dialect="sase")


def calls(work: Callable[[], object]) -> int:
    """How many functions some work calls."""
    count = 0

    def noted(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(noted)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def sase_row(length: int) -> None:
    parts = ", ".join(f"T{n} t{n}" for n in range(length))
    cereus.compile(f"PATTERN SEQ({parts}) WITHIN 5 seconds", dialect="sase")


def flat_choices(length: int) -> None:
    choices = " OR ".join(f"T{n}" for n in range(length))
    cereus.compile(f"SELECT * WHERE ({choices})+ ; B").flat(pa.schema([("type", pa.string())]))


@pytest.mark.parametrize("work", [sase_row, flat_choices])
def test_work_grows_in_proportion_to_the_text(work: Callable[[int], None]) -> None:
    """The parts of SEQ were listed anew for each of them, and the places of a pattern compared
    each with each: ten seconds and more for 6,000."""
    work(2)  # grammars are built once
    assert calls(lambda: work(800)) < 2.5 * calls(lambda: work(400))
