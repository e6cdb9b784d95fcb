"""Running a pipeline: the session, batch or live, and its metrics."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from cereus.spark.pipeline.run.metrics import Metrics, recorded
from cereus.spark.raised import spark_errors

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from cereus.spark.pipeline.pipeline import Pipeline


def run(
    pipeline: Pipeline,
    session: SparkSession | None,
    on_metrics: Callable[[Metrics], None] | None,
) -> list[Metrics]:
    if pipeline.spec.local:
        from cereus.spark.pipeline.local.run import run_local

        with recorded(pipeline.spec.metrics, on_metrics) as report:
            return run_local(pipeline, report)
    with spark_errors(), recorded(pipeline.spec.metrics, on_metrics) as report:
        session = session or pipeline.session()
        if pipeline.spec.live:
            from cereus.spark.pipeline.run.live import run_live

            return run_live(pipeline, session, report)
        from cereus.spark.pipeline.run.batch import run_batch

        return run_batch(pipeline, session, report)
