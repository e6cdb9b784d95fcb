"""The error for a query that meets the state of another one."""

from __future__ import annotations

from collections.abc import Iterable

from cereus.errors import CereusError

RULES = "rules that change"
"""What stands for the text of a query in the state of rules."""


def changed(before: Iterable[str], text: str, on_change: str) -> CereusError:
    """The error with both queries in full, without empty lines: an empty line would end the message
    inside Spark's."""
    texts = list(before)
    if text in texts:
        return _other_columns_of_rules() if text == RULES else _other_options(text)
    was, is_now = "".join(_shown("it was", each) for each in texts), _shown("it is", text)
    keeping = (
        'on_change="keep" cannot keep it, because not only constants or the output are different'
        if on_change == "keep"
        else 'if only constants or the output are different, on_change="keep" keeps it'
    )
    return CereusError(
        "the checkpoint holds the state of another query, or of other columns or options"
        f"{was}{is_now}",
        hint="go on with the query that made it, give this one a new checkpoint location, "
        f'or drop the state: match(…, on_change="restart"); {keeping}',
    )


def _other_options(text: str) -> CereusError:
    """The error for the same query with other columns or options."""
    return CereusError(
        "the checkpoint holds the state of this query with other columns or options"
        f"{_shown('the query is', text)}",
        hint="go on with the columns and ties that made it (if the stream has got a new column, "
        "name the earlier ones in their order in columns), or with its buckets, which "
        'match(…, checkpoint="…") finds, or give the query a new checkpoint location, '
        'or drop the state: match(…, on_change="restart")',
    )


def _other_columns_of_rules() -> CereusError:
    return CereusError(
        "the checkpoint holds the state of rules over other columns, keys or ties",
        hint="go on with those that made it (if the stream has got a new column, leave it out "
        "with a select before), or with the buckets that made it, which "
        'match_rules(…, checkpoint="…") finds, or give the rules a new checkpoint location',
    )


def _shown(title: str, text: str) -> str:
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    return "\n  " + "\n    ".join([f"{title}:", *lines])
