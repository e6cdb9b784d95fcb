"""A query without several of its rules."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

import pyarrow as pa

from cereus.language.anatomy import Loosened, QueryRule
from cereus.language.compiled import CompiledQuery


def without(query: CompiledQuery, rules: Sequence[QueryRule], schema: pa.Schema) -> CompiledQuery:
    """The query without some rules, the last left out first: rules that belong to a rule, such as
    those inside a negation, come after it, so no rule changes the number of one before it."""
    every, left = _rules(query, schema), set(rules)
    numbers = [number for number, rule in enumerate(every) if rule in left]
    if len(numbers) == len(every):
        numbers = [0] * len(every)  # with very many, the first is found soonest
    for number in reversed(numbers):
        loosened = _loosened(query, number, schema)
        query = query if loosened is None else loosened.without
    return query


def loosened_alone(
    query: CompiledQuery, rule: QueryRule, rules: Sequence[QueryRule], schema: pa.Schema
) -> Loosened | None:
    """One of some rules loosened, in the query without the others; None if the rule is not found
    there."""
    every, others = _rules(query, schema), {*rules} - {rule}
    number = sum(each not in others for each in every[: every.index(rule)])
    alone = _loosened(without(query, tuple(others), schema), number, schema)
    return alone if alone is not None and alone.rule.condition == rule.condition else None


def _rules(query: CompiledQuery, schema: pa.Schema) -> list[QueryRule]:
    return [each.rule for each in query.anatomy(schema).make_loosened()]


def _loosened(query: CompiledQuery, number: int, schema: pa.Schema) -> Loosened | None:
    return next(islice(query.anatomy(schema).make_loosened(), number, None), None)
