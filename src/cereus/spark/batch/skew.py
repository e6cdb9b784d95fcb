"""Finds keys that have most of the events, to cut them by time.

A key is matched in one task, so a run takes as long as its longest key. Cutting has a cost: one
event in eight is read twice. So it is worth it where one core would be busy with a key for longer
than all cores are with everything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import and_, or_
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F  # noqa: N812

from cereus.spark.batch import inspecting
from cereus.spark.quoting import quoted
from cereus.spark.schemas import Path

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

SMALL = 64 << 20
"""The bytes up to which an input is matched as it is. A larger input is examined, and cut if the
part that can matter is larger than this."""
PAYS = 1.5
"""A key is long if it has this many times the events that each core would get."""
FEWEST = 1000
"""The least rows of a sample that is worth something."""
MOST = 64
"""The most keys that are cut: more of them keep all cores busy without cutting."""
SLICES = 256
"""The most slices for each core, if windows are short: tasks then get about the same work, and
slices cost little."""


@dataclass(frozen=True)
class LongKeys:
    """Keys that have most of the events, by the values of the key columns.

    length  how long slices of them may be, so that there are enough of them for all cores
    """

    keys: tuple[Path, ...]
    values: tuple[tuple[Any, ...], ...]
    share: float
    sampled: int
    length: float = 0.0

    @property
    def condition(self) -> Column:
        """The condition for events of these keys."""
        return reduce(or_, (self._is(each) for each in self.values))

    def _is(self, values: tuple[Any, ...]) -> Column:
        pairs = zip(self.keys, values, strict=True)
        return reduce(and_, (quoted(path).eqNullSafe(F.lit(value)) for path, value in pairs))

    @property
    def text(self) -> str:
        """`2 keys have 91 % of a sample of 60,000 events`"""
        have = "1 key has" if len(self.values) == 1 else f"{len(self.values)} keys have"
        return f"{have} {self.share:.0%} of a sample of {self.sampled:,} events"


def long_keys(
    df: DataFrame,
    keys: Sequence[Path],
    measure: Column,
    filters: Sequence[Column],
    parallelism: int | None,
) -> LongKeys | str:
    """The keys to cut by a measure, or why none is. Only a sample is read, and only of large
    inputs; only events that pass the filters count."""
    size = inspecting.size_of(df)
    if size is None:
        return "how the keys lie is not known with Spark Connect"
    cores = min(inspecting.cores_of(df), parallelism or MOST)
    if cores == 1 or size < SMALL:
        return "there is one core" if cores == 1 else f"the input is small, {size >> 20} MB"
    passes = F.coalesce(reduce(and_, filters, F.lit(True)), F.lit(False))
    rows = inspecting.sample_of(df, [*map(quoted, keys), measure, passes])
    if rows is None:
        return "what is read is the result of a shuffle, which a sample would compute twice"
    passing = [row for row in rows if row[-1]]
    if len(passing) * size < SMALL * len(rows):
        share = len(passing) / len(rows)
        return f"only {share:.0%} of a sample of {len(rows):,} events can matter"
    counted = passing if len(passing) >= FEWEST else rows
    long = chosen([row[:-2] for row in counted], tuple(keys), cores)
    if isinstance(long, str):
        return long
    return replace(long, length=_span([row[-2] for row in rows]) / (cores * SLICES))


def _span(measures: Sequence[float | None]) -> float:
    known = [each for each in measures if each is not None and each == each]
    return float(max(known) - min(known)) if known else 0.0


def chosen(rows: Sequence[tuple[Any, ...]], keys: tuple[Path, ...], cores: int) -> LongKeys | str:
    """The long keys of a sample."""
    if len(rows) < FEWEST:
        return f"a sample of {len(rows):,} events says nothing"
    counts = Counter(row for row in rows if all(value == value for value in row))
    long = [(key, n) for key, n in counts.most_common(MOST) if n * cores > PAYS * len(rows)]
    if not long:
        largest = counts.most_common(1)[0][1] / len(rows) if counts else 0.0
        return f"no key has more than {largest:.0%} of a sample of {len(rows):,} events"
    share = sum(n for _, n in long) / len(rows)
    return LongKeys(keys, tuple(key for key, _ in long), share, len(rows))
