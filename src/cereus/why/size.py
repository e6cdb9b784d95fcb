"""How large a query may be to be taken apart."""

from __future__ import annotations

import pyarrow as pa

from cereus.errors import LimitError
from cereus.language.compiled import CompiledQuery


def check_size(query: CompiledQuery, schema: pa.Schema) -> None:
    """Refuse a query whose parts would take for ever, one by one."""
    parts, most = query.part_count(schema), query.most_parts
    if parts > most:
        raise LimitError(
            f"this query has {parts:,} tests and conditions; up to {most} can be taken apart",
            hint="ask about a part of the pattern",
        )
