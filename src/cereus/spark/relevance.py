"""A Spark filter for the events that can matter at all. It is applied before the shuffle, so that
Catalyst can move it into the scan."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import reduce

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import StructType

from cereus.expr import tree as ex
from cereus.expr.check import coerce
from cereus.plan.plan import Plan
from cereus.plan.tests import EventTest, conditions_of
from cereus.spark.expr.evaluate import column
from cereus.spark.quoting import quoted
from cereus.spark.schemas import arrow_schema
from cereus.stream import Stream


def streams_of(plan: Plan) -> Column | None:
    """The filter for events of the streams in FROM; others are not part of the stream at all."""
    name = plan.stream.stream
    if name is None or not plan.query.streams:
        return None
    return quoted((name,)).isin(*plan.query.streams)


def where(stream: Stream, schema: StructType) -> Column | None:
    """The filter for events that satisfy the condition of the stream; others are not part of it at
    all."""
    condition = stream.condition
    if condition is None:
        return None
    return column(coerce(condition, arrow_schema(schema)), schema)


def relevant(plan: Plan, schema: StructType) -> Column | None:
    """The filter for events that pass some test of the pattern; None if every event counts."""
    if plan.traits.position_sensitive:
        return None
    return passing(plan.tests, plan.stream, schema)


def passing(tests: Sequence[EventTest], stream: Stream, schema: StructType) -> Column | None:
    """The filter for events that pass one of the tests; None if every event does."""
    filters = [_filter_of(test, stream, schema) for test in tests]
    possible = [each for each in filters if each is not None]
    return reduce(operator.or_, possible) if possible and len(possible) == len(filters) else None


def types_of(tests: Sequence[EventTest], stream: Stream) -> set[str] | None:
    """The types of all events that pass one of the tests; None if it may be any."""
    types = {None if test.negated or stream.type is None else test.type for test in tests}
    return {name for name in types if name is not None} if None not in types else None


def _filter_of(test: EventTest, stream: Stream, schema: StructType) -> Column | None:
    """A test as a column; None if all events pass it."""
    conditions = conditions_of(test, stream)
    if not conditions:
        return F.lit(False) if test.negated else None
    condition = column(conditions[0] if len(conditions) == 1 else ex.And(conditions), schema)
    return ~F.coalesce(condition, F.lit(False)) if test.negated else condition
