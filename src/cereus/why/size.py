"""Limits the size of a query that is taken apart."""

from __future__ import annotations

import pyarrow as pa

from cereus.errors import LimitError
from cereus.language.compiled import CompiledQuery


def check_size(query: CompiledQuery, schema: pa.Schema) -> None:
    """Refuse a query with so many parts that trying them one by one would take for ever."""
    parts, most = query.part_count(schema), query.most_parts
    if parts > most:
        raise LimitError(
            f"this query has {parts:,} tests and conditions; up to {most} can be taken apart",
            hint="ask about a part of the pattern",
        )


FEW_RULES, MOST_PUT = 16, 200_000_000
"""With more rules than FEW_RULES, MOST_PUT limits how often conditions are evaluated in all."""


def check_work(query: CompiledQuery, rules: int, events: int, schema: pa.Schema) -> None:
    """Refuse to leave out each of many rules if there are too many events for that."""
    if rules > FEW_RULES and rules * query.part_count(schema) * events > MOST_PUT:
        raise LimitError(
            f"this query has {rules:,} rules, each of which would have to be left out over "
            f"{events:,} events",
            hint="ask about a part of the pattern, or with the events around the match alone",
        )
