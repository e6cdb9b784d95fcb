"""What people do wrong in their first hour, and what they read then."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

import cereus
from cereus.errors import CereusError

TIMED = cereus.Stream(time="ts")
BEGIN = datetime(2025, 3, 3)


def test_events_without_a_type_column_are_told_how_to_name_it() -> None:
    events = pa.table({"event": ["A"], "time": [1], "user": ["u"]})
    with pytest.raises(CereusError, match="the type column 'type' is not in the events") as error:
        cereus.compile("SELECT * WHERE A").run(events)
    assert 'Stream(type="…")' in str(error.value)
    assert "known here: event, time, user" in str(error.value)
    assert "did you mean" not in str(error.value)  # 'time' is near, and wrong


def test_a_misspelt_type_column_is_told_the_nearest() -> None:
    query = cereus.compile("SELECT * WHERE A", stream=cereus.Stream(type="evnt"))
    with pytest.raises(CereusError, match="did you mean 'event'"):
        query.run(pa.table({"event": ["A"]}))


def test_a_value_that_is_not_of_its_type_is_named_and_not_another_one(tmp_path: Path) -> None:
    path = tmp_path / "events.csv"
    path.write_text("type,ts\nA,2025-03-03 00:00:00\nA,yesterday\nA,2025-03-03 00:00:02\n")
    query = cereus.compile("SELECT * WHERE A WITHIN 1 hour", stream=TIMED)
    with pytest.raises(CereusError, match="'yesterday' is not one"):
        query.run(cereus.Files(path, types={"ts": "timestamp"}))


def test_the_empty_text_may_stand_for_null_beside_another(tmp_path: Path) -> None:
    path = tmp_path / "events.csv"
    path.write_text("type,x\nA,1\nA,n/a\nA,\n")
    query = cereus.compile("SELECT * WHERE A AS a FILTER a[x > 0]")
    with pytest.raises(CereusError, match="'' is not one") as error:
        query.run(cereus.Files(path, types={"x": "double"}, nulls=["n/a"]))
    assert 'nulls=[""]' in str(error.value)
    assert len(query.run(cereus.Files(path, types={"x": "double"}, nulls=["n/a", ""]))) == 1


def test_letters_that_are_not_utf_8_are_told_so(tmp_path: Path) -> None:
    path = tmp_path / "events.csv"
    path.write_bytes("type,name\nA,ä\n".encode("latin1"))
    with pytest.raises(CereusError, match="not UTF-8") as error:
        cereus.compile("SELECT * WHERE A").run(path)
    assert "multiline" not in str(error.value)


def test_a_recognizer_is_told_to_order_events_and_not_to_sort_a_table() -> None:
    recognizer = cereus.compile("SELECT * WHERE A ; B WITHIN 1 hour", stream=TIMED).recognizer()
    recognizer.push([{"type": "A", "ts": BEGIN}])
    with pytest.raises(CereusError, match="goes backwards") as error:
        recognizer.push([{"type": "B", "ts": BEGIN.replace(year=2024)}])
    assert "push events in the order of their times" in str(error.value)
    assert "sort=True" not in str(error.value)
    assert len(recognizer.push([{"type": "B", "ts": BEGIN}])) == 1


def test_a_recognizer_whose_first_events_were_refused_takes_others() -> None:
    recognizer = cereus.compile("SELECT * WHERE A ; B WITHIN 1 hour", stream=TIMED).recognizer()
    with pytest.raises(CereusError, match="which is no time"):
        recognizer.push([{"type": "A", "ts": "2025-03-03"}])
    recognizer.push([{"type": "A", "ts": BEGIN}])
    assert len(recognizer.push([{"type": "B", "ts": BEGIN}])) == 1


def test_a_value_in_a_dict_that_does_not_fit_is_named_with_its_column() -> None:
    schema = pa.schema({"type": pa.string(), "ts": pa.timestamp("us"), "x": pa.float64()})
    rules = cereus.RuleRecognizer(stream=TIMED, schema=schema, rules={"a": "SELECT * WHERE A"})
    with pytest.raises(CereusError, match="in the column 'ts', '2025-03-03' is not of") as error:
        rules.push([{"type": "A", "ts": "2025-03-03", "x": 1.0}])
    assert "fromisoformat" in str(error.value)
    with pytest.raises(CereusError, match="in the column 'x'"):
        cereus.compile("SELECT * WHERE A").run([{"type": "A", "x": 1}, {"type": "A", "x": "b"}])


def test_rules_may_be_texts_by_name() -> None:
    schema = pa.schema({"type": pa.string(), "ts": pa.timestamp("us")})
    rules = cereus.RuleRecognizer(
        stream=TIMED, schema=schema, rules={"a": "SELECT * WHERE A", "b": "SELECT * WHERE B"}
    )
    found = rules.push([{"type": "A", "ts": BEGIN}, {"type": "B", "ts": BEGIN}])
    assert found.column("rule").to_pylist() == ["a", "b"]


def test_an_error_in_a_clause_shows_its_line_in_the_statement() -> None:
    pytest.importorskip("duckdb")
    statement = (
        "SELECT *\nFROM t\nMATCH_RECOGNIZE (\n ORDER BY ts\n MEASURES a.prise AS p\n"
        " PATTERN (a)\n DEFINE a AS true)"
    )
    with pytest.raises(CereusError, match=r"5 \|  MEASURES a.prise AS p"):
        cereus.sql(statement, t=pa.table({"ts": [1], "price": [2]}))


def test_lag_and_lead_are_what_snowflake_calls_prev_and_next() -> None:
    events = pa.table({"ts": [1, 2, 3, 4], "price": [5, 3, 4, 1]})
    clause = (
        "MATCH_RECOGNIZE (ORDER BY ts MEASURES {next}(b.price) AS n PATTERN (a b+) "
        "DEFINE b AS price < {prev}(price, 1))"
    )
    asked = [clause.format(prev="PREV", next="NEXT"), clause.format(prev="lag", next="lead")]
    one, other = [cereus.compile(text, dialect="match_recognize").run(events) for text in asked]
    assert one.table.equals(other.table)
    assert one.table.column("n").to_pylist() == [4, None]


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("SELECT * WHERE A AS a ; B WHERE a.x > 3", "conditions after FILTER"),
        ("SELECT * WHERE login-failed ; B", '"login-failed"'),
        ("SELECT * WHERE A ; net.login AS b", '"net.login"'),
    ],
)
def test_slips_of_people_who_know_sql(text: str, hint: str) -> None:
    with pytest.raises(CereusError) as error:
        cereus.compile(text)
    assert hint in str(error.value.hint)


def test_a_single_letter_has_the_article_that_is_spoken() -> None:
    words = cereus.compile("SELECT * WHERE H ; T ; ORDER ; U ; BUY WITHIN 9 EVENTS").words()
    assert words.startswith("An H, then a T, then an ORDER, then a U, then a BUY")


def test_a_program_does_not_need_the_column_of_streams() -> None:
    """On Spark only the columns travel that a query reads, so a worker does not have it."""
    events = pa.table({"type": ["A", "B"]})
    stream = cereus.Stream(stream="venue")
    assert cereus.compile("A ; B[X]", dialect="par", stream=stream).count(events) == 1


def test_an_index_of_times_without_a_name_is_a_column() -> None:
    index = pd.date_range("2025-03-03", periods=3, freq="min")
    frame = pd.DataFrame({"type": ["A", "B", "B"]}, index=index)
    query = cereus.compile(
        "SELECT * WHERE A ; B WITHIN 1 minute", stream=cereus.Stream(time="index")
    )
    assert [row["positions"] for row in query.run(frame)] == [[0, 1]]


def test_a_column_of_objects_with_two_types_is_named() -> None:
    frame = pd.DataFrame({"type": ["A", "B"], "price": [1, "x"]})
    with pytest.raises(CereusError, match="in the column 'price'") as error:
        cereus.compile("SELECT * WHERE A").run(frame)
    assert "astype(str)" in str(error.value.hint)


def test_types_that_are_not_there_are_told_which_are() -> None:
    events = pa.table({"event": ["A", "B"], "type": ["normal", "urgent"]})
    with pytest.warns(cereus.CereusWarning, match="known here: normal, urgent"):
        cereus.compile("SELECT * WHERE A ; B WITHIN 9 EVENTS").run(events)


def test_seconds_since_1970_are_shown_in_full() -> None:
    events = pa.table({"type": ["A"], "ts": [1735689600.25]})
    found = cereus.compile("SELECT * WHERE A", stream=cereus.Stream(time="ts", unit="s")).run(
        events
    )
    assert "start_time=1735689600.25" in str(found)


def test_a_data_frame_of_spark_is_told_where_to_go() -> None:
    class DataFrame:
        __module__ = "pyspark.sql.classic.dataframe"

        def __arrow_c_stream__(self) -> None:
            raise AssertionError

    with pytest.raises(CereusError, match=r"cereus\.spark\.match"):
        cereus.compile("SELECT * WHERE A").run(DataFrame())


def test_a_time_format_of_java_is_refused() -> None:
    with pytest.raises(CereusError, match="names no part of a time"):
        cereus.Files("events.csv", time_format="dd.MM.yyyy")


def test_a_column_of_matches_is_a_column_of_their_table() -> None:
    matches = cereus.compile("SELECT * WHERE A").run(pa.table({"type": ["A"]}))
    with pytest.raises(TypeError, match=r"write matches.table\['positions'\]"):
        matches["positions"]  # type: ignore[call-overload]
    assert matches.to_polars()["positions"].to_list() == [[0]]


def test_a_query_of_a_text_says_how_queries_are_made() -> None:
    with pytest.raises(CereusError, match="not of a str") as failed:
        cereus.Query("SELECT * WHERE A")  # type: ignore[arg-type]
    assert failed.value.hint == "write cereus.compile(…)"


def test_an_event_in_json_is_no_path() -> None:
    with pytest.raises(CereusError) as failed:
        cereus.compile("SELECT * WHERE A").recognizer().push('{"type": "A"}')
    assert failed.value.hint == "a text is taken for a path; of JSON make dicts: json.loads(text)"


def test_a_recognizer_shows_its_query_and_how_much_it_has_read() -> None:
    recognizer = cereus.compile("SELECT * WHERE A").recognizer()
    recognizer.push([{"type": "A"}])
    assert repr(recognizer) == (
        "<Recognizer of cereus.compile('SELECT * WHERE A'); events read: 1>"
    )


@pytest.mark.parametrize(
    ("pattern", "words"),
    [("A{,3} ; C", "Up to three As, then a C."), ("A{0,} ; C", "Any number of As, then a C.")],
)
def test_words_of_a_part_that_may_be_left_out(pattern: str, words: str) -> None:
    assert cereus.compile(f"SELECT * WHERE {pattern}").words() == words


def test_distinct_in_an_aggregate_is_not_a_name() -> None:
    text = "SELECT * WHERE A+ AS a ; C FILTER count(distinct a.x) > 1"
    with pytest.raises(CereusError) as failed:
        cereus.compile(text)
    assert failed.value.hint == "there is no DISTINCT: every value counts"
