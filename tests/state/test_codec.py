"""The format of states: everything that is written is read, and nothing else is believed."""

from __future__ import annotations

import io
import math
import pickle
import struct
import tracemalloc
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cereus.automata.memory.totals import Totals
from cereus.errors import SnapshotError
from cereus.state import arrow
from cereus.state.classes import BY_NAME, state_class
from cereus.state.codec import DEEPEST, DTYPES, decode, encode

zones = st.sampled_from(
    [None, UTC, timezone(timedelta(hours=-3, minutes=-30)), ZoneInfo("Europe/Berlin")]
)
hashable = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.text(),
    st.binary(),
    st.decimals(allow_nan=False),
    st.dates(),
    st.datetimes(timezones=zones),
    st.times(timezones=st.sampled_from([None, UTC])),
    st.timedeltas(),
)
numbers = st.sampled_from(DTYPES).flatmap(
    lambda dtype: st.binary(min_size=0, max_size=40).map(
        lambda data: np.frombuffer(
            bytes(b & (1 if dtype == np.bool_ else 255) for b in data)[
                : len(data) // dtype.itemsize * dtype.itemsize
            ],
            dtype,
        )
    )
)
nested = st.recursive(
    hashable,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4).map(tuple),
        st.frozensets(inner, max_size=4),
        st.tuples(st.integers(), inner).map(lambda both: Totals(*both)),
    ),
    max_leaves=12,
)
states = st.recursive(
    nested,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(nested, inner, max_size=4)
    ),
    max_leaves=20,
)


@given(states)
def test_every_value_comes_back(value: Any) -> None:
    again = decode(encode(value))
    assert again == value
    assert repr(type(again)) == repr(type(value))
    assert encode(again) == encode(value)


@given(numbers)
def test_arrays_and_their_numbers_come_back(value: np.ndarray[Any, Any]) -> None:
    again = decode(encode(value))
    assert again.dtype == value.dtype
    assert again.tobytes() == value.tobytes()
    assert again.flags.writeable
    for each in value[:1]:
        number = decode(encode(each))
        assert type(number) is type(each)
        assert number.tobytes() == each.tobytes()


@pytest.mark.parametrize("shape", [(), (3, 2), (2, 0), (0, 4), (1, 2, 3)])
def test_arrays_of_every_shape_come_back(shape: tuple[int, ...]) -> None:
    value = np.arange(math.prod(shape)).reshape(shape)
    assert np.array_equal(decode(encode(value)), value)
    assert decode(encode(value)).shape == shape


TABLE = pa.table(
    {
        "whole": [1, None, 3],
        "words": pa.array(["x", None, "y"]).dictionary_encode(),
        "lists": [[1, 2], [], None],
        "records": [{"a": 1}, {"a": None}, None],
        "times": pa.array([1, 2, None]).cast(pa.timestamp("ns", "UTC")),
    }
)


@pytest.mark.parametrize("name", TABLE.column_names)
def test_arrow_arrays_come_back(name: str) -> None:
    column = TABLE.column(name).combine_chunks()
    assert decode(encode(column)).equals(column)
    assert decode(encode(column.slice(1))).equals(column.slice(1))


def test_tables_and_schemas_come_back() -> None:
    assert decode(encode(TABLE)).equals(TABLE)
    assert decode(encode(TABLE.schema)) == TABLE.schema


def test_times_with_nanoseconds_come_back() -> None:
    pandas = pytest.importorskip("pandas")
    for value in (
        pandas.Timestamp(1_234_567_890_123_456_789),
        pandas.Timestamp(1_234_567_890_123_456_789, tz="Europe/Berlin"),
        pandas.Timedelta(1_001),
    ):
        assert decode(encode(value)) == value


def test_a_zone_without_a_name_keeps_the_moment() -> None:
    minimal = (
        b"TZif"
        + bytes(16)
        + struct.pack(">6l", 0, 0, 0, 0, 1, 4)
        + struct.pack(">lbb", 3600, 0, 0)
        + b"CET\0"
    )
    moment = datetime(2024, 1, 1, tzinfo=ZoneInfo.from_file(io.BytesIO(minimal)))
    restored = decode(encode(moment))
    assert restored == moment
    assert restored.utcoffset() == timedelta(hours=1)


def test_nan_is_one_object() -> None:
    one, two = decode(encode([float("nan"), -float("nan")]))
    assert one is two is math.nan


def test_a_class_is_known_by_its_name_wherever_it_lies() -> None:
    @state_class("test.moved")
    class Moved(NamedTuple):
        x: int

    data = encode(Moved(3))
    assert b"test.moved" in data
    assert __name__.encode() not in data
    assert decode(data) == Moved(3)
    with pytest.raises(ValueError, match=r"two classes of states are called 'test\.moved'"):
        state_class("test.moved")(NamedTuple("Other", [("x", int)]))
    entry = BY_NAME.pop("test.moved")
    with pytest.raises(SnapshotError, match=r"a state class 'test\.moved'"):
        decode(data)
    BY_NAME["test.moved"] = entry


def test_what_is_no_state_is_not_saved() -> None:
    for value in (object(), {1, 2}, 1j, np.array([None]), lambda: 0, Exception):
        with pytest.raises(TypeError, match="cannot be saved"):
            encode(value)


SAMPLE = {
    "numbers": np.arange(6).reshape(2, 3),
    "words": pa.array(["a", "b"]),
    "values": [1, 2**70, 1.5, None, True, "x", b"y", Decimal("1.5"), date(2025, 3, 3)],
    "times": (datetime(2025, 3, 3, tzinfo=UTC), time(9, 30), timedelta(1)),
    "states": frozenset({Totals(1), (2, frozenset())}),
}


def test_truncation_at_every_length_is_refused() -> None:
    data = encode(SAMPLE)
    for size in range(len(data)):
        with pytest.raises(SnapshotError):
            decode(data[:size])


def test_more_than_a_value_is_refused() -> None:
    with pytest.raises(SnapshotError, match="more than its state"):
        decode(encode(SAMPLE) + b"N")


HUGE = b"\xff\xff\xff\xff\xff\xff\xff\x7f"
HOSTILE = {
    "a long text": b"s" + HUGE,
    "a long list": b"[" + HUGE,
    "a long dict": b"{" + HUGE,
    "a large integer": b"I" + HUGE,
    "an endless length": b"s" + b"\xff" * 20,
    "a large array": b"a\x04\x01" + HUGE,
    "a wide array of nothing": b"a\x04\x02\x00" + HUGE,
    "an array of objects": b"a\xff\x01\x01",
    "an array of many dimensions": b"a\x04\xff" + b"\x01" * 255,
    "neither true nor false": b"a\x00\x01\x01\x07",
    "a large table": b"B" + HUGE,
    "no table": b"B\x04abcd",
    "no schema": b"S\x04abcd",
    "deep nesting": b"(\x01" * 100_000 + b"N",
    "an unknown class": b"C\x03xyz",
    "a class with too few fields": b"C\x06totals" + b"N",
    "a set of lists": b"<\x01[\x00",
    "a key that is a list": b"{\x01[\x00N",
    "a day that is none": b"d" + b"\xff" * 8,
    "a zone outside": b"t\x00i" + bytes(8) + b"s\x0e../../etc/pass",
    "a folder of zones": b"t\x00i" + bytes(8) + b"s\x07America",
    "a fold that is none": b"t\x07i" + bytes(8) + b"N",
    "a signalling NaN": b"D\x04sNaN",
    "no number": b"D\x02xy",
    "an unknown tag": b"\x80",
    "nothing": b"",
    "a pickle": pickle.dumps({"x": 1}),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_bytes_are_refused_with_little_memory(name: str) -> None:
    data = HOSTILE[name]
    tracemalloc.start()
    with pytest.raises(SnapshotError):
        decode(data)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1 << 22


@pytest.mark.parametrize("compression", ["lz4", "zstd"])
def test_compressed_arrow_data_is_refused(compression: str) -> None:
    """It would say itself how much memory it takes."""
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_stream(sink, TABLE.schema, options=options) as writer:
        writer.write_table(TABLE)
    with pytest.raises(SnapshotError, match="compressed"):
        arrow.table_from(memoryview(sink.getvalue()))


def test_as_deep_as_is_written_is_read() -> None:
    value: Any = None
    for _ in range(DEEPEST):
        value = (value,)
    assert decode(encode(value)) == value
    with pytest.raises(SnapshotError, match="too deeply"):
        encode((value,))


@given(st.binary(max_size=60))
def test_any_bytes_are_a_value_or_refused(data: bytes) -> None:
    with suppress(SnapshotError):
        decode(data)
