"""Lets only one thread at a time work with an object that has state.

The kernel runs without the interpreter's lock. Two threads in one recognizer would change the same
arrays at once, and could crash the process; and which of them comes first would decide the matches.
So the second one is refused.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from cereus.errors import CereusError

Given = ParamSpec("Given")
Result = TypeVar("Result")


class TakesTurns(Protocol):
    """The base of objects that one thread at a time works with."""

    _turn: threading.Lock


Owner = TypeVar("Owner", bound=TakesTurns)


def in_turn(
    method: Callable[Concatenate[Owner, Given], Result],
) -> Callable[Concatenate[Owner, Given], Result]:
    """Decorate a method so that it is refused while another thread is in a method of the same
    object."""

    @wraps(method)
    def alone(owner: Owner, /, *args: Given.args, **kwargs: Given.kwargs) -> Result:
        if not owner._turn.acquire(blocking=False):
            raise CereusError(
                "this recognizer is at work in another thread",
                hint="give it its events from one thread, or hold a lock meanwhile",
            )
        try:
            return method(owner, *args, **kwargs)
        finally:
            owner._turn.release()

    return alone
