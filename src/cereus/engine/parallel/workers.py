"""The threads of a run."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from types import TracebackType
from typing import Any, Self, TypeVar
from weakref import WeakSet

from cereus.engine.interrupts import stopping_at
from cereus.errors import CereusError

VARIABLE = "CEREUS_THREADS"
Made = TypeVar("Made")


def thread_count(given: int | None = None) -> int:
    """How many threads a run uses: as given, or as the environment says, or one for each core
    that this process may use."""
    if given is not None:
        return _checked(given, f"threads={given!r}")
    variable = os.environ.get(VARIABLE, "")
    if variable:
        return _checked(int(variable) if variable.isdecimal() else None, f"{VARIABLE}={variable}")
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _checked(threads: Any, what: str) -> int:
    if not isinstance(threads, int) or isinstance(threads, bool) or threads < 1:
        raise CereusError(f"{what} is no number of threads", hint="write 1 or more")
    return threads


_idle: dict[int, ThreadPoolExecutor] = {}
"""Threads that no run uses, by how many there are together."""
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)  # another process has no threads


class Workers:
    """Threads that work until they are left; whatever they are at ends soon after that.

    After a run that came to its end they stay for the next one, with the memory that they have: new
    threads have none, and to fault it in took up to a tenth of a run of 50 milliseconds.
    """

    def __init__(self, threads: int) -> None:
        self.threads = threads
        made = _idle.pop(threads, None)
        self._pool = made or ThreadPoolExecutor(threads, thread_name_prefix="cereus")
        self._stop = threading.Event()
        self._tasks: WeakSet[Future[Any]] = WeakSet()

    def submit(self, work: Callable[..., Made], *arguments: Any) -> Future[Made]:
        task = self._pool.submit(self._work, work, arguments)
        self._tasks.add(task)
        return task

    def map(self, work: Callable[..., Made], *parts: Iterable[Any]) -> list[Made]:
        """What the work makes of each part, in their order; for who is no worker."""
        tasks = [self.submit(work, *each) for each in zip(*parts, strict=True)]
        return [task.result() for task in tasks]

    def _work(self, work: Callable[..., Made], arguments: tuple[Any, ...]) -> Made:
        with stopping_at(self._stop):
            return work(*arguments)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        wait([task for task in list(self._tasks) if not task.cancel()])
        if kind is not None or _idle.setdefault(self.threads, self._pool) is not self._pool:
            self._pool.shutdown()
