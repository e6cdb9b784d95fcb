"""Every worked example runs on each way of evaluating a text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import pyarrow as pa
import pytest

import cereus
from cereus.expr import tree as ex
from cereus.languages.sase.output import output_names, output_type
from cereus.languages.sase.query import SaseQuery
from cereus.languages.sase.text import parse
from cereus.languages.sase.tree import Component, Kleene, Program, Series, Union, UserAggregate
from cereus.limits import Limits
from cereus.reference.sase.evaluate import Answer, Match, answers

Event = Mapping[str, Any]


class Evaluate(Protocol):
    """The answers of a text, one per query; `type` and `time` are columns of the events."""

    def __call__(
        self,
        text: str,
        events: Sequence[Event],
        *,
        type: str = ...,
        aggregates: Mapping[str, UserAggregate] | None = ...,
    ) -> Sequence[Answer]: ...


def by_reference(
    text: str,
    events: Sequence[Event],
    *,
    type: str = "type",
    aggregates: Mapping[str, UserAggregate] | None = None,
) -> Sequence[Answer]:
    own = aggregates or {}
    return answers(parse(text, own), events, type=type, aggregates=own)


ROW = "__row"
"""A column that names the events, and is returned of every variable."""


def by_engine(
    text: str,
    events: Sequence[Event],
    *,
    type: str = "type",
    aggregates: Mapping[str, UserAggregate] | None = None,
) -> Sequence[Answer]:
    """Event by event, as they would come; each block of a UNION on its own, to know whose matches
    are whose. Of queries that read others the events of the variables are not told."""
    program = parse(text, aggregates or {})
    table = pa.Table.from_pylist([{**event, ROW: row} for row, event in enumerate(events)])
    run = partial(_matches, program, table, type, aggregates or {})
    answers = []
    for number, union in enumerate(program.queries):
        found = [
            (match.time, match.last, block, match)
            for block in range(len(union.blocks))
            for match in run(number, block)
        ]
        found.sort(key=lambda each: each[:3])
        names = output_names(union, (type, "time"))
        made = tuple(
            {"time": time, type: output_type(union), **dict(zip(names, match.values, strict=True))}
            for time, *_, match in found
        )
        blocks = tuple(block for _, _, block, _ in found)
        answers.append(Answer(tuple(match for *_, match in found), blocks, made))
    return answers


@dataclass(frozen=True)
class Timed(Match):
    """A match with the time and the row of the last event of the input behind it."""

    time: int = 0
    last: int = 0


def _matches(
    program: Program,
    table: pa.Table,
    type: str,
    aggregates: Mapping[str, UserAggregate],
    number: int,
    place: int,
) -> list[Timed]:
    block = program.queries[number].blocks[place]
    written = {union.stream for union in program.queries}
    variables = () if block.source in written - {None} else block.components
    output = replace(block.output, values=(*block.output.values, *map(_rows, variables)), names=())
    own = Union((replace(block, output=output),))
    read = [union for union in program.queries if union.stream in own.sources]
    stream = cereus.Stream(type=type, time="time", unit="us")
    query = cereus.Query(SaseQuery(Program((own, *read)), stream, Limits(), aggregates, 1))
    recognizer = query.recognizer(schema=table.schema)
    found = [
        (at, row)
        for at in range(table.num_rows)
        for row in recognizer.push(table.slice(at, 1))
    ]  # fmt: skip
    found += [(None, row) for row in recognizer.finish()]
    spans = ("start", "end", "start_time", "end_time", "positions")
    matches = []
    for reported, row in found:
        values = [value for name, value in row.items() if name not in spans]
        returned, held = values[: len(block.output.values)], values[len(block.output.values) :]
        bindings = tuple(
            (each.variable, tuple(rows) if isinstance(rows, list) else (rows,))
            for each, rows in zip(variables, held, strict=True)
        )
        matches.append(Timed(bindings, reported, tuple(returned), row["end_time"], row["end"]))
    if not variables:
        return matches
    return sorted(matches, key=lambda match: (match.end, [held for _, held in match.bindings]))


def _rows(component: Component) -> ex.Expression:
    if isinstance(component, Kleene):
        return Series(component.variable, (ROW,))
    return ex.Attribute((ROW,), component.variable)


EVALUATORS: dict[str, Evaluate] = {"reference": by_reference, "engine": by_engine}


@pytest.fixture(params=sorted(EVALUATORS))
def evaluate(request: pytest.FixtureRequest) -> Evaluate:
    return EVALUATORS[request.param]
