"""Counts matches in ranges of one length, which begin at round numbers or times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from math import floor, isfinite, log10

MOST = 60
"""The most ranges from the first match to the last."""
SECOND, MINUTE, HOUR, DAY = 1_000, 60_000, 3_600_000, 86_400_000
ROUND_TIMES = (
    *(each * 10**power for power in range(3) for each in (1, 2, 5)),
    *(each * SECOND for each in (1, 2, 5, 10, 15, 30)),
    *(each * MINUTE for each in (1, 2, 5, 10, 15, 30)),
    *(each * HOUR for each in (1, 2, 3, 6, 12)),
    *(each * DAY for each in (1, 2, 7, 14, 28)),
)
"""Round lengths in milliseconds. Longer ones are round numbers of days."""


@dataclass(frozen=True)
class CountedStretch:
    """From `begin` on, to before `end`."""

    begin: float
    end: float
    count: int


def stretches(values: Iterable[float | None], *, timed: bool) -> list[CountedStretch]:
    """The ranges that have a match, in their order; times are in milliseconds."""
    known = [each for each in values if each is not None and isfinite(each)]
    if not known:
        return []
    apart = max(known) - min(known)
    lengths = _lengths_of_time() if timed else _lengths(_least_power(known, apart))
    length = next(each for each in lengths if apart <= each * MOST)
    counts = Counter(
        each // length if isinstance(each, int) else floor(each / length) for each in known
    )
    return [
        CountedStretch(at * length, (at + 1) * length, number)
        for at, number in sorted(counts.items())
    ]


def _least_power(values: list[float], apart: float) -> int:
    """The smallest power of ten for a length: no range of whole numbers is shorter than 1."""
    if apart == 0 or all(each == int(each) for each in values):
        return 0
    return floor(log10(apart / MOST))


def _lengths(power: int = 0) -> Iterator[float]:
    return (
        each * 10**more if more >= 0 else each / 10**-more
        for more in count(power)
        for each in (1, 2, 5)
    )


def _lengths_of_time() -> Iterator[float]:
    yield from ROUND_TIMES
    yield from (each * DAY for each in _lengths() if each * DAY > ROUND_TIMES[-1])
