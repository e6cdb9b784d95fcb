"""Finds out about a DataFrame before it runs: how large it is, how its rows lie, and a sample.

All of it comes from Spark's plan in the JVM. Spark Connect does not show the plan: there nothing is
known, and rows are arranged accordingly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from cereus.spark.schemas import Path

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

NARROW = frozenset(
    {
        "AdaptiveSparkPlanExec",
        "ColumnarToRowExec",
        "FilterExec",
        "InputAdapter",
        "ProjectExec",
        "SortExec",
        "WholeStageCodegenExec",
    }
)
"""Operators that leave every row in its partition."""
CHOSEN = frozenset({"REPARTITION_BY_COL", "REPARTITION_BY_NUM"})
"""Shuffles that a user asked for: adaptive execution does not split their keys."""
PARTITIONS, ROWS = 16, 4096
"""A sample has at most this many partitions, and this many rows of each."""


def size_of(df: DataFrame) -> int | None:
    """The bytes of the input, as Spark estimates them without reading it."""
    plan = _execution(df)
    return None if plan is None else int(str(plan.optimizedPlan().stats().sizeInBytes()))


def sample_of(df: DataFrame, columns: Sequence[Column]) -> list[tuple[Any, ...]] | None:
    """Some rows from all over the input: the first ones of some partitions. None if more than these
    would have to be read or computed."""
    plan = _execution(df)
    if plan is None or "Exchange" in plan.executedPlan().toString():
        return None
    named = [column.alias(str(place)) for place, column in enumerate(columns)]
    rows = _first_of_partitions(df.select(*named), ROWS).rdd
    count = rows.getNumPartitions()
    chosen = sorted({place * count // PARTITIONS for place in range(PARTITIONS)} if count else ())
    return [tuple(row) for row in df.sparkSession.sparkContext.runJob(rows, list, chosen)]


def _first_of_partitions(df: DataFrame, rows: int) -> DataFrame:
    """The first rows of every partition. Stopping in Python would not be enough: the JVM would
    still read the partition to its end."""
    jvm: Any = df.sparkSession._jvm
    limit = df.limit(rows)._jdf.queryExecution().analyzed()  # of all partitions, over one of each
    made = jvm.org.apache.spark.sql.classic.Dataset.ofRows(df._jdf.sparkSession(), limit.child())
    return type(df)(made, df.sparkSession)


def cores_of(df: DataFrame) -> int:
    """How many tasks run at a time."""
    return 1 if _execution(df) is None else df.sparkSession.sparkContext.defaultParallelism


def lies_together(df: DataFrame, keys: Sequence[Path]) -> bool:
    """Whether the rows of a key are in one partition already, because a user repartitioned by
    it."""
    plan = _execution(df)
    if plan is None or any(len(path) > 1 for path in keys):
        return False
    node = plan.executedPlan()
    ids = _ids(node, {path[0] for path in keys})
    while _name(node) in NARROW:
        node = _below(node)
    if _name(node) != "ShuffleExchangeExec" or node.shuffleOrigin().toString() not in CHOSEN:
        return False
    spread = node.outputPartitioning()
    if _name(spread) != "HashPartitioning":
        return False
    by = [_id(each) for each in _each(spread.expressions())]
    return bool(by) and None not in by and set(by) <= ids


def is_bucketed(df: DataFrame) -> bool:
    """Whether the rows are of a table that was written in buckets."""
    plan = _execution(df)
    if plan is None:
        return False
    leaves = _each(plan.optimizedPlan().collectLeaves())
    relations = [each.relation() for each in leaves if _name(each) == "LogicalRelation"]
    specs = [each.bucketSpec() for each in relations if _name(each) == "HadoopFsRelation"]
    return any(each.isDefined() for each in specs)


def shuffles(df: DataFrame) -> bool:
    """Whether the plan of a DataFrame has a shuffle."""
    plan = _execution(df)
    return plan is None or "Exchange" in plan.executedPlan().toString()


# ---------------------------------------------------------------- the JVM


def _execution(df: DataFrame) -> Any:
    """Spark's `QueryExecution`; None with Spark Connect."""
    frame = getattr(df, "_jdf", None)
    return None if frame is None else frame.queryExecution()


def _name(node: Any) -> str:
    return str(node.getClass().getSimpleName())


def _below(node: Any) -> Any:
    if _name(node) == "AdaptiveSparkPlanExec":
        return node.inputPlan()
    return node.children().apply(0)


def _each(sequence: Any) -> Iterator[Any]:
    return (sequence.apply(place) for place in range(sequence.size()))


def _ids(node: Any, names: set[str]) -> set[int]:
    """The columns of these names, as Spark numbers them."""
    output = _each(node.output())
    return {number for each in output if each.name() in names and (number := _id(each))}


def _id(expression: Any) -> int | None:
    if _name(expression) != "AttributeReference":
        return None
    return int(expression.exprId().id())
