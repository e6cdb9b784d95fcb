"""Which format of strptime a text is probably written in, for hints."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

DATES = ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%Y.%m.%d",
         "%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y", "%d/%b/%Y", "%d-%b-%Y",
         "%d.%m.%y", "%d/%m/%y", "%m/%d/%y")  # fmt: skip
HOURS = (" %H:%M:%S", " %H:%M", " %I:%M:%S %p", " %I:%M %p", ", %H:%M", ", %H:%M:%S",
         ":%H:%M:%S %z", ":%H:%M:%S", "T%H:%M:%S", "T%H:%M", "")  # fmt: skip
USUAL = "%d.%m.%Y %H:%M:%S"


def likely_formats(text: str) -> list[str]:
    """The formats that fit, at most two: of 03/04/2025 it is not known which is the month. If none
    fits, an example of a format."""
    return list(fitting_formats(text))[:2] or [USUAL]


def fitting_formats(text: str) -> Iterator[str]:
    text = text.strip()
    for each in (day + hour for day in DATES for hour in HOURS):
        try:
            datetime.strptime(text, each)
        except ValueError:
            continue
        yield each
