"""The pipeline of a file: checked, described, run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from cereus.query import Query
from cereus.spark.pipeline import checking, describing, document, reading
from cereus.spark.pipeline.graph import Graph
from cereus.spark.pipeline.kinds import Location
from cereus.spark.pipeline.rules import CheckedRules
from cereus.spark.pipeline.run.metrics import Metrics
from cereus.spark.pipeline.spec import Spec
from cereus.spark.starting.session import session as spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Pipeline:
    """Sources, streams, queries and sinks, as a TOML file declares them."""

    def __init__(
        self,
        read: document.Document,
        spec: Spec,
        queries: Mapping[str, Query],
        rules: Mapping[str, CheckedRules],
    ) -> None:
        self.document, self.spec = read, spec
        self.queries, self.rules = dict(queries), dict(rules)
        self.graph = Graph(spec)

    @classmethod
    def load(
        cls,
        path: str | Path,
        *,
        master: str | None = None,
        metrics: str | Path | None = None,
        engine: Literal["spark", "local"] | None = None,
    ) -> Pipeline:
        """The pipeline of a file, checked; `PipelineError` lists all problems in it.

        `master`, `metrics` (a file for JSON lines) and `engine` win over what the file says.
        """
        read = document.read(path)
        spec = reading.spec_of(read)
        read.check()
        assert spec is not None
        if master is not None:
            spec = replace(spec, spark=replace(spec.spark, master=master))
        if engine is not None:
            spec = replace(spec, engine=engine)
        if metrics is not None:
            spec = replace(spec, metrics=Location(Path(metrics).absolute()))
        return cls(read, spec, *checking.check(read, spec))

    @property
    def warnings(self) -> list[str]:
        return list(describing.warnings(self.graph, self.queries, self.rules))

    def describe(self) -> str:
        """Describe in words what would be run."""
        return describing.describe(str(self.document.path), self.spec, self.queries, self.rules)

    def session(self) -> SparkSession:
        """The session that the file asks for: a new one, or the active one with its settings."""
        settings = self.spec.spark
        return spark_session(settings.master, settings.app, **settings.conf)

    def run(
        self,
        session: SparkSession | None = None,
        *,
        on_metrics: Callable[[Metrics], None] | None = None,
    ) -> list[Metrics]:
        """Run it: a batch pipeline until all is written, a live one until it is stopped (by an
        interrupt) or, with `trigger = "available now"`, has taken all there is.

        `on_metrics` is called with the metrics of every query. Returned is the last of each.
        """
        from cereus.spark.pipeline.run.start import run

        return run(self, session, on_metrics)
