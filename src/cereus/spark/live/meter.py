"""Measures how long the engine works: a number for monitoring only, which no answer depends on."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TypeVar

Value = TypeVar("Value")


class Meter:
    """Adds up the CPU seconds in which values are made."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def around(self, values: Iterator[Value]) -> Iterator[Value]:
        """The same values, measured."""
        while True:
            began = time.thread_time()
            try:
                value = next(values)
            except StopIteration:
                return
            finally:
                self.seconds += time.thread_time() - began
            yield value
