"""CEQL from Python: parse texts, build patterns, compile both.

    from cereus import ceql

    block = ceql.event("SELL").where("volume >= :large").named("block")
    pattern = (block >> ceql.event("BUY").plus()).within("10 seconds").by("name")
    print(pattern)  # the query as text
    matches = ceql.compile(pattern, params={"large": 800}).run(table)

`x >> y` is `x ; y`, `x | y` is `x OR y`, and `x.plus()` is `x+` (`builder`).
"""

from __future__ import annotations

import pyarrow as pa

from cereus import query
from cereus.errors import CereusError
from cereus.language.protocol import Params
from cereus.languages.ceql.builder import BuiltQuery, CeqlBuilder, Pattern
from cereus.languages.ceql.language import Ceql
from cereus.languages.ceql.tree import CeqlTree, Formula
from cereus.limits import Limits
from cereus.query import Query
from cereus.stream import Stream
from cereus.syntax.literals import quote_name

__all__ = ["BuiltQuery", "CeqlTree", "Formula", "Pattern", "compile", "event", "parse"]


def parse(text: str, *, params: Params | None = None) -> CeqlTree:
    """Read a query. `params` are the values of the parameters that it names."""
    return Ceql().parse(text, params=params)


def event(type: str | None = None, *, where: str | None = None, name: str | None = None) -> Pattern:
    """One event, of a type or of any, that satisfies a condition: `type AS name FILTER …`."""
    if type is not None and not isinstance(type, str):
        raise CereusError(f"a type is a text, not {type!r}", hint='write event("LOGIN")')
    pattern = Pattern("*") if type is None else Pattern(quote_name(type), variable=type)
    pattern = pattern if name is None else pattern.named(name)
    return pattern if where is None else pattern.where(where)


def compile(
    source: CeqlTree | Formula | CeqlBuilder | str,
    *,
    stream: Stream | None = None,
    schema: pa.Schema | None = None,
    limits: Limits | None = None,
    params: Params | None = None,
) -> Query:
    """The query of a text, a parsed or a built one, or a pattern (as `SELECT * WHERE …`)."""
    return query.compile(
        source, dialect="ceql", stream=stream, schema=schema, limits=limits, params=params
    )
