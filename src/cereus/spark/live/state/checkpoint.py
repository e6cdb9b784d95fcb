"""Finds which queries made the state in a checkpoint, and in which buckets, before a streaming
query starts.

Without this, a changed query runs until the first events come, and only then meets the state of the
other one (`bucket`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from cereus.errors import DataError
from cereus.spark.files import located, refused_directory
from cereus.spark.live.buckets import MOST_BUCKETS, ONLY
from cereus.spark.live.recipe import BUCKET
from cereus.spark.live.state.changed import changed
from cereus.spark.raised import BROKEN, cause

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

    from cereus.spark.live.stream import Live

OPERATORS = "transformWithState"
"""The beginning of the names of Spark's operators with our state."""


@dataclass(frozen=True)
class StoredQuery:
    """The query of an operator's state, and the buckets of this state."""

    fingerprint: str
    text: str
    carries: str | None
    buckets: tuple[int, ...]


def stored_queries(session: SparkSession, checkpoint: str | None) -> list[StoredQuery]:
    """The queries of a checkpoint; [] if there is no state yet."""
    if checkpoint is None:
        return []
    _check_place(session, checkpoint)
    with read_from(checkpoint):
        numbers = operators(session, checkpoint)
        return [each for n in numbers for each in _of_operator(session, located(checkpoint), n)]


def _check_place(session: SparkSession, checkpoint: str) -> None:
    """Refuse a checkpoint that cannot be written, where paths are those of this machine. Elsewhere
    Spark says it, when the streaming query starts."""
    local = str(session.conf.get("spark.master", "")).startswith("local")
    remote = "://" in checkpoint or session.conf.get("spark.hadoop.fs.defaultFS", None)
    refused = refused_directory(Path(checkpoint)) if local and not remote else None
    if refused is not None:
        message, hint = refused
        raise DataError(message, hint=hint)


@contextmanager
def read_from(checkpoint: str) -> Iterator[None]:
    """Turn errors of Java inside into errors about this checkpoint."""
    try:
        yield
    except Py4JError as error:
        raise _unreadable(checkpoint, cause(error)) from error


def _unreadable(checkpoint: str, why: str) -> DataError:
    return DataError(f"the checkpoint {checkpoint!r} cannot be read: {why}", hint=BROKEN)


def operators(session: SparkSession, checkpoint: str) -> list[int]:
    """The numbers of the operators with our state; [] if Spark says that there are none that it can
    read: then the first micro-batch finds out."""
    place = located(checkpoint)
    rows: list[Row] = []
    with suppress(PySparkException):
        rows = session.read.format("state-metadata").load(place).collect()
    if not rows and _has_operators(Path(place)):  # Spark 4.1 and Spark Connect do not say so
        raise _unreadable(checkpoint, "Spark does not find the operators that are described there")
    return sorted({row["operatorId"] for row in rows if row["operatorName"].startswith(OPERATORS)})


def _has_operators(place: Path) -> bool:
    """Whether the checkpoint is on this machine, and has micro-batches and operators."""
    described = place.glob("state/*/_metadata/**/*")
    return any(place.glob("commits/[0-9]*")) and any(each.is_file() for each in described)


def _of_operator(session: SparkSession, checkpoint: str, number: int) -> Iterator[StoredQuery]:
    """The query of an operator. All buckets take part in every micro-batch, so any of them has
    it."""
    reader = session.read.format("statestore").option("operatorId", number)
    try:
        variable = reader.option("stateVarName", "bucket").load(checkpoint)
        rows = variable.select(f"key.{BUCKET}", "value.description").collect()
    except PySparkException:
        return  # the state of an operator that is not ours
    if rows:
        head = json.loads(rows[0]["description"])["head"]
        buckets = tuple(sorted(row[BUCKET] for row in rows))
        yield StoredQuery(head["fingerprint"], head["text"], head.get("carries"), buckets)


def going_on(live: Live, stored: Iterable[StoredQuery], *, fixed: bool) -> Live:
    """The query with the buckets of its state, unless these are `fixed`. It is an error if a
    checkpoint has state, and none of it is of this query."""
    before = list(stored)
    if not before:
        return live
    for each in before:
        for buckets in [live.buckets] if fixed else _possible(live.buckets, each.buckets):
            candidate = replace(live, buckets=buckets)
            recipe = candidate.recipe
            if each.fingerprint == recipe.fingerprint or recipe.keeps(each.carries):
                return candidate
    if live.on_change != "restart":
        raise changed([each.text for each in before], live.query.text, live.on_change)
    known = {each.buckets for each in before}
    return live if fixed or len(known) > 1 else replace(live, buckets=known.pop())


def _possible(default: tuple[int, ...], stored: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The possible buckets of a piece of state. A stream without keys has one, whatever number was
    given; but the given number is part of the identity of its state."""
    numbers = range(1, MOST_BUCKETS + 1) if stored == ONLY else []
    return [default, stored, *(tuple(range(number)) for number in numbers)]
