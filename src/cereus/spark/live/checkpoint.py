"""Which queries made the state in a checkpoint: looked up before a streaming query starts.

Without this, a query that was changed runs until the first events come, and only then meets the
state of the other one (`bucket`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.errors import PySparkException

from cereus.spark.files import located
from cereus.spark.live.changed import changed
from cereus.spark.live.recipe import Recipe

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OPERATORS = "transformWithState"
"""What the names of Spark's operators with a state of our making begin with."""


@dataclass(frozen=True)
class StoredQuery:
    """The query of a piece of state."""

    fingerprint: str
    text: str
    carries: str | None


def stored_queries(session: SparkSession, checkpoint: str) -> list[StoredQuery]:
    """Those of a checkpoint; [] where there is no state yet, or where Spark cannot read it: then
    the first micro-batch finds out."""
    place = located(checkpoint)
    try:
        rows = session.read.format("state-metadata").load(place).collect()
    except PySparkException:
        return []
    ours = {row["operatorId"] for row in rows if row["operatorName"].startswith(OPERATORS)}
    return [query for number in sorted(ours) for query in _of_operator(session, place, number)]


def _of_operator(session: SparkSession, checkpoint: str, number: int) -> Iterator[StoredQuery]:
    """The query of any bucket: all of them take part in every micro-batch."""
    reader = session.read.format("statestore").option("operatorId", number)
    try:
        buckets = reader.option("stateVarName", "bucket").load(checkpoint)
        rows = buckets.select("value.description").limit(1).collect()
    except PySparkException:
        return  # the state of an operator that is not ours
    for row in rows:
        head = json.loads(row["description"])["head"]
        yield StoredQuery(head["fingerprint"], head["text"], head.get("carries"))


def refuse_changed(stored: Iterable[StoredQuery], recipe: Recipe) -> None:
    """Raise where a checkpoint has state, and none of it is of this query."""
    before = list(stored)
    known = any(
        each.fingerprint == recipe.fingerprint or recipe.keeps(each.carries) for each in before
    )
    if not before or known or recipe.on_change == "restart":
        return
    raise changed([each.text for each in before], recipe.text)
