"""The error for a condition that slots of the kernel cannot decide; it says why."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class CannotUseSlots(Exception):
    """Slots cannot decide a condition. The message says why. Values in states can."""


@contextmanager
def naming(condition: str) -> Iterator[None]:
    """Add to a refusal inside which condition it is about."""
    try:
        yield
    except CannotUseSlots as reason:
        raise CannotUseSlots(f"{condition}: {reason}") from None
