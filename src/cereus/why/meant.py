"""Finds the text that a condition probably means, if it asks for one that no event has."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from cereus.errors import nearest
from cereus.expr import tree as ex
from cereus.expr.paths import column_at, type_at

FIRST = 1 << 16
"""How many events are looked at."""
MOST_TEXTS = 1_000
"""A column with more texts than this has no list of possible values."""


def meant(condition: ex.Expression, events: pa.Table) -> str | None:
    """The text of an event that is nearest to the one that a condition asks for; None if an event
    has that one, or none is near."""
    match condition:
        case ex.Comparison("=", ex.Attribute(path), ex.Literal(str() as text)):
            pass
        case ex.Comparison("=", ex.Literal(str() as text), ex.Attribute(path)):
            pass
        case _:
            return None
    texts = _texts(events.slice(0, FIRST), path)
    return None if text in texts else nearest(text, sorted(texts))


def _texts(events: pa.Table, path: tuple[str, ...]) -> set[str]:
    """The texts in a column; none if it does not hold texts, or has very many."""
    if type_at(events.schema, path) is None:
        return set()
    column = column_at(events, path)
    values = pc.unique(column)
    if len(values) > MOST_TEXTS:
        return set()
    return {each for each in values.to_pylist() if isinstance(each, str)}
