"""Chooses the buckets: numbers that Spark distributes evenly over the tasks.

A bucket is a key of Spark's stateful operator, and the hash of its number decides which task it is
in. So the numbers are chosen such that every task gets the same number of buckets: one each is
enough, and every further bucket costs some messages to the state store in every micro-batch.
"""

from __future__ import annotations

from collections import Counter
from itertools import count, islice
from typing import TYPE_CHECKING

from cereus.errors import CereusError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

MOST_BUCKETS = 32
"""The most buckets, unless the user wants more."""
LARGEST = 1 << 15
ONLY = (0,)
"""The bucket of a stream without keys."""
SEED = 42
"""The seed of the hash by which Spark distributes rows."""


def buckets_for(spark: SparkSession, number: int | None) -> tuple[int, ...]:
    """The buckets of a new stream: as many as the user wants, or one for each task."""
    if number is not None:
        return _asked_for(number)
    tasks = int(spark.conf.get("spark.sql.shuffle.partitions") or MOST_BUCKETS)
    return tuple(range(MOST_BUCKETS)) if tasks >= MOST_BUCKETS else one_for_each(tasks)


def _asked_for(number: int) -> tuple[int, ...]:
    if not 0 < number <= LARGEST:
        raise CereusError(
            f"buckets={number!r} is not from 1 to {LARGEST}",
            hint="write a whole number, or leave it out",
        )
    return tuple(range(number))


def identity_of(buckets: tuple[int, ...]) -> int | tuple[int, ...]:
    """The identity of the buckets of a stream in its state: the first states had a number."""
    return len(buckets) if buckets == tuple(range(len(buckets))) else buckets


def one_for_each(tasks: int) -> tuple[int, ...]:
    """The smallest numbers such that every task gets one; 0 is the first."""
    return tuple(islice(_spread(tasks), tasks))


def _spread(tasks: int) -> Iterator[int]:
    taken: Counter[int] = Counter()
    for number in count():
        task = task_of(number, tasks)
        if not taken[task]:
            taken[task] += 1
            yield number


def task_of(number: int, tasks: int) -> int:
    """The task to which Spark gives the rows of a bucket: Murmur3 of its 32 bits."""
    mixed = _times(_turned(_times(number, 0xCC9E2D51), 15), 0x1B873593)
    mixed = (_times(_turned(SEED ^ mixed, 13), 5) + 0xE6546B64) & 0xFFFFFFFF
    mixed ^= 4  # bytes
    mixed = _times(mixed ^ mixed >> 16, 0x85EBCA6B)
    mixed = _times(mixed ^ mixed >> 13, 0xC2B2AE35)
    mixed ^= mixed >> 16
    signed = mixed - (1 << 32) if mixed >> 31 else mixed
    return signed % tasks


def _times(one: int, other: int) -> int:
    return one * other & 0xFFFFFFFF


def _turned(bits: int, by: int) -> int:
    return (bits << by | bits >> 32 - by) & 0xFFFFFFFF
