"""Slots of the kernel cannot decide every condition: the refusal says why."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class CannotUseSlots(Exception):
    """Slots cannot decide a condition, and why. Values in states can."""


@contextmanager
def naming(condition: str) -> Iterator[None]:
    """A refusal inside says which condition it is about."""
    try:
        yield
    except CannotUseSlots as reason:
        raise CannotUseSlots(f"{condition}: {reason}") from None
