"""Ends long loops when nobody waits for them any more, or when they have done enough.

Compiled loops run without the interpreter's lock, and so without its checks for Ctrl-C. They call
`look_up` every so many steps, well below a second apart. It runs Python's signal handlers in the
main thread. In a thread that works for another, it checks whether that one has given up. Where work
is bounded, it counts the calls: a count of steps makes the bound the same on every machine.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from cereus.errors import LimitError

Result = TypeVar("Result")
LONG = 1 << 20
"""As many rows as may be sorted at once without a look: some tenths of a second."""
PAUSE = 0.1
"""Seconds between two looks while another thread sorts."""


class StoppedError(Exception):
    """Ends the work of a thread whose results nobody takes any more."""


_here = threading.local()


@contextmanager
def stopping_at(flag: threading.Event) -> Iterator[None]:
    """While inside, the work of this thread ends soon after the flag is set."""
    before = getattr(_here, "flag", None)
    _here.flag = flag
    try:
        yield
    finally:
        _here.flag = before


@dataclass
class BoundedWork:
    """How often some work may call `look_up`, and how often it has."""

    most: int
    done: int = 0


@contextmanager
def bounded(most: int) -> Iterator[BoundedWork]:
    """While inside, the work of this thread ends in a LimitError if it calls `look_up` more
    often."""
    before = getattr(_here, "work", None)
    _here.work = BoundedWork(most)
    try:
        yield _here.work
    finally:
        _here.work = before


@contextmanager
def sharing(parts: int) -> Iterator[None]:
    """While inside, this thread may use one of `parts` equal parts of what is left of its bounded
    work, so that the other parts get some."""
    work: BoundedWork | None = getattr(_here, "work", None)
    if work is None:
        yield
        return
    with bounded((work.most - work.done) // parts) as part:
        try:
            yield
        finally:
            work.done += part.done


def look_up() -> None:
    """Raise if the work of this thread is to end."""
    flag = getattr(_here, "flag", None)
    if flag is not None and flag.is_set():
        raise StoppedError
    work = getattr(_here, "work", None)
    if work is not None:
        work.done += 1
        if work.done > work.most:
            raise too_many_steps()


def interruptible(rows: int, work: Callable[[], Result]) -> Result:
    """What `work` returns. If it has many rows, another thread does it, and this one waits and can
    be interrupted: Arrow and NumPy sort in one call, which does not look for Ctrl-C. What nobody
    waits for any more goes on in that thread to its end."""
    if rows < LONG:
        return work()
    result: Future[Result] = Future()
    try:
        threading.Thread(target=_do, args=(work, result), name="cereus sorts", daemon=True).start()
    except RuntimeError:  # the machine gives this process no more threads
        return work()
    flag = getattr(_here, "flag", None)
    while not wait([result], PAUSE).done:
        if flag is not None and flag.is_set():
            raise StoppedError
    return result.result()


def _do(work: Callable[[], Result], result: Future[Result]) -> None:
    try:
        result.set_result(work())
    except BaseException as error:
        result.set_exception(error)


def too_many_steps() -> LimitError:
    return LimitError("this takes too many steps", hint="ask about fewer events, or write a window")
