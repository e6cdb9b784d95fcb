"""Remembers which alerts were sent lately, so that one key does not send the same one again and
again."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from cereus.errors import DataError

MOST_AGAIN = 10_000
"""How many of the last alerts are remembered in any case: a micro-batch may run again."""


@dataclass
class RecentAlerts:
    """The times of the alerts of every identity. One that is within `span` of another, by the
    times of the matches, is not due. `file` remembers them from one run to the next."""

    span: timedelta
    time: str = "end_time"
    file: Path | None = None
    _sent: dict[str, list[datetime]] = field(default_factory=lambda: defaultdict(list))

    def __post_init__(self) -> None:
        if self.file is None or not self.file.exists():
            return
        lines = self.file.read_text(encoding="utf-8").splitlines()
        noted = [(each["key"], _instant(each["time"])) for each in map(json.loads, lines)]
        kept = self._still_near(noted)
        for key, when in kept:
            self._sent[key].append(when)
        begun = self.file.with_name(f".{self.file.name}")
        begun.write_text("".join(_line(key, when) for key, when in kept), encoding="utf-8")
        begun.replace(self.file)

    def is_due(self, key: str, row: Mapping[str, Any]) -> bool:
        when = self._time(row)
        return all(abs(when - other) >= self.span for other in self._sent.get(key, ()))

    def note(self, key: str, row: Mapping[str, Any]) -> None:
        """Note that an alert was taken by its receiver."""
        when = self._time(row)
        self._sent[key].append(when)
        if self.file is not None:
            with self.file.open("a", encoding="utf-8") as file:
                file.write(_line(key, when))

    def _still_near(self, noted: list[tuple[str, datetime]]) -> list[tuple[str, datetime]]:
        """The alerts that a later one may be near, and those noted last: a micro-batch may come
        again."""
        newest = max((when for _, when in noted), default=None)
        old = len(noted) - MOST_AGAIN
        return [
            (key, when)
            for place, (key, when) in enumerate(noted)
            if place >= old or newest is None or newest - when < self.span
        ]

    def _time(self, row: Mapping[str, Any]) -> datetime:
        value = row.get(self.time)
        if not isinstance(value, datetime):
            raise DataError(
                f"alerts are told apart by time, and {self.time!r} is {value!r}",
                hint="name the column with the timestamp of a match: time = …",
            )
        return value


def _line(key: str, when: datetime) -> str:
    return json.dumps({"key": key, "time": when.isoformat()}) + "\n"


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text)
