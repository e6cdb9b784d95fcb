"""The error for a condition that slots of the kernel cannot decide; it says why."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class CannotUseSlots(Exception):
    """Raised where slots cannot decide a condition; the message says why. States that remember
    values can."""


@contextmanager
def naming(condition: str) -> Iterator[None]:
    """Add to a refusal inside which condition it is about."""
    try:
        yield
    except CannotUseSlots as reason:
        raise CannotUseSlots(f"{condition}: {reason}") from None
