"""What a run finds out about its automata is there for the next run of the query."""

from __future__ import annotations

import pyarrow as pa
import pytest

import cereus
from cereus.engine.match.table import TransitionTable
from cereus.stream import Stream

EVENTS = pa.table({"type": list("AABBACB"), "ts": pa.array(range(7), pa.timestamp("s"))})


@pytest.mark.parametrize("select", ["*", "MAX *", "MAX a, b"])
def test_the_second_run_explores_nothing(select: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """MAX under a window is decided by tables of its own, one for each state it begins in."""
    expanded, usual = [], TransitionTable.expand
    monkeypatch.setattr(
        TransitionTable, "expand", lambda self, *of: expanded.append(of) or usual(self, *of)
    )
    text = f"SELECT {select} WHERE A AS a ; B+ AS b ; C AS c WITHIN 5 seconds"
    query = cereus.compile(text, stream=Stream(time="ts"), schema=EVENTS.schema)
    first = sorted(query.run(EVENTS).table.to_pylist(), key=repr)
    assert expanded
    expanded.clear()
    assert sorted(query.run(EVENTS).table.to_pylist(), key=repr) == first
    assert not expanded
