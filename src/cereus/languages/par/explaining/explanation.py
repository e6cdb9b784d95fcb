"""Explains how a program will be run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pyarrow as pa

from cereus.language.compiled import sections

if TYPE_CHECKING:
    from cereus.languages.par.query import ParQuery

MOST_SHOWN = 24
"""The most lines of a machine that are shown."""


def explanation(query: ParQuery, schema: pa.Schema | None) -> str:
    """How a program will be run."""
    return sections(
        {
            "program": [str(query.tree)],
            "stages": _stages(query),
            "tests": query.tests_text(schema),
            "dropped before the machine": ["events that pass no test"],
            "machine": _states(query),
            "results": _results(query),
            "memory": [f"constant: the number of a state, 4 bytes{_each_key(query)}"],
            "warnings": query.warnings,
        }
    )


def _stages(query: ParQuery) -> Iterator[str]:
    first, smallest = query.derivatives.sizes, query.machine.sizes
    yield f"lang      par text → program with {sum(1 for _ in query.tree.walk())} parts"
    yield f"machine   {first['states']} states, one for each derivative, over {_kinds(first)}"
    yield f"minimise  {smallest['states']} states over {_kinds(smallest)}"
    yield "engine    one table lookup per event that passes a test"


def _states(query: ParQuery) -> Iterator[str]:
    lines = str(query.machine).splitlines()
    yield from lines[1 : MOST_SHOWN + 1]
    if len(lines) > MOST_SHOWN + 1:
        yield f"… {len(lines) - MOST_SHOWN - 1} more lines: cereus.par.machine(…) has all"


def _results(query: ParQuery) -> Iterator[str]:
    if query.stream.keys:
        yield f"one program for each value of {', '.join(query.stream.keys)}"
    yield "one row for each event with output or completion, in the order of the events"


def _each_key(query: ParQuery) -> str:
    if not query.stream.keys:
        return ""
    return ", for each key; one whose program begins anew is forgotten"


def _kinds(sizes: dict[str, int]) -> str:
    return f"{sizes['classes']} classes of {sizes['letters']} letters"
