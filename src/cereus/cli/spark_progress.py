"""A progress bar over the tasks of Spark's jobs."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)

from cereus.cli.view import err

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

POLL_SECONDS = 0.2


@contextmanager
def spark_progress(session: SparkSession, what: str) -> Iterator[None]:
    """Tasks done of the tasks known, on a terminal; read by a thread while Spark works."""
    if not err.is_terminal:
        yield
        return
    over = threading.Event()
    columns = (
        SpinnerColumn(),
        TextColumn(what),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("tasks"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=err, transient=True) as progress:
        asking = threading.Thread(target=_watch, args=(session, progress, over), daemon=True)
        asking.start()
        try:
            yield
        finally:
            over.set()
            asking.join()


def _watch(session: SparkSession, progress: Progress, over: threading.Event) -> None:
    tracker = session.sparkContext.statusTracker()
    task = progress.add_task("", total=None)
    known: dict[int, tuple[int, int]] = {}
    while not over.wait(POLL_SECONDS):
        for stage in tracker.getActiveStageIds():
            info: Any = tracker.getStageInfo(stage)
            if info is not None:
                known[stage] = (info.numCompletedTasks, info.numTasks)
        active = set(tracker.getActiveStageIds())
        done = sum(all_ if s not in active else some for s, (some, all_) in known.items())
        total = sum(all_ for _, all_ in known.values())
        progress.update(task, completed=done, total=total or None)
