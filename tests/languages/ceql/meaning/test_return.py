"""RETURN: values that are computed for each match."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest

import cereus
from cereus import Stream
from cereus.errors import CereusError, RefusedError, UnknownNameError
from cereus.languages.ceql.text import parse, to_text
from cereus.translate.translate import translated

CARDS = pa.table(
    {
        "type": ["LOGIN", "PAY", "PAY", "LOGOUT", "LOGIN", "LOGOUT"],
        "card": [7, 7, 7, 7, 8, 8],
        "price": [None, 10.0, 20.0, None, None, None],
        "place": [{"city": "Rome"}] * 6,
        "ts": pa.array([0, 60, 90, 120, 130, 140], pa.timestamp("s")),
    }
)
STREAM = Stream(time="ts")
SESSION = "WHERE LOGIN AS a ; PAY+ AS b ; LOGOUT AS c PARTITION BY card WITHIN 1 hour"


def rows(text: str, **options: Any) -> list[dict[str, Any]]:
    return cereus.compile(text, stream=STREAM).run(CARDS, **options).table.to_pylist()


def test_one_row_per_match_with_what_is_computed_of_it() -> None:
    found = rows(
        f"SELECT MAX * {SESSION} "
        "RETURN a.card, count(b) AS n, avg(b.price) AS mean, c.ts - a.ts AS took"
    )
    assert found == [
        {
            "start": 0,
            "end": 3,
            "start_time": datetime(1970, 1, 1),
            "end_time": datetime(1970, 1, 1, 0, 2),
            "positions": [0, 1, 2, 3],
            "card": 7,
            "n": 2,
            "mean": 15.0,
            "took": timedelta(seconds=120),
        }
    ]


def test_values_keep_the_types_of_their_columns() -> None:
    query = cereus.compile(
        f"SELECT * {SESSION} RETURN a.place, a.ts AS began, sum(b.price), a.card + 1 AS next, "
        "sum(b.price) > 20 AS high",
        stream=STREAM,
        schema=CARDS.schema,
    )
    kinds = {field.name: field.type for field in query.run(CARDS).table.schema}
    assert kinds["place"] == CARDS.schema.field("place").type
    assert kinds["began"] == pa.timestamp("s")
    assert (kinds["sum_price"], kinds["next"], kinds["high"]) == (
        pa.float64(),
        pa.int64(),
        pa.bool_(),
    )


def test_names_that_are_taken_get_their_variable_in_front() -> None:
    (row, *_) = rows(f"SELECT * {SESSION} RETURN a.ts, c.ts, count(b), a.card, c.card")
    assert list(row)[6:] == ["a_ts", "c_ts", "count_b", "a_card", "c_card"]
    with pytest.raises(RefusedError, match="two columns 'end'"):
        rows(f"SELECT * {SESSION} RETURN a.price AS end")
    with pytest.raises(RefusedError, match="two columns 'n'"):
        rows(f"SELECT * {SESSION} RETURN a.price AS n, count(b) AS n")
    with pytest.raises(RefusedError, match="two columns 'card'"):
        rows(f"SELECT * {SESSION} RETURN a.price AS card")


def test_selected_variables_stand_beside_what_is_returned() -> None:
    (row, *_) = rows(f"SELECT MAX b[price] {SESSION} RETURN max(b.price) AS most")
    assert (row["most"], row["b"]) == (20.0, [{"price": 10.0}, {"price": 20.0}])


def test_a_variable_that_holds_no_event_has_null_values() -> None:
    found = rows(
        "SELECT * WHERE (PAY AS b OR LOGOUT AS c) PARTITION BY card "
        "RETURN b.price, c.ts, count(b) AS n"
    )
    values = sorted((row["n"], row["price"] is None, row["ts"] is None) for row in found)
    assert values == [(0, True, False), (0, True, False), (1, False, True), (1, False, True)]


def test_a_variable_that_may_hold_several_events_has_no_one_value() -> None:
    with pytest.raises(RefusedError, match="'b' may hold several events") as error:
        cereus.compile(f"SELECT * {SESSION} RETURN b.price")
    assert "first(b.price)" in str(error.value)
    with pytest.raises(UnknownNameError, match="'b' is no value"):
        cereus.compile(f"SELECT * {SESSION} RETURN b")
    with pytest.raises(UnknownNameError, match="variable 'd' is not bound"):
        cereus.compile(f"SELECT * {SESSION} RETURN count(d)")
    with pytest.raises(RefusedError, match="RETURN is about each match"):
        cereus.compile(f"SELECT COUNT(*) {SESSION} RETURN count(b)")
    with pytest.raises(UnknownNameError, match="unknown attribute 'prise'"):
        cereus.compile(f"SELECT * {SESSION} RETURN a.prise", stream=STREAM, schema=CARDS.schema)


def test_it_prints_explains_and_is_refused_in_sremo_by_name() -> None:
    text = f"SELECT * {SESSION} RETURN a.card, count(b) AS n, c.ts - a.ts AS took"
    tree = parse(text)
    assert parse(to_text(tree)) == tree
    query = cereus.compile(text, stream=STREAM)
    assert "returns n: count(b)" in query.explain(CARDS.schema)
    assert query.compiled.returned == ("card", "n", "took")
    with pytest.raises(CereusError, match="SREMO has no RETURN"):
        translated(cereus.compile("SELECT * WHERE A RETURN A.x").compiled, "sremo")


def test_returned_values_survive_snapshots() -> None:
    query = cereus.compile(f"SELECT * {SESSION} RETURN a.card, sum(b.price) AS s", stream=STREAM)
    recognizer = query.recognizer(schema=CARDS.schema)
    found = []
    for place in range(CARDS.num_rows):
        found += list(recognizer.push(CARDS.slice(place, 1)))
        recognizer = query.restore(recognizer.snapshot())
    assert sorted(row["s"] for row in found) == [10.0, 20.0, 30.0]
    assert sorted(map(str, found)) == sorted(map(str, query.run(CARDS)))


# ---------------------------------------------------------------- flat columns, order of time


def test_flat_columns_for_variables_that_hold_one_event() -> None:
    (row,) = rows(f"SELECT MAX a, b, c[ts] {SESSION}", flat=True)
    assert (row["a_card"], row["a_type"], row["c_ts"]) == (7, "LOGIN", datetime(1970, 1, 1, 0, 2))
    assert row["b"] == [1, 2]
    assert "a" not in row
    assert "c_card" not in row


def test_without_a_selection_all_single_events_are_flat() -> None:
    (row,) = rows(
        "SELECT * WHERE LOGIN ; (PAY AS b)+ ; LOGOUT AS c FILTER count(b) = 2 PARTITION BY card",
        flat=True,
    )
    assert (row["LOGIN_card"], row["c_card"], row["positions"]) == (7, 7, [0, 1, 2, 3])
    assert not any(name.startswith("b") for name in row)


def test_sase_texts_without_return_are_flat_too() -> None:
    query = cereus.compile(
        "PATTERN SEQ(LOGIN a, PAY+ b[], LOGOUT c) WHERE [card] WITHIN 1 hour",
        dialect="sase",
        stream=STREAM,
    )
    (row,) = query.run(CARDS, flat=True)
    assert (row["a_card"], row["c_ts"]) == (7, datetime(1970, 1, 1, 0, 2))
    assert [each["price"] for each in row["b"]] == [10.0, 20.0]


def test_matches_in_the_order_of_time() -> None:
    events = pa.table(
        {"type": ["A", "A", "B", "B"], "k": [1, 2, 2, 1], "ts": pa.array([0, 1, 2, 3])}
    )
    query = cereus.compile("SELECT * WHERE A ; B PARTITION BY k", stream=Stream(time="ts"))
    assert [row["end"] for row in query.run(events, order="time")] == [2, 3]
    assert [row["end"] for row in query.run(events)] == [3, 2]
    with pytest.raises(CereusError, match="no order 'size'"):
        query.run(events, order="size")  # type: ignore[arg-type]
