"""The columns that identify a match."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cereus.errors import DataError, did_you_mean


def check_identity(identity: Iterable[str], columns: Sequence[str]) -> None:
    for name in identity:
        if name not in columns:
            hint = did_you_mean(name, columns) or f"they have {', '.join(columns)}"
            raise DataError(f"the matches have no column {name!r} to be told apart by", hint=hint)
