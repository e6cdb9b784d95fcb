"""What the texts of a column are taken for, whatever block they come in."""

from __future__ import annotations

import math
import sys
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cereus.sources.reading import texts as text_module
from cereus.sources.reading.blocks import arrow_owned
from cereus.sources.reading.texts import (
    FEW,
    KINDS,
    LOCAL,
    PLAIN,
    UTC,
    Notation,
    TextKinds,
    converted,
)
from tests.volume import volume

WORDS = ["1", "-7", "007", "+3", " 4", "9223372036854775807", "9223372036854775808", "0x1F",
         "0.5", "1e9", "nan", "true", "FALSE", "2025-03-03", "2025-03-03 09:30:00",
         "2025-03-03T09:30:00.123456", "2025-03-03T09:30:00.123456789", "2025-03-03T09:30:00Z",
         "2025-03-03T09:30:00+02:00", "", "x", "12:30", None]  # fmt: skip


def kind_of(*blocks: list[str | None]) -> pa.DataType:
    kinds = TextKinds(KINDS)
    for block in blocks:
        kinds.see([("c", pa.chunked_array([block], pa.string()))])
    return kinds.kind("c", pa.null())


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (["1", " 2", "+3", None], pa.int64()),
        (["1", "0.5"], pa.float64()),
        (["1", "9223372036854775808"], pa.string()),
        (["0.5", "9223372036854775808"], pa.string()),
        (["0x1F"], pa.string()),
        (["true", "FALSE"], pa.bool_()),
        (["2025-03-03"], pa.date32()),
        (["2025-03-03", "2025-03-03 09:30:00"], LOCAL),
        (["2025-03-03T09:30:00Z", "2025-03-03T09:30:00+02:00"], UTC),
        (["2025-03-03T09:30:00Z", "2025-03-03T09:30:00"], pa.string()),
        (["2025-03-03T09:30:00.123456789"], pa.string()),
        (["1", ""], pa.string()),
        ([None, None], pa.null()),
        ([], pa.null()),
    ],
)
def test_a_column_is_the_narrowest_that_all_texts_are(
    texts: list[str | None], kind: pa.DataType
) -> None:
    assert kind_of(texts) == kind


@settings(max_examples=volume(30, 625))
@given(st.lists(st.sampled_from(WORDS), max_size=6), st.integers(0, 6))
def test_how_texts_are_cut_into_blocks_does_not_matter(texts: list[str | None], cut: int) -> None:
    kind = kind_of(texts)
    assert kind_of(texts[:cut], texts[cut:]) == kind
    assert kind_of(texts[cut:], texts[:cut]) == kind
    values = converted(pa.chunked_array([texts], pa.string()), kind)
    assert values.null_count == sum(text is None for text in texts)


def test_a_type_that_the_first_texts_rule_out_is_not_tried_on_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Arrow takes long over what cannot be converted."""
    refused: list[int] = []
    convert = text_module.converted

    def counted(values: pa.ChunkedArray, kind: pa.DataType, notation: Notation = PLAIN) -> Any:
        try:
            return convert(values, kind, notation)
        except pa.ArrowInvalid:
            refused.append(len(values))
            raise

    monkeypatch.setattr(text_module, "converted", counted)
    kinds = TextKinds(KINDS)
    kinds.see([("name", pa.chunked_array([pa.array([None, *map(str, "abcdefghij" * 90)])]))])
    assert refused and max(refused) <= FEW
    assert kinds.kind("name", pa.null()) == pa.string()


def test_what_arrow_parses_holds_nothing_of_python() -> None:
    """Threads of Arrow outlive the interpreter: `terminate called without an active exception`."""
    block = b"a,b\n1,2\n" * 100
    references = sys.getrefcount(block)
    reader = arrow_owned(block)
    assert sys.getrefcount(block) == references
    assert reader.read() == block


FORMAT = Notation(time_format="%d/%m/%Y %H:%M")
COMMA = Notation(decimal=",")


def test_each_time_is_in_the_given_format_or_in_iso() -> None:
    texts = ["2025-03-03 09:30:00", "03/03/2025 09:31", None]
    for cut in range(len(texts)):
        column = pa.chunked_array([texts[:cut], texts[cut:]], pa.string())
        values = converted(column, LOCAL, FORMAT)
        assert [None if t is None else t.minute for t in values.to_pylist()] == [30, 31, None]
    with pytest.raises(pa.ArrowInvalid):
        converted(pa.chunked_array([[*texts, "3.3.2025"]]), LOCAL, FORMAT)


@pytest.mark.parametrize(
    ("texts", "values"),
    [
        (["1,5", "-2", "+,25"], [1.5, -2.0, 0.25]),
        (["1.234,50", "1.234.567", " 7 "], [1234.5, 1234567.0, 7.0]),
        (["1.234", "12"], [1234, 12]),
        (["1.5", "2,5"], ["1.5", "2,5"]),
        (["1,2,3"], ["1,2,3"]),
        (["1.234.567.890.123.456.789.012", "1,5"], ["1.234.567.890.123.456.789.012", "1,5"]),
        (["NaN", "1e3"], [math.nan, 1000.0]),
    ],
)
def test_numbers_with_a_comma(texts: list[str], values: list[Any]) -> None:
    kinds = TextKinds(KINDS, COMMA)
    column = pa.chunked_array([pa.array(texts)])
    kinds.see([("x", column)])
    found = converted(column, kinds.kind("x", pa.null()), COMMA).to_pylist()
    assert str(found) == str(values)
