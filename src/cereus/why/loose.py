"""A query without several of its rules."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from cereus.language.anatomy import QueryRule
from cereus.language.compiled import CompiledQuery


def without(query: CompiledQuery, rules: Sequence[QueryRule], schema: pa.Schema) -> CompiledQuery:
    """The query with some rules left out."""
    left = set(rules)
    while True:
        loosened = query.anatomy(schema).make_loosened()  # no more of them than are looked at
        first = next((each for each in loosened if each.rule in left), None)
        if first is None:
            return query
        query, gone = first.without, first.rule
        if gone.place:  # else every rule that is equal to it goes
            left = {each.where_gone(gone) for each in left if each != gone}
