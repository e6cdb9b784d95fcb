"""MATCH_RECOGNIZE from Python: read a clause, compile it.

    from cereus import match_recognize

    query = match_recognize.compile("MATCH_RECOGNIZE (ORDER BY ts PATTERN (a b+) DEFINE …)")

Whole statements with clauses in them run with `cereus.sql`. There is no `event` here: the variables
of a row pattern stand for any row, and DEFINE says for which.
"""

from __future__ import annotations

import pyarrow as pa

from cereus import query
from cereus.language.protocol import Params
from cereus.languages.match_recognize.language import MatchRecognize
from cereus.languages.match_recognize.tree import Clause
from cereus.limits import Limits
from cereus.query import Query
from cereus.stream import Stream

__all__ = ["Clause", "compile", "parse"]


def parse(text: str, *, params: Params | None = None) -> Clause:
    """Read a clause. `params` are the values of the parameters that it names."""
    return MatchRecognize().parse(text, params=params)


def compile(
    source: Clause | str,
    *,
    stream: Stream | None = None,
    schema: pa.Schema | None = None,
    limits: Limits | None = None,
    params: Params | None = None,
) -> Query:
    """The query of a text or a clause."""
    return query.compile(
        source,
        dialect="match_recognize",
        stream=stream,
        schema=schema,
        limits=limits,
        params=params,
    )
