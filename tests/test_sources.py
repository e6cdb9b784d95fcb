"""Events that cannot be read are an error of Cereus, whatever they come in."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import cereus
from cereus import Stream
from cereus.errors import DataError

TEXT = "SELECT * FROM S WHERE A ; B"
EVENTS = pa.table({"type": ["A", "B"], "ts": [1, 2], "n": [1, 2]})
OTHER = EVENTS.set_column(2, "n", pa.array(["a", "b"]))


@pytest.mark.parametrize(
    "data",
    [
        [{"type": "A", "ts": 1}, {"type": "B", "ts": "x"}],
        {"type": ["A", "B"], "ts": [1]},
        pa.array([1, 2]),
    ],
)
def test_what_is_not_a_table_is_said_to_be_unreadable(data: Any) -> None:
    with pytest.raises(DataError, match="cannot read the events"):
        cereus.compile(TEXT, stream=Stream(type="type", time="ts")).run(data)


@pytest.mark.parametrize(
    ("time", "parts", "said"),
    [
        ("tz", {"S": EVENTS}, "the time column 'tz' is not in the events"),
        ("ts", {"S": EVENTS, "R": OTHER}, "the streams cannot be put together"),
    ],
)
def test_streams_that_do_not_fit_together(time: str, parts: dict[str, pa.Table], said: str) -> None:
    query = cereus.compile(TEXT, stream=Stream(type="type", time=time, stream="s"))
    with pytest.raises(DataError, match=said):
        query.run(parts)


def test_a_pushed_event_of_another_type_is_refused() -> None:
    recognizer = cereus.compile(TEXT, stream=Stream(type="type", time="ts")).recognizer()
    recognizer.push([{"type": "A", "ts": 1}])
    with pytest.raises(DataError, match="cannot read the events"):
        recognizer.push([{"type": "B", "ts": "x"}])
