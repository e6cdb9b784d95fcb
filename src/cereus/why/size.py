"""How large a query may be to be taken apart."""

from __future__ import annotations

import pyarrow as pa

from cereus.errors import LimitError
from cereus.language.compiled import CompiledQuery

MOST_PARTS = 300
"""Tests and conditions. Each of them is left out once, and the pattern is run up to each step, so
that the work grows with the square of their number and more."""


def check_size(query: CompiledQuery, schema: pa.Schema) -> None:
    """Refuse a query whose parts would take for ever, one by one."""
    parts = query.part_count(schema)
    if parts > MOST_PARTS:
        raise LimitError(
            f"this query has {parts:,} tests and conditions; up to {MOST_PARTS} can be taken apart",
            hint="ask about a part of the pattern",
        )
