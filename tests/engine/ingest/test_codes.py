"""Strings to codes: every way that Arrow stores strings, against plain Python."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cereus.engine.ingest import codes
from cereus.engine.ingest.letters import add_codes
from cereus.engine.ingest.substreams import ascending
from cereus.engine.ingest.words import Words

KINDS = [
    pa.string(),
    pa.large_string(),
    pa.string_view(),
    pa.dictionary(pa.int32(), pa.string()),
    pa.dictionary(pa.int8(), pa.large_string()),
]
texts = st.text("ab\0é😀", max_size=12) | st.sampled_from(
    ["", "abcdefgh", "abcdefghi", "abcdefghj"]
)


def expected(values: list[str | None], words: list[str]) -> list[int]:
    places = {word: code for code, word in enumerate(words, 1)}
    return [len(words) + 1 if v is None else places.get(v, 0) for v in values]


def coded(values: list[str | None], kind: pa.DataType) -> pa.Array:
    plain = pa.array(values, pa.string())
    if pa.types.is_dictionary(kind):
        return plain.cast(kind.value_type).dictionary_encode().cast(kind)
    return plain.cast(kind)


def string_codes(column: pa.Array, words: Words) -> npt.NDArray[np.uint16]:
    index = np.zeros(len(column), np.uint16)
    add_codes(column, words, index)
    return index


@settings(max_examples=150, deadline=None)
@given(
    st.lists(texts | st.none(), max_size=20),
    st.lists(texts, unique=True, max_size=12),
    st.sampled_from(KINDS),
    st.integers(0, 5),
)
def test_codes_are_those_of_a_dictionary(
    values: list[str | None], words: list[str], kind: pa.DataType, begin: int
) -> None:
    """Also of a slice, whose offsets do not begin at zero."""
    column = coded(values, kind).slice(begin)
    found = string_codes(column, Words(words))
    assert found.tolist() == expected(values[begin:], words)


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 15, 16, 17, 100])
def test_words_that_share_a_prefix_or_a_length(size: int) -> None:
    stem = "x" * size
    words = [stem, stem + "a", stem + "b", stem + "\0", "y" + stem]
    values = [*words, stem + "c", stem[:-1], stem + "abc", stem + 9 * "b", None]
    found = string_codes(pa.array(values), Words(words))
    assert found.tolist() == expected(values, words)


def test_the_last_string_of_a_buffer_is_not_read_past_its_end() -> None:
    column = pa.array(["a", "b"])
    assert string_codes(column, Words(["b"])).tolist() == [0, 1]


def test_nothing_but_empty_strings_and_nulls() -> None:
    assert string_codes(pa.array(["", "", None]), Words([""])).tolist() == [1, 1, 2]
    assert string_codes(pa.array([None, None], pa.string()), Words(["a"])).tolist() == [2, 2]


def test_a_dictionary_as_large_as_its_indices_allow() -> None:
    values = [f"v{i}" for i in range(128)]
    indices = pa.array([0, None, 127], pa.int8())
    column = pa.DictionaryArray.from_arrays(indices, pa.array(values))
    assert string_codes(column, Words(["v127"])).tolist() == [0, 2, 1]


def test_a_dictionary_with_a_null_and_a_value_twice() -> None:
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), pa.array(["a", None, "a"]))
    assert string_codes(column, Words(["a"])).tolist() == [1, 2, 1]


def test_many_words() -> None:
    words = [f"word {i}" for i in range(5000)]
    found = string_codes(pa.array([*words, "word"]), Words(words))
    assert found.tolist() == [*range(1, 5001), 0]


def _longest_run(buckets: npt.NDArray[np.int32]) -> int:
    """Of buckets that are taken, one behind the other: a look-up reads no more."""
    return max(map(len, "".join("x" if code else " " for code in buckets.tolist()).split()))


SPREAD = {
    "a number behind eight letters": [f"customer-{i:05}" for i in range(3_000)],
    "a number in the middle of them": [f"customer-{i:05}-of-the-house" for i in range(3_000)],
    "a number in the last of eight letters": [f"id{i:06}" for i in range(3_000)],
    "of many lengths": ["x" * size for size in range(1, 1_000)],
    "other ends of eight letters": [f"abcdef{chr(i)}" for i in range(0x100, 0x7FF)],
}


@pytest.mark.parametrize("name", SPREAD)
def test_words_that_are_alike_have_buckets_apart(name: str) -> None:
    """Rows with such words do not read one after the other."""
    assert _longest_run(Words(SPREAD[name]).codes) < 40


@pytest.mark.parametrize("count", [0, 1, 9, 32])
def test_a_few_short_words_have_a_bucket_each(count: int) -> None:
    """Then nothing is searched. Longer strings that begin with them are other strings."""
    names = Words([f"name {i:03}" for i in range(count)])
    assert names.parted
    values = [f"name {i:03}{end}" for i in range(count) for end in ("", "!")]
    found = string_codes(pa.array(values, pa.string()), names)
    assert found.tolist() == expected(values, [word.decode() for word in names.words])


@pytest.mark.parametrize("words", [["a longer word"], [str(i) for i in range(1000)]])
def test_long_and_many_words_are_searched(words: list[str]) -> None:
    assert not Words(words).parted


# ---------------------------------------------------------------- classes, groups, positions


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 300), max_size=400))
def test_classes_are_numbered_as_they_come(masks: list[int]) -> None:
    known: dict[int, int] = {5: 0}
    found = codes.dense_classes(np.array(masks, np.uint64), known)
    assert [known[mask] for mask in masks] == found.tolist()
    assert list(known.values()) == list(range(len(known)))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 6), max_size=40))
def test_groups_keep_the_order_of_their_rows(keys: list[int]) -> None:
    to, present, ends = codes.group_rows(np.array(keys, np.int32), 7)
    order = np.full(len(keys), -1)
    codes.move(np.arange(len(keys)), to, order)
    assert [keys[row] for row in order] == sorted(keys)
    assert all(a < b for a, b in pairwise(order) if keys[a] == keys[b])
    assert present.tolist() == sorted(set(keys))
    assert [keys[order[end - 1]] for end in ends] == sorted(set(keys))


@settings(max_examples=50, deadline=None)
@given(st.lists(st.lists(st.integers(0, 3), max_size=10), max_size=4))
def test_positions_count_on_from_batch_to_batch(batches: list[list[int]]) -> None:
    seen = np.zeros(4, np.int64)
    counted = [0] * 4
    for keys in batches:
        found = codes.count_positions(np.array(keys, np.int32), seen)
        for key, position in zip(keys, found.tolist(), strict=True):
            assert position == counted[key]
            counted[key] += 1


@given(values=st.lists(st.integers(-3, 3), max_size=20), before=st.sampled_from([0, 1, 4095, 4096]))
def test_an_order_is_seen_wherever_it_breaks(values: list[int], before: int) -> None:
    array = np.array([-4] * before + values, np.int64)
    assert ascending(array) == all(a <= b for a, b in pairwise(array.tolist()))


@given(sizes=st.lists(st.integers(0, 4), max_size=8))
def test_values_are_repeated_up_to_where_they_end(sizes: list[int]) -> None:
    values = np.arange(len(sizes), dtype=np.int32)
    ends = np.cumsum(sizes, dtype=np.int64)
    assert codes.repeated(values, ends).tolist() == np.repeat(values, sizes).tolist()


@given(st.lists(st.integers(0, 5), max_size=20), st.lists(st.booleans(), min_size=6, max_size=6))
def test_rows_of_chosen_keys_and_their_numbers(numbers: list[int], chosen: list[bool]) -> None:
    keys, flags = np.array(numbers, np.int32), np.array(chosen)
    assert codes.flags_of_keys(keys, flags.view(np.uint8)).tolist() == [chosen[n] for n in numbers]
    assert codes.counts_of_keys(keys, 6).tolist() == [numbers.count(n) for n in range(6)]
