"""Arrow's odder arrays: dictionaries with nulls, duplicates or broken places, texts that are none,
times at the ends of int64. Answers are those of the plain arrays, or a CereusError."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import cereus
from cereus.errors import DataError

STREAM = cereus.Stream(time="ts")
PAIRS = "SELECT a, b WHERE A AS a ; B AS b FILTER a.s = b.s WITHIN 5 seconds"
FIRST, LAST = -(2**63), 2**63 - 1
"""Of the times that events can have."""


def dictionary(places: list[int | None], entries: list[str | None]) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(places, pa.int8()), pa.array(entries))


def events(texts: Any, times: list[int] | None = None, unit: str = "s") -> pa.Table:
    size = len(texts)
    return pa.table(
        {
            "type": [*"AB"] * (size // 2),
            "ts": pa.array(times or range(size), pa.int64()).cast(pa.timestamp(unit), safe=False),
            "s": texts,
        }
    )


CHUNKS = [dictionary([0, 1], [None, "u"]), dictionary([2, 0], ["v", None, "u"])]
"""[None, "u"], ["u", "v"]: each piece has a dictionary of its own, with a null in it."""
ASKED: dict[str, Callable[[cereus.Query, pa.Table], Any]] = {
    "run": lambda query, table: query.run(table).table.to_pylist(),
    "sorted": lambda query, table: query.run(table, sort=True).table.to_pylist(),
    "events": lambda query, table: query.run(table).events().column("s").to_pylist(),
    "count": lambda query, table: query.count(table),
    "why": lambda query, table: query.why(table).to_dict(),
    "pushed": lambda query, table: pushed(query, table),
}


def pushed(query: cereus.Query, table: pa.Table) -> list[Any]:
    recognizer = query.recognizer(keep_events=True)
    parts = [recognizer.push(table.slice(at, 2)) for at in range(0, table.num_rows, 2)]
    return [part.events().column("s").to_pylist() for part in parts]


@pytest.mark.parametrize("ask", ASKED)
def test_dictionaries_with_nulls_among_their_entries_are_read(ask: str) -> None:
    query = cereus.compile(PAIRS, stream=STREAM)
    encoded = events(pa.chunked_array(CHUNKS))
    plain = events(pa.chunked_array([each.dictionary_decode() for each in CHUNKS]))
    assert ASKED[ask](query, encoded) == ASKED[ask](query, plain)


def _in_structs(texts: pa.Array) -> pa.Array:
    return pa.StructArray.from_arrays([texts], ["s"])


def _in_lists(texts: pa.Array) -> pa.Array:
    return pa.ListArray.from_arrays(pa.array([0, 1, 2]), texts)


def _in_maps(texts: pa.Array) -> pa.Array:
    return pa.MapArray.from_arrays([0, 1, 2], pa.array(["k", "l"]), texts)


@pytest.mark.parametrize("nested", [_in_structs, _in_lists, _in_maps])
def test_so_are_dictionaries_inside_other_values(nested: Callable[[pa.Array], pa.Array]) -> None:
    query = cereus.compile("SELECT a, b WHERE A AS a ; B AS b", stream=STREAM)
    table = events(pa.chunked_array([nested(each) for each in CHUNKS]))
    plain = pa.concat_arrays([nested(each.dictionary_decode()) for each in CHUNKS])
    expected = query.run(events(plain)).events().column("s").to_pylist()
    assert query.run(table, sort=True).events().column("s").to_pylist() == expected


def test_runs_of_dictionaries_are_read_behind_an_offset_too() -> None:
    texts = dictionary([0, 1, 0, 2], ["u", "v", None])
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([2, 3, 5, 8], pa.int32()), texts)
    query = cereus.compile("SELECT a, b WHERE A AS a : B AS b FILTER a.s = b.s", stream=STREAM)
    found = query.run(events(runs.slice(1, 4))).events().column("s").to_pylist()
    assert found == ["u", "u"]  # of u v u u


@pytest.mark.parametrize("place", [2, 100, -1])
@pytest.mark.parametrize("nested", [lambda texts: texts, _in_structs])
def test_a_place_that_a_dictionary_does_not_have_is_refused(
    place: int, nested: Callable[[pa.Array], pa.Array]
) -> None:
    broken = pa.DictionaryArray.from_arrays(
        pa.array([0, place], pa.int8()), pa.array(["u", "v"]), safe=False
    )
    query = cereus.compile("SELECT a, b WHERE A AS a ; B AS b", stream=STREAM)
    with pytest.raises(DataError, match=f"the entry {place}, of 2"):
        query.run(events(nested(broken)))


def broken_texts() -> pa.Array:
    offsets = pa.py_buffer(np.arange(5, dtype=np.int32).tobytes())
    return pa.Array.from_buffers(pa.string(), 4, [None, offsets, pa.py_buffer(b"u\xff\xfeu")])


@pytest.mark.parametrize(
    "ask",
    [
        lambda query, table: query.run(table),
        lambda query, table: query.why(table),
        lambda query, table: query.recognizer().push(table),
    ],
)
def test_a_text_that_is_not_utf_8_is_refused_where_it_is_read(ask: Any) -> None:
    query = cereus.compile("SELECT * WHERE A ; B PARTITION BY s", stream=STREAM)
    with pytest.raises(DataError, match="not UTF-8: b'"):
        ask(query, events(broken_texts()))


def test_matches_with_a_text_that_is_not_utf_8_are_an_arrow_table_only() -> None:
    query = cereus.compile("SELECT * WHERE A AS a ; B RETURN a.s", stream=STREAM)
    matches = query.run(events(broken_texts()))
    assert matches.table.num_rows == 3
    with pytest.raises(DataError, match="not UTF-8"):
        list(matches)


# ---------------------------------------------------------------- times

TIMED = (
    "SELECT a, b WHERE A AS a ; B AS b WITHIN 2 seconds WITH TIMEOUTS",
    "SELECT a WHERE A AS a NOT FOLLOWED BY B WITHIN 1 second",
    "SELECT COUNT(*) WHERE A+ ; B WITHIN 2 seconds",
    PAIRS,
)
STEPS = [0, 3, 3, 4, 4, 9, 10, 10]


def untimed(rows: pa.Table) -> list[Any]:
    """Rows without their times, which Python does not have."""
    named = zip(rows.column_names, rows.schema.types, strict=True)
    return rows.select(
        [name for name, kind in named if not pa.types.is_timestamp(kind)]
    ).to_pylist()


@pytest.mark.parametrize("begin", [FIRST, LAST - STEPS[-1]])
@pytest.mark.parametrize("text", TIMED)
def test_at_the_ends_of_time_matches_and_misses_are_the_same(text: str, begin: int) -> None:
    query = cereus.compile(text, stream=STREAM)
    texts = ["u", "v"] * 4
    plain, shifted = (events(texts, [at + step for step in STEPS]) for at in (0, begin))
    assert untimed(query.run(shifted).table) == untimed(query.run(plain).table)
    found, expected = query.why(shifted), query.why(plain)
    assert [each.rows for each in found.misses] == [each.rows for each in expected.misses]
    assert [each.reached for each in found.steps] == [each.reached for each in expected.steps]
    assert str(found).count("\n") == str(expected).count("\n")


def test_a_difference_of_nanoseconds_has_nanoseconds() -> None:
    table = events(["u", "v"], [0, 1_500], "ns")
    text = "SELECT * WHERE A AS a ; B AS b RETURN b.ts - a.ts AS d, coalesce(b.ts, a.ts) AS t"
    found = cereus.compile(text, stream=STREAM).run(table).table
    assert found.column("d").cast(pa.int64()).to_pylist() == [1_500]
    assert found.column("t").cast(pa.int64()).to_pylist() == [1_500]


def test_a_computed_time_that_no_microsecond_has_is_null() -> None:
    table = events(["u", "v"], [LAST - 1, LAST], "s")
    text = "SELECT * WHERE A AS a ; B AS b RETURN coalesce(b.ts, a.ts) AS t"
    assert cereus.compile(text, stream=STREAM).run(table).table.column("t").to_pylist() == [None]


def test_an_endless_time_is_said_to_be_too_long() -> None:
    table = events(["u", "u"]).set_column(1, "ts", pa.array([float("-inf"), float("inf")]))
    stream = cereus.Stream(time="ts", unit="s")
    assert "an infinite time too long" in str(cereus.compile(PAIRS, stream=stream).why(table))
