"""Ends long loops when nobody waits for them any more, or when they have done enough.

Compiled loops run without the interpreter's lock, and so without its checks for Ctrl-C. They call
`look_up` every so many steps, well below a second apart. It runs Python's signal handlers in the
main thread. In a thread that works for another, it checks whether that one has given up. Where work
is bounded, it counts the calls: a count of steps makes the bound the same on every machine.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from cereus.errors import LimitError


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


def too_many_steps() -> LimitError:
    return LimitError("this takes too many steps", hint="ask about fewer events, or write a window")
