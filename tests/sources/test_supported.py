"""Arrow's newer layouts are read as the plain ones, wherever they stand."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import cereus
from cereus.sources.supported import supported_type

INSIDE = {
    "a list": (pa.list_(pa.string_view()), [["a" * 20], None, ["b", None]]),
    "a large list": (pa.large_list(pa.binary_view()), [[b"a" * 20], None, []]),
    "a view of a list": (pa.list_view(pa.string_view()), [["a" * 20], None, ["b", None]]),
    "a list of two": (pa.list_(pa.float16(), 2), [[1.5, 2.5], None, [0.0, 1.0]]),
    "a list of lists": (pa.list_(pa.list_(pa.string_view())), [[["a"], None], None, []]),
    "a struct in a list": (
        pa.list_(pa.struct([("t", pa.string_view())])),
        [[{"t": "a"}], None, [None]],
    ),
    "a map": (pa.map_(pa.string_view(), pa.float16()), [[("a", 1.5)], None, []]),
}


@pytest.mark.parametrize("name", INSIDE)
def test_layouts_inside_others_have_their_values(name: str) -> None:
    """Arrow cannot take single rows of a list of views: that escaped as an error of Arrow's."""
    kind, values = INSIDE[name]
    events = pa.table({"type": ["A", "B", "A"], "v": pa.array(values, kind)})
    query = cereus.compile("SELECT * WHERE A AS a ; B AS b")
    rows: list[dict[str, Any]] = query.run(events).events().to_pylist()
    assert [row["v"] for row in rows] == [values[0], values[1]]


@pytest.mark.parametrize("kind", [pa.list_(pa.int64()), pa.map_(pa.string(), pa.int64())])
def test_plain_types_stay_as_they_are(kind: pa.DataType) -> None:
    assert supported_type(kind) == kind


def test_a_union_inside_a_list_has_its_values() -> None:
    union = pa.UnionArray.from_sparse(
        pa.array([0, 1, 0], pa.int8()), [pa.array([1, 2, 3]), pa.array(["x", "y", "z"])]
    )
    lists = pa.ListArray.from_arrays(pa.array([0, 1, 2, 3], pa.int32()), union)
    events = pa.table({"type": ["A", "B", "A"], "v": lists})
    query = cereus.compile("SELECT * WHERE A AS a ; B AS b")
    assert query.run(events).events().column("v").to_pylist() == [[1], ["y"]]
