"""A signal interrupts a long call of the kernel, and not only what comes after it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import numpy as np
import pyarrow as pa
import pytest

import cereus
from cereus.engine.executor import PatternExecutor
from cereus.engine.interrupts import LONG, StoppedError, interruptible, stopping_at

EVENTS = 60_000
"""Every B is compared with every A before it: 900 million comparisons in one call."""


class Interrupted(Exception):
    """What the signal's handler raises."""


@contextmanager
def interrupted() -> Iterator[None]:
    """Inside, a signal comes after 0.3 seconds, and what is there is interrupted."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise Interrupted

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        with pytest.raises(Interrupted):
            yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_a_signal_interrupts_the_wait_for_a_sort() -> None:
    never = threading.Event()
    with interrupted():
        interruptible(LONG, never.wait)
    never.set()


def test_so_does_a_run_that_is_left() -> None:
    never, stop = threading.Event(), threading.Event()
    stop.set()
    with pytest.raises(StoppedError), stopping_at(stop):
        interruptible(LONG, never.wait)
    never.set()


def test_what_a_sort_returns_or_raises_comes_through() -> None:
    assert interruptible(LONG, lambda: 3) == interruptible(0, lambda: 3) == 3
    with pytest.raises(ZeroDivisionError):
        interruptible(LONG, lambda: 1 // 0)


def test_where_there_are_no_more_threads_a_sort_is_done_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refused(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refused)
    assert interruptible(LONG, lambda: 3) == 3


def test_a_signal_interrupts_a_long_call() -> None:
    types = np.repeat(["A", "B"], EVENTS // 2)
    table = pa.table({"type": types, "x": np.arange(EVENTS)[::-1]})
    text = "SELECT * WHERE A AS a ; B AS b FILTER a.x + b.x < 0"
    query = cereus.compile(text, schema=table.schema)
    executor = query.executor(table.schema)
    assert isinstance(executor, PatternExecutor)

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise Interrupted

    before = signal.signal(signal.SIGVTALRM, interrupt)
    signal.setitimer(signal.ITIMER_VIRTUAL, 0.3)  # of this process's own CPU time
    try:
        with pytest.raises(Interrupted):
            for batch in table.combine_chunks().to_batches():
                list(executor.push(batch))
        event, _ = executor.runner.kernel.where
        assert event < EVENTS
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
