"""What is compared between events is the same whether a batch is read, or looked at in pieces."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cereus.automata.memory.slots import Column
from cereus.engine.ingest.compared import ComparedColumns
from cereus.expr.tree import Attribute

TEXTS = pa.array(["b", None, "a", "b", "c", "a", None, "c"])
COLUMNS: dict[str, pa.Array] = {
    "string": TEXTS,
    "string, coded": TEXTS.dictionary_encode().cast(pa.dictionary(pa.int8(), pa.string())),
    "int": pa.array([3, None, 1, 3, -2, 1, 0, None]),
    "float": pa.array([0.5, None, -0.0, 0.0, float("nan"), 1.5, 2.5, -1.0]),
    "decimal 2": pa.array([1, 2, None, 4, 5, 6, 7, 8]).cast(pa.decimal128(21, 2)),
}


@pytest.mark.parametrize("name", COLUMNS)
@given(data=st.data())
def test_pieces_are_compared_as_a_batch_is(name: str, data: st.DataObject) -> None:
    column = Column(Attribute(("x",)), name.split(",")[0])
    batch = pa.RecordBatch.from_arrays([COLUMNS[name]], ["x"])
    places = np.array(sorted(data.draw(st.sets(st.integers(0, 7)))), np.int64)
    cut = data.draw(st.integers(0, 8))
    whole, looked = ComparedColumns((column,)), ComparedColumns((column,))
    pieces: list[Any] = [
        looked.look(batch.slice(begin, end - begin), np.arange(end - begin))
        for begin, end in ((0, cut), (cut, 8))
    ]
    ahead = looked.read_looked_at(pieces, places, len(places))
    expected = whole.read(batch, places)
    if name.startswith("string"):
        assert _texts(looked, ahead) == _texts(whole, expected)
    else:
        assert ahead.tolist() == expected.tolist()


def _texts(columns: ComparedColumns, codes: Any) -> list[str | None]:
    return [columns.words.get(code) for code in codes[0].tolist()]
