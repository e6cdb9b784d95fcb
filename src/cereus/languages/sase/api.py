"""SASE+ from Python: parse texts, build patterns, compile both.

from cereus import sase

pattern = sase.seq(sase.event("STOCK", where="volume > 1000", name="a"), sase.event("NEWS"))
matches = sase.compile(pattern).run(table)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pyarrow as pa

from cereus import query
from cereus.errors import CereusError
from cereus.expr import tree as ex
from cereus.expr.text import parse_condition
from cereus.language.protocol import Params
from cereus.languages.sase import tree
from cereus.languages.sase.language import Sase
from cereus.languages.sase.tree import Program, UserAggregate
from cereus.limits import Limits
from cereus.query import Query
from cereus.stream import Stream

__all__ = ["Program", "UserAggregate", "compile", "event", "parse", "seq"]


def parse(
    text: str,
    *,
    params: Params | None = None,
    aggregates: Mapping[str, UserAggregate] | None = None,
) -> Program:
    """Read one or more queries. `params` are the values of the parameters that they name,
    `aggregates` those that are not built in."""
    return Sase().parse(text, params=params, aggregates=aggregates)


def event(type: str, *, where: str | None = None, name: str | None = None) -> Program:
    """One event of a type that satisfies a condition: `PATTERN SEQ(type name) WHERE …`. Without a
    name the variable has the name of the type, in small letters."""
    variable = name or type.lower()
    component = tree.Component((type,), variable)
    groups: tuple[tree.Group, ...] = ()
    if where is not None:
        condition = _of_variable(parse_condition(where), variable)
        groups = (tree.Group(None, (), (tree.Clause(condition),)),)
    return _program(tree.Query(tree.Sequence((component,)), groups))


def seq(*parts: Program) -> Program:
    """`PATTERN SEQ(…)`: one after the other. Each part is one query block without a window, as
    `event` makes them."""
    blocks = [block for part in parts for union in part.queries for block in union.blocks]
    if len(blocks) != len(parts):
        raise CereusError("a part of a sequence is one query", hint="join what event(…) makes")
    components = tuple(each for block in blocks for each in block.parts)
    names = [each.variable for each in components]
    for name in names:
        if names.count(name) > 1:
            hint = 'name them: event("…", name="a")'
            raise CereusError(f"two events are called {name!r}", hint=hint)
    conditions = tuple(group for block in blocks for group in block.where)
    return _program(tree.Query(tree.Sequence(components), conditions))


def _program(block: tree.Query) -> Program:
    return Program((tree.Union((block,)),))


def _of_variable(condition: ex.Expression, variable: str) -> ex.Expression:
    """The condition with its columns read from the event of a variable."""
    if isinstance(condition, ex.Attribute):
        return replace(condition, variable=variable)
    return ex.rebuild(condition, lambda child: _of_variable(child, variable))


def compile(
    source: Program | str,
    *,
    stream: Stream | None = None,
    schema: pa.Schema | None = None,
    limits: Limits | None = None,
    params: Params | None = None,
    aggregates: Mapping[str, UserAggregate] | None = None,
    output: str | int | None = None,
) -> Query:
    """The query of a text or a program. `output` names the query whose output is the result, by
    its stream or its number from 1; without it, the one that no other reads."""
    return query.compile(
        source,
        dialect="sase",
        stream=stream,
        schema=schema,
        limits=limits,
        params=params,
        aggregates=aggregates,
        output=output,
    )
