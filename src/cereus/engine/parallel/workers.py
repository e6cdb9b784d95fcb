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
    """The number of threads of a run: as given, or as the environment says, or one for each core
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
"""Thread pools that no run uses, by their number of threads."""
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)  # a new process has no threads


class Workers:
    """Threads that work until the `with` block ends; what they are doing then ends soon.

    After a run that came to its end they stay for the next one, with their memory: new threads have
    none, and page faults took up to a tenth of a run of 50 milliseconds.
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
        """Call the work for each part, and return the results in their order. Workers must not call
        it."""
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
