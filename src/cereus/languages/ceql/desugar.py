"""Replaces AFTER MATCH SKIP PAST LAST EVENT by the clauses that it is short for."""

from __future__ import annotations

from dataclasses import replace

from cereus.clauses.tree import Consume, Skip, Strategy
from cereus.languages.ceql import tree as cel


def desugared(query: cel.CeqlTree) -> cel.CeqlTree:
    """The query without AFTER MATCH SKIP PAST LAST EVENT: of the matches that are complete at an
    event, the one that NEXT prefers is taken, and evaluation begins again after it. A match that
    contains another is preferred to it, so the choice is the same among those that MAX keeps."""
    if query.skip is not Skip.PAST_LAST:
        return query
    strategy, formula = query.strategy, query.formula
    if strategy is Strategy.STRICT:
        formula = cel.Select(Strategy.STRICT, formula, span=formula.span)
    if strategy in (Strategy.ALL, Strategy.MAX, Strategy.STRICT):
        strategy = Strategy.NEXT
    return replace(query, formula=formula, strategy=strategy, consume=Consume.PARTITION, skip=None)
