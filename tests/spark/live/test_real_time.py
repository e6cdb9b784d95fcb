"""Spark's real-time mode runs no Python: what the documentation says of it is what Spark says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.long]

STREAMING = "org.apache.spark.sql.execution.streaming"
OPERATORS = f"{STREAMING}.operators.stateful.transformwithstate"


def test_no_operator_of_python_may_run_in_real_time(spark: SparkSession) -> None:
    allowed = _allowed(spark)
    assert f"{OPERATORS}.TransformWithStateExec" in allowed
    assert [name for name in allowed if "python" in name.lower()] == []
    assert [name for name in allowed if "arrow" in name.lower()] == []


def test_a_python_operator_is_refused_by_name(spark: SparkSession, tmp_path: Path) -> None:
    rows = _real_time_source(spark).mapInArrow(_same, "value string")
    writer = rows.writeStream.format("console").outputMode("update").trigger(realTime="5 seconds")
    query = writer.option("checkpointLocation", str(tmp_path / "checkpoint")).start()
    try:
        with pytest.raises(Exception, match=r"MapInArrowExec is not in the operator allowlist"):
            query.processAllAvailable()
    finally:
        query.stop()


def _same(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from batches


def _module(spark: SparkSession, name: str) -> Any:
    """An object of Scala."""
    found = spark.sparkContext._jvm
    for part in f"{name}$".split("."):
        found = getattr(found, part)
    return getattr(found, "MODULE$")


def _allowed(spark: SparkSession) -> list[str]:
    """The operators that Spark lets run in real time."""
    gateway, jvm = spark.sparkContext._gateway, spark.sparkContext._jvm
    assert gateway is not None and jvm is not None
    asked = _module(spark, f"{STREAMING}.runtime.RealTimeModeAllowlist")
    none = gateway.new_array(jvm.java.lang.Class, 0)
    method = asked.getClass().getDeclaredMethod("allowedOperators", none)
    method.setAccessible(True)
    found = method.invoke(asked, gateway.new_array(jvm.java.lang.Object, 0))
    return sorted(found.mkString("\n").splitlines())


def _real_time_source(spark: SparkSession) -> DataFrame:
    """One of the sources that real-time mode takes: Spark's own for tests."""
    from pyspark.sql import DataFrame

    jvm = spark.sparkContext._jvm
    assert jvm is not None
    texts = jvm.org.apache.spark.sql.Encoders.STRING()
    source = _module(spark, f"{STREAMING}.sources.LowLatencyMemoryStream")
    return DataFrame(source.apply(spark._jsparkSession, 1, texts).toDF(), spark)
