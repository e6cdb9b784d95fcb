"""Kinds of events: conditions part them, and there are never more of them than events."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

import cereus
from cereus.expr.text import parse_condition
from cereus.stream import Stream
from cereus.why.running.tested import TestedEvents


def test_kinds_without_events_are_dropped_as_conditions_come() -> None:
    table = pa.table({"type": [f"T{n}" for n in range(40)], "x": range(40)})
    tested = TestedEvents(table, Stream(), ())
    first = tested.satisfying(parse_condition("x > 20")).copy()
    for n in range(80):
        chosen = tested.satisfying(parse_condition(f"x = {n}"))
        assert tested.places(chosen).tolist() == ([n] if n < 40 else [])
    assert tested.kinds.max() < len(table) and tested.kinds.dtype == np.int32
    assert tested.places(tested.grown(first)).tolist() == list(range(21, 40))


def test_why_of_many_types_in_any_order_takes_little() -> None:
    names = [f"T{n}" for n in range(60)]
    query = cereus.compile("SELECT * WHERE " + " AND ".join(names))
    answer = query.why(pa.table({"type": names[:-1] * 3}))
    assert "T59" in str(answer)
