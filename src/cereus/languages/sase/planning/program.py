"""A SASE+ text → the plans of its queries, and the flow of events between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import pyarrow as pa

from cereus.clauses.tree import TIMEOUTS
from cereus.errors import QueryError, RefusedError, Span
from cereus.expr import tree as ex
from cereus.languages.sase import tree as sase
from cereus.languages.sase.output import output_names, output_type
from cereus.languages.sase.planning.block import build
from cereus.languages.sase.print import to_text
from cereus.languages.sase.schema import checked
from cereus.languages.sase.streams import in_order
from cereus.plan.atoms import check_stream
from cereus.plan.plan import Plan
from cereus.plan.result_names import SPANS, check_keys
from cereus.state.digest import digest_of
from cereus.stream import Stream
from cereus.syntax.parsing import located

Aggregates = Mapping[str, sase.UserAggregate]
Path = tuple[str, ...]
VERSION = 2
"""The version of the snapshots of whole texts."""
TYPE = "type"
"""The column of types in the output of queries, if the input has none."""


@dataclass(frozen=True)
class Block:
    """One query block with its plan.

    source  the stage whose events it reads; None: the input
    schema  of those events; None: not known yet
    kinds   the types of what it returns
    """

    query: sase.Query
    plan: Plan
    source: int | None
    schema: pa.Schema | None
    kinds: tuple[pa.DataType, ...]

    @property
    def emits_late(self) -> bool:
        """Whether a match may be emitted after its last event."""
        return self.plan.traits.emits_late

    @property
    def payload(self) -> tuple[str, ...]:
        """The columns that HAVING and RETURN read."""
        having = () if self.query.having is None else (self.query.having,)
        every = (path for e in (*having, *self.query.output.values) for path in paths_of(e))
        return tuple(dict.fromkeys(path[0] for path in every))


@dataclass(frozen=True)
class Stage:
    """A query of the text: its blocks, and the names, types and type of its output events."""

    number: int
    union: sase.Union
    blocks: tuple[Block, ...]
    names: tuple[str, ...]
    type: str
    schema: pa.Schema | None

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The variables whose events the result shows: all, if there is no RETURN."""
        block, *others = self.union.blocks
        return () if self.names or others else tuple(c.variable for c in block.components)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns with the rows of these variables."""
        column = self.union.blocks[0].output.column
        return tuple(map(column.format, self.variables))

    @property
    def title(self) -> str:
        stream = self.union.stream
        return f"query {self.number}" if stream is None else f"query {self.number}, {stream}"


@dataclass(frozen=True)
class ProgramPlan:
    """The plans of the queries that a result needs, in an order to run them in: the last makes the
    result."""

    stages: tuple[Stage, ...]
    program: sase.Program
    stream: Stream
    aggregates: Aggregates
    version: int = VERSION

    @property
    def result(self) -> Stage:
        return self.stages[-1]

    @property
    def composed(self) -> bool:
        """Whether queries read the output of others."""
        return len(self.stages) > 1

    @property
    def readers(self) -> Iterator[Block]:
        """The blocks that read the input."""
        return (b for stage in self.stages for b in stage.blocks if b.source is None)

    @property
    def emits_late(self) -> bool:
        """Whether a result may be emitted after its last event."""
        return self.composed or any(block.emits_late for block in self.result.blocks)

    @property
    def splits(self) -> bool:
        """Whether keys may be read separately. If the stream has no keys, a match that waits for
        its window is emitted when any event has passed it. Time-outs are read again batch by
        batch."""
        timeouts = any(block.query.timeouts for block in self.result.blocks)
        punctual = not self.emits_late or bool(self.stream.keys)
        return not self.composed and not timeouts and punctual

    @cached_property
    def fingerprint(self) -> str:
        """Identifies what the state in a snapshot means."""
        plans = [block.plan.fingerprint for stage in self.stages for block in stage.blocks]
        identity = (self.version, to_text(self.program), self.result.number, self.stream, plans)
        return digest_of(repr((identity, sorted(self.aggregates))))

    @property
    def columns(self) -> frozenset[Path]:
        """The columns of the input that are read."""
        columns = {path for block in self.readers for path in block.plan.columns}
        columns.update((name,) for block in self.readers for name in block.payload)
        return frozenset(columns)


def paths_of(expression: ex.Expression) -> Iterator[Path]:
    """The attributes that something in HAVING or RETURN reads."""
    for node in expression.walk():
        match node:
            case sase.Record(_, paths) | sase.Records(_, paths):
                yield from paths
            case ex.Attribute(path) | sase.Series(_, path):
                yield path
            case sase.Aggregate(attribute=tuple(path)):
                yield path


# ---------------------------------------------------------------- building


def build_program(
    program: sase.Program,
    stream: Stream,
    schema: pa.Schema | None,
    aggregates: Aggregates,
    output: str | int | None = None,
) -> ProgramPlan:
    """Plan the queries of a text; with a schema, everything in it is checked against it."""
    number = _result(program, output)
    schemas: tuple[pa.Schema | None, ...] = (None,) * len(program.queries)
    if schema is not None:
        check_stream(stream, schema)
        program, schemas = checked(program, schema, type=stream.type, time=stream.time)
    try:
        made = _Building(program, stream, schema, schemas, aggregates)
        for union in _needed(program, program.queries[number]):
            made.add(union)
        _check_result(made.stages[-1], stream)
    except QueryError as error:
        raise (error if program.text is None else located(error, program.text)) from None
    return ProgramPlan(tuple(made.stages), program, stream, aggregates)


class _Building:
    def __init__(
        self,
        program: sase.Program,
        stream: Stream,
        schema: pa.Schema | None,
        schemas: tuple[pa.Schema | None, ...],
        aggregates: Aggregates,
    ) -> None:
        self.program, self.stream, self.schema = program, stream, schema
        self.schemas, self.aggregates = schemas, aggregates
        self.stages: list[Stage] = []
        self.written: dict[str, int] = {}

    def add(self, union: sase.Union) -> None:
        place = next(n for n, each in enumerate(self.program.queries) if each is union)
        after = between(self.stream)
        reserved = [name for name in (after.type, after.time) if name is not None]
        names, schema = output_names(union, reserved), self.schemas[place]
        kinds = () if schema is None else tuple(schema.field(name).type for name in names)
        blocks = tuple(self._block(query, kinds) for query in union.blocks)
        _check_keys(union, names, self.stream)
        stage = Stage(place + 1, union, blocks, names, output_type(union), self._events(schema))
        if union.stream is not None:
            self.written[union.stream] = len(self.stages)
        self.stages.append(stage)

    def _block(self, query: sase.Query, kinds: tuple[pa.DataType, ...]) -> Block:
        source = self.written.get(query.source or "")
        stream = self.stream if source is None else between(self.stream)
        schema = self.schema if source is None else self.stages[source].schema
        plan = build(query, stream, schema, self.aggregates)
        return Block(query, plan, source, schema, kinds)

    def _events(self, schema: pa.Schema | None) -> pa.Schema | None:
        """The columns of output events: type, time, values, and the keys that are not among
        them."""
        if schema is None or self.schema is None:
            return None
        keys = [self.schema.field(name) for name in self.stream.keys if name not in schema.names]
        return pa.schema([*schema, *keys])


def between(stream: Stream) -> Stream:
    """The stream of output events."""
    return replace(stream, type=stream.type or TYPE, stream=None, where=None)


def _needed(program: sase.Program, result: sase.Union) -> list[sase.Union]:
    """The query of the result and all that it reads, each after those it reads."""
    wanted, names = [result], set(result.sources)
    for union in reversed(in_order(program)):
        if union is not result and union.stream is not None and union.stream in names:
            wanted.append(union)
            names.update(union.sources)
    return wanted[::-1]


def _result(program: sase.Program, output: str | int | None) -> int:
    """The place of the query that makes the result."""
    read = {name for union in program.queries for name in union.sources}
    ends = [n for n, union in enumerate(program.queries) if union.stream not in read]
    named = [union.stream or n + 1 for n, union in enumerate(program.queries)]
    if output is None:
        if len(ends) > 1:
            what = ", ".join(repr(named[n]) for n in ends)
            raise RefusedError(
                f"{len(ends)} queries of this text are read by no other: {what}",
                hint=f"say whose output is wanted, output={named[ends[-1]]!r}, or take them "
                "one by one",
            )
        return ends[0]
    places = [n for n, name in enumerate(named) if output in (name, n + 1, str(n + 1))]
    if not places:
        known = ", ".join(map(repr, named))
        raise RefusedError(
            f"no query of this text has the output {output!r}",
            hint=f"the queries are {known}, by stream or number",
        )
    return places[0]


# ---------------------------------------------------------------- names of columns


def _check_result(stage: Stage, stream: Stream) -> None:
    """Check the values of RETURN, which become columns beside those that every match has."""
    fixed = [name for name in SPANS if stream.time is not None or not name.endswith("_time")]
    fixed += TIMEOUTS if stage.union.blocks[0].timeouts else ()
    check_keys([(key,) for key in stream.keys], fixed)
    for place, name in enumerate(stage.names or stage.columns):
        if name in fixed or (stage.variables and name in stream.keys):
            span = _span(stage.union, place)
            raise RefusedError(
                f"the result would have two columns {name!r}",
                span=span,
                hint="give the values other names: RETURN … AS NAME(…)",
            )


def _check_keys(union: sase.Union, names: tuple[str, ...], stream: Stream) -> None:
    """Check that a value with the name of a key is that key."""
    for place, name in enumerate(names):
        for block in union.blocks if name in stream.keys else ():
            value = block.output.values[place]
            if not isinstance(value, ex.Attribute) or value.path != (name,):
                raise RefusedError(
                    f"{name!r} is a key of the stream, and this value is something else",
                    span=value.span,
                    hint="give it another name: RETURN … AS NAME(…)",
                )


def _span(union: sase.Union, place: int) -> Span | None:
    values = union.blocks[0].output.values
    return values[place].span if place < len(values) else union.blocks[0].pattern.span
