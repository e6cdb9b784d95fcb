"""Lets long loops end when nobody waits for them any more.

Compiled loops run without the interpreter's lock, and so without its checks for Ctrl-C. They call
`look_up` every so many steps, well below a second apart. In the main thread Python's own signals
are looked at then; in a thread that works for another, whether that one has given up.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class StoppedError(Exception):
    """Ends the work of a thread whose results nobody takes any more."""


_here = threading.local()


@contextmanager
def stopping_at(flag: threading.Event) -> Iterator[None]:
    """What this thread does meanwhile ends soon after the flag is set."""
    before = getattr(_here, "flag", None)
    _here.flag = flag
    try:
        yield
    finally:
        _here.flag = before


def look_up() -> None:
    """Raise if the work of this thread is to end."""
    flag = getattr(_here, "flag", None)
    if flag is not None and flag.is_set():
        raise StoppedError
