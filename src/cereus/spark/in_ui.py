"""Shows the metrics of live queries in Spark's UI, which itself knows only what Spark counts.

A micro-batch has an entry in the tab *SQL / DataFrame*, and another one beside it gets a text: the
description of a statement that selects the metrics, and that Spark answers without a job.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cereus.errors import CereusError
from cereus.spark.pipeline.run.metrics import Metrics, Report

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DESCRIPTION = "spark.job.description"
SHOWN = {
    "events": ("{:,} events", "bigint"),
    "late": ("{:,} late", "bigint"),
    "matches": ("{:,} matches", "double"),
    "kernel_seconds": ("{:.3f} kernel seconds", "double"),
    "state_rows": ("{:,} state rows", "bigint"),
    "state_bytes": ("{:,} state bytes", "bigint"),
}
"""The metrics that are shown, by the field of Metrics."""


def show_metrics(spark: SparkSession) -> None:
    """Show the metrics of all live queries of a session in Spark's UI from now on: the tab *SQL /
    DataFrame* gets a line for each query and micro-batch, `cereus orders, micro-batch 7: 250,000
    events, 3 late, …`. Pipelines do this by themselves."""
    from cereus.spark.pipeline.run.listening import AnyQueryListener

    report = reported_in_ui(spark)
    if report is None:
        raise CereusError(
            "this session has no UI of Spark that metrics can be shown in",
            hint='start it with cs.session(**{"spark.ui.enabled": True}); the progress of a query '
            "has its metrics too, also with Spark Connect",
        )
    spark.streams.addListener(AnyQueryListener(report))


def reported_in_ui(spark: SparkSession) -> Report | None:
    """A function that shows metrics in Spark's UI; None without a UI, and with Spark Connect, where
    statements cannot be described."""
    if not hasattr(spark, "_jsparkSession") or spark.sparkContext.uiWebUrl is None:
        return None

    def report(metrics: Metrics) -> None:
        context = spark.sparkContext
        before = context.getLocalProperty(DESCRIPTION)
        context.setLocalProperty(DESCRIPTION, line(metrics))
        try:
            spark.sql(statement(metrics)).collect()
        finally:
            context.setLocalProperty(DESCRIPTION, before)  # type: ignore[arg-type]

    return report


def line(metrics: Metrics) -> str:
    """`cereus pairs → alerts, micro-batch 7: 250,000 events, 3 late, 29,000 matches, …`"""
    sink = f" → {metrics.sink}" if metrics.sink else ""
    batch = f", micro-batch {metrics.batch}" if metrics.batch is not None else ""
    return f"cereus {metrics.name or 'copy'}{sink}{batch}: {', '.join(_parts(metrics))}"


def _parts(metrics: Metrics) -> list[str]:
    given = ((text, getattr(metrics, field)) for field, (text, _) in SHOWN.items())
    return [text.format(value) for text, value in given if value is not None]


def statement(metrics: Metrics) -> str:
    """A statement with the metrics as its one row."""
    values = [
        f"CAST('{value}' AS {kind})"
        for field, (_, kind) in SHOWN.items()
        for value in [getattr(metrics, field)]
        if value is not None
    ]
    names = [field for field in SHOWN if getattr(metrics, field) is not None]
    return f"SELECT * FROM VALUES ({', '.join(values)}) AS cereus({', '.join(names)})"
