"""Tables of events, the ways to run a query over one, and what each atom says of a row."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

import cereus
from cereus.expr.tree import Expression
from cereus.reference.conditions import holds

Row = dict[str, Any]

SCHEMA = pa.schema(
    [
        pa.field("type", pa.string()),
        pa.field("v", pa.int64()),
        pa.field("w", pa.string()),
        pa.field("t", pa.int64()),
        pa.field("k", pa.string()),
    ]
)


def rows(types: str, most: int = 14) -> st.SearchStrategy[list[Row]]:
    """Rows whose times only go forward, and now and then stand still."""
    row = st.fixed_dictionaries(
        {
            "type": st.sampled_from([*types, "other", None]),
            "v": st.sampled_from([0, 1, 2, 3, None]),
            "w": st.sampled_from(["x", "y", None]),
            "step": st.sampled_from([0, 1, 1, 1, 2, 5]),
            "k": st.sampled_from(["k1", "k2", None]),
        }
    )
    return st.lists(row, max_size=most).map(_timed)


def _timed(found: list[Row]) -> list[Row]:
    time, timed = -3, []
    for row in found:
        time += row["step"]
        timed.append({**{n: v for n, v in row.items() if n != "step"}, "t": time})
    return timed


def table(found: Sequence[Row]) -> pa.Table:
    return pa.Table.from_pylist(list(found), schema=SCHEMA)


def satisfies(row: Row, type_: str | None, condition: Expression | None) -> bool:
    if type_ is not None and row["type"] != type_:
        return False
    return condition is None or holds(condition, row)


def by_key(found: Sequence[Row], keyed: bool) -> list[list[int]]:
    """The row numbers of each substream."""
    groups: dict[Any, list[int]] = {}
    for number, row in enumerate(found):
        groups.setdefault(row["k"] if keyed else None, []).append(number)
    return list(groups.values())


def in_pieces(query: cereus.Query, events: pa.Table, cuts: list[int]) -> list[Row]:
    """All results, pushed in pieces, with a snapshot taken and restored after each."""
    recognizer = query.recognizer(schema=events.schema)
    found: list[Row] = []
    places = sorted({0, *(cut % (events.num_rows + 1) for cut in cuts), events.num_rows})
    for begin, end in pairwise(places):
        found += recognizer.push(events.slice(begin, end - begin))
        recognizer = query.restore(recognizer.snapshot())
    return found + list(recognizer.finish())


cuts = st.lists(st.integers(0, 20), max_size=4)
