"""Keys as codes that last: any column type, nulls, NaN, several columns, many batches."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cereus
from cereus import CereusError
from cereus.engine.ingest.keys import KeyIndex

keys = st.tuples(
    st.sampled_from(["u", "v", "", "größe", None]), st.sampled_from([0, 1, -(2**60), None])
)
FIELDS = [pa.field("s", pa.string()), pa.field("n", pa.int64())]


def encode(index: KeyIndex, batch: list[tuple[Any, ...]]) -> list[int]:
    columns = [
        pa.array([key[place] for key in batch], field.type)
        for place, field in enumerate(index.fields)
    ]
    codes: list[int] = index.encode(columns).tolist()
    return codes


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(st.lists(keys, min_size=1, max_size=8), st.booleans()), max_size=5),
    st.sampled_from([slice(0, 1), slice(1, 2), slice(0, 2)]),
    st.sampled_from([1, 3, 1024]),
)
def test_equal_keys_have_equal_codes_across_batches_and_snapshots(
    batches: list[tuple[list[tuple[Any, ...]], bool]], part: slice, many: int
) -> None:
    """However many are looked up together."""
    index = KeyIndex(FIELDS[part])
    known: dict[tuple[Any, ...], int] = {}
    for full, restarts in batches:
        batch = [key[part] for key in full]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("cereus.engine.ingest.keys.MANY", many)
            coded = encode(index, batch)
        for key, code in zip(batch, coded, strict=True):
            assert known.setdefault(key, code) == code
        assert sorted(known.values()) == list(range(len(index)))
        if restarts:
            restored = KeyIndex(FIELDS[part])
            restored.restore(index.save())
            index = restored
    shown = zip(*(column.to_pylist() for column in index.values()), strict=True)
    assert {key: code for code, key in enumerate(shown)} == known


@pytest.mark.parametrize(
    "column",
    [
        pa.array([1.5, math.nan, None, 1.5, math.nan], pa.float64()),
        pa.array([True, False, None, True, False]),
        pa.array(["a", "b", None, "a", "b"], pa.large_string()),
        pa.array(["a", "b", None, "a", "b"]).dictionary_encode(),
        pa.array([1, 2, None, 1, 2], pa.timestamp("us")),
        pa.array([1, 2, None, 1, 2], pa.time64("ns")),
        pa.array([1, 2, None, 1, 2], pa.time32("s")),
        pa.array([1, 2, None, 1, 2], pa.date32()),
        pa.array([1, 2, None, 1, 2], pa.duration("ns")),
        pa.array([7, -1, None, 7, -1], pa.int8()),
        pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 2, 3]), pa.array([*"abab"])),
    ],
    ids=[
        "float",
        "bool",
        "large",
        "dictionary",
        "time",
        "ns",
        "clock",
        "day",
        "length",
        "small",
        "doubled",
    ],
)
def test_every_type_of_key(column: pa.Array) -> None:
    index = KeyIndex([pa.field("k", column.type)])
    assert index.encode([column]).tolist() == [0, 1, 2, 0, 1]
    assert index.encode([column.slice(1)]).tolist() == [1, 2, 0, 1]
    assert len(index) == 3


@pytest.mark.parametrize(
    "kind", [pa.int8(), pa.uint8(), pa.int32(), pa.uint32(), pa.int64(), pa.uint64()]
)
@pytest.mark.parametrize("far", [False, True], ids=["near", "far"])
def test_integers_are_numbered_as_they_come(kind: pa.DataType, far: bool) -> None:
    last = 2 ** (kind.bit_width - (not str(kind).startswith("u"))) - 1
    column = pa.array([3, 1, last if far else 2, 1, 3], kind)
    index = KeyIndex([pa.field("k", kind)])
    assert index.encode([column]).tolist() == [0, 1, 2, 1, 0]
    assert index.encode([column.slice(2)]).tolist() == [2, 1, 0]
    assert index.encode([column.slice(0, 0)]).tolist() == []
    assert index.values()[0].equals(column.slice(0, 3))


def test_dictionaries_may_change_from_batch_to_batch() -> None:
    index = KeyIndex([pa.field("k", pa.string())])

    def encoded(indices: list[int], words: str) -> list[int]:
        column = pa.DictionaryArray.from_arrays(pa.array(indices), pa.array([*words]))
        return index.encode([column]).tolist()  # type: ignore[no-any-return]

    assert encoded([1, 0, 1], "ab") == [0, 1, 0]
    assert encoded([0, 1], "ab") == [1, 0]
    assert encoded([0, 1, 2], "bcb") == [0, 2, 0]
    index.keep(np.array([2, 1]))
    assert encoded([0, 1, 2], "bcb") == [2, 0, 2]


def test_the_words_of_a_dictionary_are_keys_from_when_they_occur() -> None:
    index = KeyIndex([pa.field("k", pa.string())])
    words = pa.array([*"abcd"])

    def encoded(*indices: int) -> list[int]:
        column = pa.DictionaryArray.from_arrays(pa.array(indices, pa.int8()), words)
        return index.encode([column]).tolist()  # type: ignore[no-any-return]

    assert encoded(3, 1) == [0, 1]
    assert index.values()[0].to_pylist() == ["d", "b"]
    assert encoded(0, 3) == [2, 0]
    index.keep(np.array([0]))
    assert encoded(3, 0) == [0, 1]
    assert index.values()[0].to_pylist() == ["d", "a"]


def test_a_stream_without_keys_is_one() -> None:
    index = KeyIndex([])
    assert len(index) == 1
    assert index.describe(0) == "the stream"


def test_a_key_in_words() -> None:
    index = KeyIndex(FIELDS)
    encode(index, [("u", 1), (None, 2)])
    assert index.describe(1) == "s=None, n=2"


def test_a_struct_is_no_key_but_its_fields_are() -> None:
    events = pa.table({"type": ["A", "A"], "k": [{"x": 1}, {"x": 2}]})
    with pytest.raises(CereusError, match=r"cannot be a key(.|\n)*k\.…"):
        cereus.compile("SELECT * WHERE A PARTITION BY k").run(events)
    found = cereus.compile("SELECT * WHERE A ; A PARTITION BY k.x").run(events)
    assert len(found) == 0


def test_zeros_of_either_sign_are_one_key() -> None:
    text = "SELECT * WHERE A ; B PARTITION BY k WITHIN 100 seconds"
    keys = pa.array([0.0, -0.0, 5.0, 5.0, 0.0])
    events = pa.table({"type": list("AAABB"), "k": keys, "t": range(5)})
    query = cereus.compile(text, stream=cereus.Stream(time="t", unit="s"), schema=events.schema)
    whole = sorted((row["k"], row["positions"]) for row in query.run(events))
    assert whole == [(0.0, [0, 4]), (0.0, [1, 4]), (5.0, [2, 3])]
    recognizer = query.recognizer(schema=events.schema)
    recognizer.push(events.slice(0, 3))
    found = query.restore(recognizer.snapshot()).push(events.slice(3))
    assert sorted((row["k"], row["positions"]) for row in found) == whole


def test_keys_of_several_columns_with_very_many_values_stay_apart() -> None:
    """Five columns of 65,536 values each have 2**80 combinations."""
    many = list(range(65_536))
    key = {f"k{n}": [*many, value, value] for n, value in enumerate([1, 7, 7, 7, 7])}
    key["k0"][-1] = 2  # the B is of another key than the A before it
    events = pa.table({"type": ["X"] * len(many) + ["A", "B"], **key})
    query = cereus.compile("SELECT * WHERE A ; B PARTITION BY k0, k1, k2, k3, k4")
    assert len(query.run(events)) == 0
    events = events.set_column(1, "k0", pa.array([*many, 2, 2]))
    assert len(query.run(events)) == 1
