"""The error for bytes that are not a state."""

from __future__ import annotations

from cereus.errors import SnapshotError


def damaged(how: object) -> SnapshotError:
    """The error for bytes that are not a snapshot, or are damaged; `how` says what shows it."""
    return SnapshotError(
        f"these bytes are not a snapshot, or it was damaged: {how}",
        hint="take up an earlier snapshot, or start fresh",
    )
