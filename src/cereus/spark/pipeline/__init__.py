"""Pipelines: a TOML file declares which events are read, matched and written, and where.

    document → reading → checking → describing
                                  → sources, stages, sinks: batch or live

Everything up to `describing` is done without Spark: a file with errors is refused, with all of them
in one message, before anything starts.
"""

from __future__ import annotations

from cereus.spark.pipeline.document import PipelineError
from cereus.spark.pipeline.pipeline import Pipeline
from cereus.spark.pipeline.run.metrics import Metrics

__all__ = ["Metrics", "Pipeline", "PipelineError"]
