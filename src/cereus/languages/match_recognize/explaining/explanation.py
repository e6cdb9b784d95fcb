"""Explains how a clause will be run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pyarrow as pa

from cereus.language.compiled import sections
from cereus.languages.match_recognize.match.finding import Path
from cereus.languages.match_recognize.match.needs import parts
from cereus.languages.match_recognize.print import pattern_text, value_text

if TYPE_CHECKING:
    from cereus.languages.match_recognize.query import MatchRecognizeQuery

WHY = {
    Path.ROWS: "every condition reads the row, or rows at a constant distance: letters, and two "
    "passes, linear in the rows whatever the pattern",
    Path.SLOTS: "conditions read other variables, or many rounds are counted: runs with slots, in "
    "order of preference, merged where what they remember is equal",
    Path.AGGREGATES: "conditions read aggregates: runs with running sums, in order of preference, "
    "merged where these are equal; in the worst case their number grows with every row, up to a "
    "limit",
    Path.SEARCH: "conditions that slots cannot hold: runs are tried one by one, none twice with "
    "the same memory, up to a limit; this is not compiled, and a hundred times slower",
}


def explanation(query: MatchRecognizeQuery, schema: pa.Schema | None) -> str:
    """How a clause will be run."""
    return sections(
        {
            "pattern": _pattern(query),
            "conditions": _conditions(query, schema),
            "matching": _matching(query, schema),
            "partitions and order": _order(query),
            "output": _output(query),
            "memory": _memory(query, schema),
            "warnings": [*query.warnings, *query.live_warnings],
        }
    )


def _pattern(query: MatchRecognizeQuery) -> Iterator[str]:
    yield pattern_text(query.tree.pattern)
    yield f"{len(query.automaton)} states, each reads one row; moves in order of preference"
    yield f"after a match: SKIP {query.tree.skip.to} {query.tree.skip.variable or ''}".strip()
    if query.tree.within is not None:
        yield f"within {query.tree.within.length} of the first row"
        if query.tree.within.timeouts:
            yield "partial matches that their window ends are emitted too"


def _conditions(query: MatchRecognizeQuery, schema: pa.Schema | None) -> Iterator[str]:
    defined = {each.variable: each.condition for each in query.tree.define}
    over = None if schema is None else query.bound(schema)
    for name in query.tree.variables():
        if name not in defined:
            yield f"{name}  every row"
            continue
        ahead = over is not None and all(part.of_row for part in parts(over, name))
        note = "  (of the row)" if ahead else ""
        yield f"{name}  {value_text(defined[name])}{note}"


def _matching(query: MatchRecognizeQuery, schema: pa.Schema | None) -> Iterator[str]:
    if schema is None:
        yield "decided when the columns are known"
    else:
        path = query.path(query.bound(schema))
        yield f"{path}: {WHY[path]}"
    yield "live: a match is emitted when no run of higher preference is alive"


def _order(query: MatchRecognizeQuery) -> Iterator[str]:
    names = ", ".join(".".join(path) for path in query.tree.partition)
    yield f"partitions by {names}" if names else "one partition"
    order = ", ".join(
        f"{each.path[-1]}{' DESC' if each.descending else ''}" for each in query.tree.order
    )
    yield f"in the order of {order}; ties as they came" if order else "in the order of arrival"


def _output(query: MatchRecognizeQuery) -> Iterator[str]:
    yield str(query.tree.rows)
    for measure in query.tree.measures:
        yield f"{measure.name} = {value_text(measure.value)}"


def _memory(query: MatchRecognizeQuery, schema: pa.Schema | None) -> Iterator[str]:
    if schema is not None:
        read = [schema.field(path[0]).type for path in query.columns(schema)]
        fixed = sum(kind.bit_width for kind in read if _is_fixed(kind))
        texts = "" if all(map(_is_fixed, read)) else " and its texts"
        yield f"of a table every row, with {fixed // 8} bytes{texts} in the columns it reads"
    within = query.tree.within
    ends = "which WITHIN sees to" if within is not None else "however long that takes"
    yield f"live, the rows of each partition until no match can have them, {ends}"


def _is_fixed(kind: pa.DataType) -> bool:
    """Whether all values of a type have the same size."""
    return bool(pa.types.is_primitive(kind))
