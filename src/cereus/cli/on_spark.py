"""`cereus run` on Spark: read, match and write there; bring back a count and the first matches."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from cereus.cli.local import Outcome
from cereus.cli.output import format_of
from cereus.cli.spark_progress import spark_progress
from cereus.cli.view import ShownEvent, ShownMatch
from cereus.errors import CereusError, DataError
from cereus.query import Query
from cereus.sources import SUFFIXES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

COUNTED = ("parquet", "orc")
"""Formats whose files say how many rows they have."""
CSV: dict[str, Any] = {"header": True, "escape": '"'}
"""A quote inside a quoted text is doubled (RFC 4180); Spark's own way is a backslash."""

Compiler = Callable[[pa.Schema], Query]


def run_on_spark(
    compiler: Compiler,
    paths: Sequence[str],
    out: Path | None,
    shown: int,
    *,
    master: str,
    tie: Sequence[str] = (),
) -> tuple[Outcome, Query]:
    from cereus import spark as cs

    with spark_errors():
        session = cs.session(master)
        events, kind = read(session, paths)
        query = compiler(arrow_schema(events))
        begin = time.perf_counter()
        with spark_progress(session, "matching on Spark"):
            listed = out is None or not query.variables
            found = cs.match(events, query, events=listed, tie=tie)
            outcome = _collected(found, query, shown) if out is None else _written(found, out)
        outcome.seconds = time.perf_counter() - begin
        outcome.events = events.count() if kind in COUNTED else None
    outcome.columns = list(outcome.first[0].events[0].values) if outcome.first else []
    return outcome, query


def read(session: SparkSession, paths: Sequence[str]) -> tuple[DataFrame, str]:
    """A DataFrame of files of one format, and the format."""
    kinds = {_kind(path) for path in paths}
    if len(kinds) > 1:
        raise DataError(
            f"the inputs are of different formats: {', '.join(sorted(kinds))}",
            hint="run the query over files of one format",
        )
    (kind,) = kinds
    for path in paths:
        if "://" not in path and not Path(path).exists():
            raise DataError(f"there is no file {path!r}", hint="check the path")
    options = {**CSV, "inferSchema": True} if kind == "csv" else {}
    return session.read.format(kind).options(**options).load(
        [located(path) for path in paths]
    ), kind


def located(path: str) -> str:
    """A local path in full: Spark may have started elsewhere."""
    return path if "://" in path else str(Path(path).absolute())


def _kind(path: str) -> str:
    file = Path(path)
    inside = next((p for p in sorted(file.rglob("*")) if p.suffix in SUFFIXES), file)
    kind = SUFFIXES.get((inside if file.is_dir() else file).suffix.lower())
    if kind in (None, "ipc"):
        raise DataError(
            f"cannot read {path!r} on Spark",
            hint="known: .parquet, .csv, .json, .orc; for Arrow files use --engine local",
        )
    return str(kind)


def arrow_schema(df: DataFrame) -> pa.Schema:
    from pyspark.sql.pandas.types import to_arrow_schema

    return to_arrow_schema(df.schema, timezone="UTC")


# ---------------------------------------------------------------- results


def _collected(found: DataFrame, query: Query, shown: int) -> Outcome:
    """Count all, bring some (of different keys). Kept on disk, so that the query runs once."""
    from pyspark import StorageLevel

    kept = found.persist(StorageLevel.DISK_ONLY)
    try:
        matches = kept.count()
        keys = [".".join(path) for path in query.keys]
        sample = kept.dropDuplicates(keys) if keys else kept
        rows = sample.limit(shown).toArrow().to_pylist() if shown else []
    finally:
        kept.unpersist()
    return Outcome(matches, first=[_shown(row, query) for row in rows])


def _written(found: DataFrame, out: Path) -> Outcome:
    """A directory of files, as Spark writes it."""
    from pyspark.sql import Observation
    from pyspark.sql import functions as f

    kind = format_of(out)
    if kind == "arrow":
        raise CereusError(
            "Spark does not write Arrow files", hint="write .parquet, or use --engine local"
        )
    if kind == "csv":
        found = _flat(found)
    counted = Observation()
    found = found.observe(counted, f.count(f.lit(1)).alias("matches"))
    found.write.format(kind).options(**(CSV if kind == "csv" else {})).save(located(str(out)))
    return Outcome(int(counted.get["matches"]))


def _flat(found: DataFrame) -> DataFrame:
    """Arrays, which CSV does not have, as JSON text."""
    from pyspark.sql import functions as f

    columns = [
        f.to_json(f.col(f"`{each.name}`")).alias(each.name)
        if each.dataType.typeName() == "array"
        else f.col(f"`{each.name}`")
        for each in found.schema
    ]
    return found.select(*columns)


def _shown(row: dict[str, Any], query: Query) -> ShownMatch:
    if "events" not in row:
        return ShownMatch([ShownEvent("", row)])
    return ShownMatch(
        [
            ShownEvent(", ".join(n for n in query.variables if event in row[n]), event)
            for event in row["events"]
        ]
    )


# ---------------------------------------------------------------- errors

RAISED = re.compile(
    r"^cereus\.errors\.\w+: (?P<message>.*?)(?:\nhint: (?P<hint>[^\n]*))?\s*(?:\n\n|\Z)",
    re.MULTILINE | re.DOTALL,
)


@contextmanager
def spark_errors() -> Iterator[None]:
    """An error of Cereus that was raised in a worker, or one of Spark's own, as ours."""
    from pyspark.errors import AnalysisException, PySparkException

    try:
        yield
    except AnalysisException as error:
        raise DataError(f"Spark cannot read the events: {_first_line(error)}") from None
    except PySparkException as error:
        raised = RAISED.search(str(error))
        if raised is None:
            raise
        raise DataError(raised["message"].strip(), hint=raised["hint"]) from None


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or ["?"])[0]
