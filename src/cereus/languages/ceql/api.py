"""CEQL from Python: parse texts, build patterns, compile both.

    from cereus import ceql

    block = ceql.event("SELL", where="volume >= 800", name="block")
    pattern = block >> ceql.event("BUY").plus()
    matches = ceql.compile(pattern).run(table)

`x >> y` is `x ; y`, `x | y` is `x OR y`, and `x.plus()` is `x+`.
"""

from __future__ import annotations

import pyarrow as pa

from cereus import query
from cereus.expr.text import parse_condition
from cereus.language.protocol import Params
from cereus.languages.ceql.filters import Boxed, predicate
from cereus.languages.ceql.language import Ceql
from cereus.languages.ceql.tree import As, CeqlTree, Filter, Formula, Type
from cereus.limits import Limits
from cereus.query import Query
from cereus.stream import Stream

__all__ = ["CeqlTree", "Formula", "compile", "event", "parse"]


def parse(text: str, *, params: Params | None = None) -> CeqlTree:
    """Read a query. `params` are the values of the parameters that it names."""
    return Ceql().parse(text, params=params)


def event(type: str | None = None, *, where: str | None = None, name: str | None = None) -> Formula:
    """One event, of a type or of any, that satisfies a condition: `type AS name FILTER …`."""
    formula: Formula = Type("*" if type is None else type)
    if name is None and where is not None and type is None:
        name = "event"  # a condition is about a variable, and `*` is none
    if name is not None:
        formula = As(formula, name)
    if where is None:
        return formula
    return Filter(formula, predicate(Boxed(str(name or type), parse_condition(where))))


def compile(
    source: CeqlTree | Formula | str,
    *,
    stream: Stream | None = None,
    schema: pa.Schema | None = None,
    limits: Limits | None = None,
    params: Params | None = None,
) -> Query:
    """The query of a text, a parsed one, or a pattern (as `SELECT * WHERE …`)."""
    return query.compile(
        source, dialect="ceql", stream=stream, schema=schema, limits=limits, params=params
    )
