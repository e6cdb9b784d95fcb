"""Independent pieces of work, for one thread or for several."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol, TypeVar

Made = TypeVar("Made")


class Spread(Protocol):
    """The base of what runs work: `threads` threads at once."""

    @property
    def threads(self) -> int: ...

    def map(self, work: Callable[..., Made], *parts: Iterable[Any]) -> list[Made]:
        """Call the work for each part, and return the results in their order."""


class OneThread:
    """The calling thread alone."""

    threads = 1

    def map(self, work: Callable[..., Made], *parts: Iterable[Any]) -> list[Made]:
        return list(map(work, *parts))


ALONE = OneThread()


def cuts(size: int, number: int, least: int) -> list[tuple[int, int]]:
    """Ranges of rows: this many, unless they would be too small."""
    parts = max(1, min(number, size // least))
    ends = [size * (part + 1) // parts for part in range(parts)]
    return list(zip([0, *ends[:-1]], ends, strict=True))
