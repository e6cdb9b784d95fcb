"""What people see of a run: the name of its function in Spark's plans and UI, and a warning in the
log."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pyarrow as pa

from cereus.errors import CereusError

log = logging.getLogger("cereus.spark")

T = TypeVar("T")
Run = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]
LONGEST = 80


@dataclass(frozen=True)
class Named:
    """A function with its own name, which a plan shows after `MapInArrow`."""

    run: Run
    name: str = field(repr=False)

    @property
    def __name__(self) -> str:
        return self.name

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return short_traces(self.run(batches))


def short_traces(rows: Iterator[T]) -> Iterator[T]:
    """The same rows. Errors of Cereus leave a worker without the places in our code: Spark prints
    these before the message, which is for the person who wrote the query."""
    try:
        yield from rows
    except CereusError as error:
        raise error.with_traceback(None) from None


def named(run: Run, text: str, why_one_task: str | None = None, *, what: str = "") -> Any:
    """The function with a name that says what it runs: `cereus [one task: no WITHIN] SELECT a …`,
    or with `what` it does for the query `cereus matches of SELECT a …`."""
    line = " ".join(text.split())
    shown = line if len(line) <= LONGEST else f"{line[: LONGEST - 2]} …"
    alone = "" if why_one_task is None else f"[one task: {why_one_task}]"
    return Named(run, " ".join(part for part in ("cereus", alone, what, shown) if part))


def warn_of_one_task(why: str | None, text: str) -> None:
    """Warn if all events go to one task, and say why they do."""
    if why is not None:
        log.warning("the whole stream is matched in one task (%s): %s", why, text)
