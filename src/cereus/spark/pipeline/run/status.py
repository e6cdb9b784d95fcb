"""The status of a live pipeline, in a file of its checkpoint, which `cereus status` reads."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from cereus.errors import CereusError
from cereus.spark.pipeline.run.metrics import Metrics, Report

NAME = "status.json"
State = Literal["running", "stopped", "failed", "gone"]


@dataclass
class Status:
    """A run: its process, its state, and the last metrics of every query.

    state   running, stopped (in order), failed (then `error` says why), or gone: the process ended
            without writing its end
    """

    pipeline: str
    pid: int
    host: str
    state: State = "running"
    error: str | None = None
    queries: list[dict[str, Any]] = field(default_factory=list)

    @property
    def metrics(self) -> list[Metrics]:
        return [Metrics(**each) for each in self.queries]


class StatusFile:
    """Writes down the status of this process whenever it changes."""

    def __init__(self, path: Path, pipeline: str) -> None:
        self.path = path
        self.status = Status(pipeline, os.getpid(), socket.gethostname())
        self._last: dict[tuple[str | None, str], Metrics] = {}
        self.write()

    def take(self, metrics: Metrics) -> None:
        self._last[metrics.sink, metrics.name] = metrics
        self.status.queries = [each.as_dict() for each in self._last.values()]
        self.write()

    def end(self, state: State, error: str | None = None) -> None:
        self.status.state, self.status.error = state, error
        self.write()

    def write(self) -> None:
        """Write the file in one step: a reader sees the old file or the new one."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        begun = self.path.with_name(f".{self.path.name}")
        begun.write_text(json.dumps(asdict(self.status)), encoding="utf-8")
        begun.replace(self.path)


@contextmanager
def noted(checkpoint: str | None, pipeline: str) -> Iterator[Report | None]:
    """A function that takes metrics, while the status of a run is in its checkpoint. There is none
    where the checkpoint is not on this machine."""
    if checkpoint is None or "://" in checkpoint:
        yield None
        return
    file = StatusFile(Path(checkpoint) / NAME, pipeline)
    try:
        yield file.take
    except BaseException as error:
        file.end("failed", str(error))
        raise
    file.end("stopped")


def read_status(checkpoint: Path) -> Status:
    """The status of the pipeline with this checkpoint."""
    path = checkpoint / NAME
    try:
        status = _parsed(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CereusError(
            f"no live pipeline has run with the checkpoint {str(checkpoint)!r}",
            hint="name the pipeline file, or its checkpoint",
        ) from None
    except (ValueError, TypeError):
        raise CereusError(
            f"{str(path)!r} is not the status of a live pipeline, or not one of this Cereus",
            hint="name the checkpoint of a live pipeline, and ask with the Cereus that runs it",
        ) from None
    if status.state == "running" and status.host == socket.gethostname() and not _is_there(status):
        status.state = "gone"
    return status


def _parsed(text: str) -> Status:
    status = Status(**json.loads(text))
    list(status.metrics)  # a TypeError if they have other fields
    return status


def _is_there(status: Status) -> bool:
    try:
        os.kill(status.pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True  # the process of another user
    return True
