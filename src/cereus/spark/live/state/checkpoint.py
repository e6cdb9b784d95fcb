"""Which queries made the state in a checkpoint, and in which buckets: looked up before a streaming
query starts.

Without this, a query that was changed runs until the first events come, and only then meets the
state of the other one (`bucket`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from cereus.errors import DataError
from cereus.spark.files import located
from cereus.spark.live.buckets import MOST_BUCKETS, ONLY
from cereus.spark.live.recipe import BUCKET
from cereus.spark.live.state.changed import changed
from cereus.spark.raised import BROKEN, cause

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from cereus.spark.live.stream import Live

OPERATORS = "transformWithState"
"""What the names of Spark's operators with a state of our making begin with."""


@dataclass(frozen=True)
class StoredQuery:
    """The query of the state of an operator, and the buckets that this is in."""

    fingerprint: str
    text: str
    carries: str | None
    buckets: tuple[int, ...]


def stored_queries(session: SparkSession, checkpoint: str | None) -> list[StoredQuery]:
    """Those of a checkpoint; [] where there is no state yet, or where Spark says that there is none
    that it can read: then the first micro-batch finds out."""
    if checkpoint is None:
        return []
    with read_from(checkpoint):
        return list(_of_checkpoint(session, located(checkpoint)))


@contextmanager
def read_from(checkpoint: str) -> Iterator[None]:
    """Errors of Java in here are about this checkpoint."""
    try:
        yield
    except Py4JError as error:
        raise DataError(
            f"the checkpoint {checkpoint!r} cannot be read: {cause(error)}", hint=BROKEN
        ) from error


def _of_checkpoint(session: SparkSession, place: str) -> Iterator[StoredQuery]:
    try:
        rows = session.read.format("state-metadata").load(place).collect()
    except PySparkException:
        return
    ours = {row["operatorId"] for row in rows if row["operatorName"].startswith(OPERATORS)}
    for number in sorted(ours):
        yield from _of_operator(session, place, number)


def _of_operator(session: SparkSession, checkpoint: str, number: int) -> Iterator[StoredQuery]:
    """All buckets take part in every micro-batch, so any of them tells the query."""
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
    """The query with the buckets of its state, unless these are `fixed`. It is an error where a
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
        raise changed([each.text for each in before], live.query.text)
    known = {each.buckets for each in before}
    return live if fixed or len(known) > 1 else replace(live, buckets=known.pop())


def _possible(default: tuple[int, ...], stored: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The buckets of a piece of state. A stream without keys has one, whatever it was told to have,
    and what it was told is part of what its state is known by."""
    numbers = range(1, MOST_BUCKETS + 1) if stored == ONLY else []
    return [default, stored, *(tuple(range(number)) for number in numbers)]
