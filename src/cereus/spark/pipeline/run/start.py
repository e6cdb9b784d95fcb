"""Runs a pipeline: the session, batch or live, and all that watches it."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from cereus.spark.in_ui import reported_in_ui
from cereus.spark.pipeline.run.alone import alone
from cereus.spark.pipeline.run.logs import logged
from cereus.spark.pipeline.run.metrics import Metrics, Report, all_of, recorded
from cereus.spark.pipeline.run.prometheus import exported
from cereus.spark.pipeline.run.status import noted
from cereus.spark.raised import spark_errors

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from cereus.spark.pipeline.pipeline import Pipeline

log = logging.getLogger("cereus.spark")


def run(
    pipeline: Pipeline, session: SparkSession | None, on_metrics: Report | None
) -> list[Metrics]:
    if pipeline.spec.local:
        from cereus.spark.pipeline.local.run import run_local

        with watched(pipeline, on_metrics) as report:
            return run_local(pipeline, report)
    with spark_errors(), watched(pipeline, on_metrics) as report:
        session = session or pipeline.session()
        report = all_of(report, reported_in_ui(session))
        if pipeline.spec.live:
            from cereus.spark.pipeline.run.live import run_live

            return run_live(pipeline, session, report)
        from cereus.spark.pipeline.run.batch import run_batch

        return run_batch(pipeline, session, report)


@contextmanager
def watched(pipeline: Pipeline, on_metrics: Report | None) -> Iterator[Report]:
    """A function that takes metrics, and passes them to all who need them."""
    spec, name = pipeline.spec, pipeline.document.path.stem
    with ExitStack() as stack:
        stack.enter_context(logged(spec.log))
        stack.enter_context(_logged_run(str(pipeline.document.path), spec.mode))
        checkpoint = str(spec.checkpoint) if spec.live else None
        stack.enter_context(alone(checkpoint))
        reports = (
            stack.enter_context(recorded(spec.metrics)),
            stack.enter_context(exported(spec.prometheus, name)),
            stack.enter_context(noted(checkpoint, str(pipeline.document.path))),
        )
        yield all_of(*reports, on_metrics)


@contextmanager
def _logged_run(file: str, mode: str) -> Iterator[None]:
    """Log the start and the end of a run."""
    log.info("%s: a %s run begins", file, mode)
    try:
        yield
    except Exception as error:
        log.error("%s: the run has failed: %s", file, error)
        raise
    log.info("%s: the run has ended", file)
