"""Spark gives the values of the engine, whatever the session's time zone."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from cereus.expr import tree as ex
from cereus.expr.arrow import evaluate as engine
from cereus.reference.conditions import normal

from . import strategies as random_
from .examples import EXAMPLES, lit, op
from .test_differential import listed, same

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark
EXPRESSIONS, ROWS = 40, 200


class Dice(random_.Growth):
    """Growth by a seeded generator, for a sample that is the same in every run."""

    def __init__(self, seed: int, depth: int) -> None:
        self.random = random.Random(seed)
        self.depth = depth

    def pick(self, options: Sequence[Any]) -> Any:
        return self.random.choice(options)


@pytest.fixture(params=["UTC", "America/New_York"])
def zoned(spark: SparkSession, request: pytest.FixtureRequest) -> Iterator[SparkSession]:
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", request.param)
    yield spark
    spark.conf.set("spark.sql.session.timeZone", str(before))


def random_table() -> pa.Table:
    pick = random.Random(7).choice
    names = random_.POOLS.items()
    records = [{name: pick((None, *pool, *pool)) for name, pool in names} for _ in range(ROWS)]
    return random_.table_of(records, encoded=False)


def frame(spark: SparkSession, table: pa.Table) -> DataFrame:
    """The table in Spark, with timestamps without a zone kept so."""
    from pyspark.sql import functions as F  # noqa: N812

    zoneless = [f.name for f in table.schema if f.type == pa.timestamp("us")]
    as_text = table
    for name in zoneless:
        texts = table[name].cast(pa.string())
        as_text = as_text.set_column(as_text.schema.get_field_index(name), name, texts)
    loaded = spark.createDataFrame(as_text)
    return loaded.withColumns({name: F.col(name).cast("timestamp_ntz") for name in zoneless})


def computed(events: DataFrame, expressions: Sequence[ex.Expression]) -> list[list[Any]]:
    """The values of each expression, all in one select."""
    from cereus.spark.expr.evaluate import column

    columns = [column(each, events.schema).alias(f"c{i}") for i, each in enumerate(expressions)]
    found = events.select(*columns).toArrow()
    return [[normal(value) for value in found[f"c{i}"].to_pylist()] for i in range(len(columns))]


@pytest.mark.parametrize("zoned", ["America/New_York"], indirect=True)
def test_spark_gives_the_values_of_the_engine(zoned: SparkSession) -> None:
    table = random_table()
    events = frame(zoned, table)
    assert events.schema["ts"].dataType.simpleString() == "timestamp_ntz"
    expressions = [Dice(seed, 1 + seed % 4).anything() for seed in range(EXPRESSIONS)]
    for expression, found in zip(expressions, computed(events, expressions), strict=True):
        expected = listed(engine.evaluate(expression, table), ROWS)
        for row, (theirs, ours) in enumerate(zip(found, expected, strict=True)):
            assert same(theirs, ours), (expression, table.slice(row, 1).to_pylist(), theirs, ours)


def test_spark_gives_the_worked_examples(zoned: SparkSession) -> None:
    found = computed(zoned.range(1), [expression for expression, _ in EXAMPLES.values()])
    for (name, (_, expected)), (value,) in zip(EXAMPLES.items(), found, strict=True):
        if isinstance(expected, float) and isinstance(value, float | int):
            assert value == pytest.approx(expected, nan_ok=True), name
        else:
            assert value == expected, name


PRICE, SYMBOL, MOMENT = (ex.Attribute((name,)) for name in ("price", "symbol", "ts"))


@pytest.fixture(scope="module")
def trades(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    path = str(tmp_path_factory.mktemp("trades") / "events.parquet")
    rows = {
        "price": [1.0, float("nan"), 20.0],
        "symbol": ["A", "B", None],
        "ts": pa.array([datetime(2024, 1, day) for day in (1, 2, 3)], pa.timestamp("us", "UTC")),
    }
    spark.createDataFrame(pa.table(rows)).write.parquet(path)
    return spark.read.parquet(path)


@pytest.mark.parametrize(
    ("condition", "pushed"),
    [
        (op(PRICE, "<", 10), "LessThan(price,10.0)"),
        (op(PRICE, ">", 10), "GreaterThan(price,10.0)"),
        (op(PRICE, "=", 10), "EqualTo(price,10.0)"),
        (op(SYMBOL, "=", "A"), "EqualTo(symbol,A)"),
        (ex.In(SYMBOL, (lit("A"), lit("B"))), "In(symbol, [A,B])"),
        (ex.Like(SYMBOL, "A%"), "StringStartsWith(symbol,A)"),
        (op(MOMENT, ">=", datetime(2024, 1, 2)), "GreaterThanOrEqual(ts,2024-01-02"),
    ],
)
def test_plain_comparisons_reach_the_scan(
    trades: DataFrame,
    condition: ex.Expression,
    pushed: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from cereus.spark.expr.evaluate import column

    trades.filter(column(condition, trades.schema)).explain()
    plan = capsys.readouterr().out
    assert pushed in plan.split("PushedFilters:")[1].split("ReadSchema")[0]


def test_only_a_comparison_that_nan_could_pass_is_guarded(
    trades: DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    from cereus.spark.expr.evaluate import column

    for sign, guarded in (("<", False), ("=", False), ("!=", False), (">", True), (">=", True)):
        trades.filter(column(op(PRICE, sign, 10), trades.schema)).explain()
        assert ("isnan" in capsys.readouterr().out) == guarded
    assert trades.filter(column(op(PRICE, ">", 10), trades.schema)).count() == 1


def test_events_below_a_prefix_and_under_variables(trades: DataFrame) -> None:
    from pyspark.sql import functions as F  # noqa: N812

    from cereus.spark.expr.evaluate import column

    nested = trades.select(F.struct("*").alias("ev nt"))
    cheap = column(op(PRICE, "<", 10), trades.schema, prefix="ev nt")
    assert nested.filter(cheap).count() == 1
    dearer = op(ex.Attribute(("price",), "b"), ">", ex.Attribute(("price",), "a"))
    pairs = trades.alias("a").crossJoin(trades.alias("b"))
    assert pairs.filter(column(dearer, trades.schema)).count() == 1


def test_cereus_imports_without_pyspark() -> None:
    code = "import sys; sys.modules['pyspark'] = None; import cereus, cereus.expr.arrow.evaluate"
    subprocess.run([sys.executable, "-c", code], check=True)
