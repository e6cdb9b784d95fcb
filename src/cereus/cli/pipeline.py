"""`cereus run PIPELINE.toml`: check, show, run, and report progress."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Literal

import typer
from rich.box import SIMPLE_HEAD
from rich.live import Live
from rich.table import Table
from rich.text import Text

from cereus.cli.engines import announce_spark
from cereus.cli.view import err, out, show_error, show_warning
from cereus.cli.wording import KEYS
from cereus.errors import CereusError
from cereus.spark.pipeline import Metrics, Pipeline
from cereus.spark.pipeline.describing import target

SPARK_LOG = "spark.log"
NOTHING = "–"
BYTES = (("GB", 1 << 30), ("MB", 1 << 20), ("kB", 1 << 10))
DURATIONS = (("d", 86400), ("h", 3600), ("min", 60), ("s", 1))


def run_pipeline(
    file: str,
    *,
    master: str | None,
    dry_run: bool,
    metrics: Path | None,
    engine: Literal["spark", "local"] | None = None,
) -> None:
    """Run the pipeline of a file. Hints name the keys of the file."""
    try:
        _run(Pipeline.load(file, master=master, metrics=metrics, engine=engine), dry_run=dry_run)
    except CereusError as error:
        show_error(error, KEYS)
        raise typer.Exit(1) from None


def _run(pipeline: Pipeline, *, dry_run: bool) -> None:
    if dry_run:
        out.print(Text(pipeline.describe()), soft_wrap=True)
        return
    for warning in pipeline.warnings:
        show_warning(warning, KEYS)
    report = _run_live(pipeline) if pipeline.spec.live else _run_batch(pipeline)
    out.print(report)
    for name, sink in pipeline.spec.sinks.items():
        out.print(f"{name}: {sink.from_} → {target(sink)}", highlight=False, soft_wrap=True)


# ---------------------------------------------------------------- batch


def _run_batch(pipeline: Pipeline) -> Table:
    from cereus.cli.spark_progress import spark_progress

    if pipeline.spec.local:
        return batch_table(pipeline.run())
    announce_spark()
    session = pipeline.session()
    with spark_progress(session, f"running {pipeline.document.path.name} on Spark"):
        metrics = pipeline.run(session)
    return batch_table(metrics)


def batch_table(metrics: Sequence[Metrics]) -> Table:
    table = Table(box=SIMPLE_HEAD)
    for title in ("query", "matches", "events"):
        table.add_column(title, justify="left" if title == "query" else "right")
    for each in metrics:
        table.add_row(each.name, _number(each.matches), _number(each.events))
    seconds = max((each.seconds or 0.0 for each in metrics), default=0.0)
    table.caption, table.caption_justify = f"in {seconds:.1f} s", "left"
    return table


# ---------------------------------------------------------------- live


def _run_live(pipeline: Pipeline) -> Table:
    """A table that is updated on a terminal, until the pipeline ends or is stopped."""
    last: dict[tuple[str | None, str], Metrics] = {}
    announce_spark()
    with _log_to_file(pipeline):
        session = pipeline.session()
    view = Live(console=err, transient=True, refresh_per_second=4)

    def show_metrics(metrics: Metrics) -> None:
        last[metrics.sink, metrics.name] = metrics
        view.update(live_table(list(last.values())))

    with view if err.is_terminal else nullcontext(), _stopped_by_signals():
        pipeline.run(session, on_metrics=show_metrics)
    return live_table(list(last.values()))


def live_table(metrics: Sequence[Metrics]) -> Table:
    """One line per query: how fast, how much, what is buffered, how far behind."""
    table = Table(box=SIMPLE_HEAD)
    several = len({each.sink for each in metrics}) > 1
    titles = ["query", *(["sink"] if several else [])]
    for title in titles:
        table.add_column(title)
    for title in ("events/s", "events", "late", "matches", "state", "lag"):
        table.add_column(title, justify="right", no_wrap=True)
    for each in metrics:
        cells = [each.name or "(copy)", *([each.sink or ""] if several else [])]
        table.add_row(
            *cells,
            _number(each.events_per_second),
            _number(each.total_events),
            _number(each.total_late),
            _number(each.total_matches),
            _size(each.state_bytes),
            _duration(each.lag_seconds),
        )
    return table


def _number(value: float | None) -> str:
    return NOTHING if value is None else f"{value:,.0f}"


def _size(value: int | None) -> str:
    return NOTHING if value is None else _in_units(value, BYTES)


def _duration(seconds: float | None) -> str:
    return NOTHING if seconds is None else _in_units(seconds, DURATIONS)


def _in_units(value: float, units: Sequence[tuple[str, int]]) -> str:
    """A value in the largest unit that it reaches; the last unit is the one in which it is
    counted."""
    name, size = next((unit for unit in units if value >= unit[1]), units[-1])
    return f"{value / size:,.1f} {name}"


@contextmanager
def _stopped_by_signals() -> Iterator[None]:
    """Let Ctrl-C and `kill` end the run between two steps; Spark's own handler would let the jobs
    of the running queries fail first."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
    for each in before:
        signal.signal(each, signal.default_int_handler)
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


@contextmanager
def _log_to_file(pipeline: Pipeline) -> Iterator[None]:
    """Send what Java and Spark's workers print while a live pipeline runs to a file: on the
    terminal it would break the table. They inherit the place when Java starts."""
    checkpoint = str(pipeline.spec.checkpoint)
    if "://" in checkpoint or not err.is_terminal:
        yield
        return
    Path(checkpoint).mkdir(parents=True, exist_ok=True)
    log = Path(checkpoint) / SPARK_LOG
    err.print(f"what Spark prints goes to {log}", style="dim", highlight=False, soft_wrap=True)
    terminal = os.dup(2)
    with log.open("ab") as file:
        os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(terminal, 2)
        os.close(terminal)
