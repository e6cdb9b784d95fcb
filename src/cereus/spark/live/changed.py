"""The error of a query that meets the state of another one."""

from __future__ import annotations

from collections.abc import Iterable

from cereus.errors import CereusError


def changed(before: Iterable[str], text: str) -> CereusError:
    """Both queries in full, without empty lines: one would end the message inside Spark's."""
    was, is_now = "".join(_shown("it was", each) for each in before), _shown("it is", text)
    return CereusError(
        "the checkpoint holds the state of another query, or of other columns or options"
        f"{was}{is_now}",
        hint="go on with the query that made it, give this one a new checkpoint location, "
        'or drop the state: match(…, on_change="restart"); if only constants or the output are '
        'different, on_change="keep" keeps it',
    )


def _shown(title: str, text: str) -> str:
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    return "\n  " + "\n    ".join([f"{title}:", *lines])
