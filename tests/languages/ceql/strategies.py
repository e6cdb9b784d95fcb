"""Random CEQL queries and streams that exercise every operator of CEL.

Everything is drawn from a `random.Random`: hypothesis supplies one that shrinks
(`st.randoms`), and a plain seed names a case that another process can draw again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from operator import or_
from random import Random
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from cereus import Stream
from cereus.clauses.tree import (
    AttributeWindow,
    Consume,
    EventWindow,
    Output,
    ParsedQuery,
    Returned,
    Skip,
    Strategy,
    TimeWindow,
    Window,
)
from cereus.expr import tree as ex
from cereus.languages.ceql import tree as cel
from cereus.languages.ceql.operators.counts import may_be_nothing
from cereus.languages.ceql.order import leaf_order
from cereus.languages.ceql.scope import bound
from cereus.languages.ceql.text import to_text

TYPES = ("A", "B", "C")
UNKNOWN_TYPE = "D"
VARIABLES = ("a", "b", "c")
STREAMS = ("S1", "S2")
UNREAD_STREAM = "S3"
SECOND = 1_000_000
SCHEMA = pa.schema(
    {
        "type": pa.string(),
        "t": pa.int64(),
        "w": pa.float64(),
        "x": pa.int64(),
        "s": pa.string(),
        "k": pa.int64(),
        "src": pa.string(),
    }
)
BINARIES = (cel.Sequence, cel.ContiguousSequence, or_, cel.And, cel.All, cel.Unless)
STRATEGIES = tuple(each for each in Strategy if each is not Strategy.ALL)
Events = list[dict[str, Any]]


@dataclass(frozen=True)
class Case:
    """A query, whether its events say which stream they came on, and streams to run it on."""

    query: ParsedQuery
    streamed: bool
    streams: tuple[Events, ...]

    @property
    def stream(self) -> Stream:
        return Stream(time="t", unit="s", stream="src" if self.streamed else None)

    def __str__(self) -> str:
        return f"{to_text(self.query)}\n{self.stream}"

    __repr__ = __str__


def table(events: Events) -> pa.Table:
    return pa.Table.from_pylist(events, SCHEMA)


# ---------------------------------------------------------------- conditions and filters


def condition(draw: Random, variable: str, depth: int = 1) -> ex.Expression:
    """A condition on one event, with nulls among the values that it meets."""
    x = ex.Attribute(("x",), variable)
    s = ex.Attribute(("s",), variable)
    kind = draw.randrange(8 if depth else 5)
    if kind < 2:
        sign = draw.choice(["=", "!=", "<", "<=", ">", ">="])
        return ex.Comparison(sign, x, ex.Literal(draw.randrange(3)))
    if kind == 2:
        return ex.Comparison(draw.choice(["=", "!="]), s, ex.Literal(draw.choice("uv")))
    if kind == 3:
        return ex.In(s, (ex.Literal("u"), ex.Literal("w")))
    if kind == 4:
        return ex.IsNull(draw.choice([x, s]))
    if kind == 5:
        return ex.Not(condition(draw, variable, 0))
    both = (condition(draw, variable, 0), condition(draw, variable, 0))
    return ex.Or(both) if kind == 6 else ex.And(both)


def predicate(draw: Random, variables: list[str], depth: int = 1) -> cel.Predicate:
    kind = draw.randrange(5 if depth else 3)
    if kind < 3:
        held = condition(draw, draw.choice(variables))
        if isinstance(held, ex.And | ex.Or):
            # outside brackets these would be AND and OR of filters; IS NULL keeps them inside
            guard = ex.Not(ex.IsNull(ex.Attribute(("type",), next(iter(ex.variables(held))))))
            held = type(held)((*held.operands, ex.Not(guard) if isinstance(held, ex.Or) else guard))
        return cel.Holds(held)
    parts = tuple(predicate(draw, variables, 0) for _ in range(2))
    return cel.AllOf(parts) if kind == 3 else cel.AnyOf(parts)


# ---------------------------------------------------------------- formulas


def event_type(draw: Random, streamed: bool) -> cel.Type:
    name = "*" if draw.randrange(20) == 0 else draw.choice(TYPES)
    stream = draw.choice(STREAMS) if streamed and draw.randrange(3) == 0 else None
    return cel.Type(name, stream)


def filtered(draw: Random, body: cel.Formula, streamed: bool) -> cel.Formula:
    names = sorted(bound(body))
    if streamed:
        names += [f"{s}>{t}" for t in TYPES if t in names for s in STREAMS]
    return cel.Filter(body, predicate(draw, sorted(set(names)))) if names else body


def negated(draw: Random, streamed: bool) -> cel.Formula:
    body: cel.Formula = event_type(draw, streamed)
    if draw.randrange(2):
        body = cel.As(body, draw.choice(VARIABLES))
    if draw.randrange(2):
        body = filtered(draw, body, streamed)
    return cel.Not(body)


def formula(draw: Random, size: int, streamed: bool = False) -> cel.Formula:
    """A formula of about `size` nodes."""
    if size <= 1:
        if draw.randrange(12) == 0:
            return negated(draw, streamed)
        return event_type(draw, streamed)
    if size == 2 or draw.randrange(5) < 2:
        return unary(draw, formula(draw, size - 1, streamed), streamed)
    kind = draw.choice((cel.Sequence, cel.Sequence, *BINARIES))
    share = draw.randint(1, size - 2)
    left, right = formula(draw, share, streamed), formula(draw, size - 1 - share, streamed)
    if kind is cel.Unless and may_be_nothing(right):
        right = event_type(draw, streamed)
    if kind is cel.And and draw.randrange(2):
        # two drawn formulas seldom have the same valuations
        right = left | right if draw.randrange(2) else filtered(draw, left, streamed)
    if kind in (cel.Sequence, cel.ContiguousSequence) and draw.randrange(5) == 0:
        return cel.Gapped(left, right, gap(draw), kind is cel.ContiguousSequence)
    return kind(left, right)


def unary(draw: Random, body: cel.Formula, streamed: bool) -> cel.Formula:
    kind = draw.randrange(19)
    if kind < 3:
        return cel.As(body, draw.choice(VARIABLES))
    if kind < 6:
        return filtered(draw, body, streamed)
    if kind == 6:
        names = sorted(name for name in bound(body) if ">" not in name)
        kept = frozenset(draw.sample(names, draw.randint(1, len(names)))) if names else None
        return body if kept is None else cel.Project(kept, body)
    if kind == 7:
        return cel.Start(body)
    if kind == 8:
        return cel.ContiguousIteration(body)
    if kind == 9:
        return cel.Select(draw.choice(STRATEGIES), body)
    if kind < 12:
        return cel.Iteration(body)
    if kind == 12:
        return cel.Optional(body)
    if kind < 15:
        return repeated(draw, body)
    if kind < 17:
        return without(draw, body, streamed)
    return cel.Within(body, window(draw) or EventWindow(2))


def gap(draw: Random) -> cel.GapLength:
    least, length = draw.choice((None, None, 0, 1, 2)), draw.randrange(4)
    most = None if least is not None and draw.randrange(2) else (least or 0) + length
    return cel.GapLength(*(None if x is None else x * SECOND for x in (least, most)))


def without(draw: Random, body: cel.Formula, streamed: bool) -> cel.Formula:
    """`φ WITHOUT …`, `φ UNTIL …`: of one kind of events or two."""
    kinds = tuple(absent(draw, streamed) for _ in range(draw.choice((1, 1, 2))))
    return cel.Without(body, kinds, draw.randrange(3) == 0)


def absent(draw: Random, streamed: bool) -> cel.Excluded:
    event = event_type(draw, streamed)
    names = (draw.choice(VARIABLES),) if draw.randrange(2) else ()
    known = [*names, *(() if event.name == "*" else (event.name,))]
    if not known or draw.randrange(2):
        return cel.Excluded(event, names)
    return cel.Excluded(event, names, predicate(draw, known))


def repeated(draw: Random, body: cel.Formula) -> cel.Formula:
    """`φ{2}`, `φ{0,1}`, `φ{1,}` …, small counts: a reference match has few events."""
    least = draw.choice((0, 1, 2, 2))
    most = draw.choice((None, max(least, 1), least + 1, least + 2))
    between = gap(draw) if draw.randrange(3) == 0 else None
    return cel.Repeated(body, least, most, draw.randrange(4) == 0, between)


# ---------------------------------------------------------------- queries


def outputs(draw: Random, pattern: cel.Formula) -> tuple[Output, ...] | None:
    names = sorted(bound(pattern))
    if not names or draw.randrange(2):
        return None
    chosen = draw.sample(names, draw.randint(1, min(2, len(names))))
    shown = [(), (("x",),), (("s",), ("t",))]
    return tuple(
        Output(name, draw.choice(shown) if draw.randrange(3) == 0 else ()) for name in chosen
    )


def returned_value(draw: Random, pattern: cel.Formula, depth: int = 1) -> ex.Expression | None:
    """A value of RETURN: an attribute of a variable that holds one event, aggregates, sums."""
    names = sorted(name for name in bound(pattern) if ">" not in name)
    if not names:
        return None
    name, path = draw.choice(names), (draw.choice("xxtw"),)
    if depth and draw.randrange(3) == 0:
        sides = (returned_value(draw, pattern, 0), returned_value(draw, pattern, 0))
        return ex.Arithmetic(draw.choice("+-*"), *sides)
    if draw.randrange(2) and not leaf_order(pattern).may_follow(name, name):
        return ex.Attribute(("s",) if depth and draw.randrange(4) == 0 else path, name)
    function = draw.choice(("count", "count", "sum", "avg", "min", "max", "first", "last"))
    return ex.Aggregate(function, name, None if function == "count" else path)


def returned(draw: Random, pattern: cel.Formula) -> tuple[Returned, ...]:
    values = [returned_value(draw, pattern) for _ in range(draw.randint(1, 3))]
    return tuple(Returned(value, f"r{n}") for n, value in enumerate(values) if value is not None)


def window(draw: Random) -> Window | None:
    kind = draw.randrange(6)
    if kind < 2:
        return EventWindow(draw.randint(1, 6))
    if kind < 4:
        return TimeWindow(draw.randint(0, 4) * SECOND)
    return AttributeWindow(draw.choice([0, 0.5, 1, 2, 3.5]), ("w",)) if kind == 4 else None


def query(draw: Random, size: int, streamed: bool) -> ParsedQuery:
    pattern = formula(draw, size, streamed)
    kept = ParsedQuery(pattern, streams=STREAMS if streamed and draw.randrange(2) else ())
    if draw.randrange(2):
        kept = replace(kept, select=outputs(draw, pattern))
    if draw.randrange(4) == 0:
        kept = replace(kept, returned=returned(draw, pattern))
    if draw.randrange(5) < 2:
        kept = replace(kept, strategy=draw.choice(STRATEGIES))
    if draw.randrange(3) == 0:
        kept = replace(kept, partition_by=draw.choice([(("k",),), (("k",), ("s",))]))
    if draw.randrange(2):
        kept = replace(kept, window=window(draw))
    if draw.randrange(4) == 0:
        kept = replace(kept, consume=draw.choice(list(Consume)))
    if draw.randrange(8) == 0:
        kept = replace(kept, limit=draw.randint(0, 3))
    if draw.randrange(5) == 0:
        skip = draw.choice(list(Skip))
        kept = replace(kept, skip=skip, limit=None, consume=Consume.NONE)
        if skip is Skip.TO_NEXT:
            kept = replace(kept, select=None)
    return kept


# ---------------------------------------------------------------- streams


def events(draw: Random, length: int, *, keys: int = 2) -> Events:
    """Few types and values, so that much matches; ties in time, nulls in values and keys."""
    made: Events = []
    time, measure = 0, 0.0
    for _ in range(length):
        time += draw.choice((0, 1, 1, 2))
        measure += draw.choice((0, 0.5, 1))
        made.append(
            {
                "type": draw.choice((*TYPES, *TYPES, *TYPES, UNKNOWN_TYPE)),
                "t": time,
                "w": measure,
                "x": draw.choice((0, 1, 2, None)),
                "s": draw.choice(("u", "v", "w", None)),
                "k": draw.choice((*range(1, keys + 1), None)),
                "src": draw.choice((*STREAMS, *STREAMS, UNREAD_STREAM)),
            }
        )
    return made


def longest(pattern: cel.Formula) -> int:
    """How many events the reference evaluator, exponential as it is, can be asked about."""
    nodes = list(pattern.walk())
    loops = cel.Iteration | cel.ContiguousIteration | cel.Repeated
    repeats = sum(isinstance(n, loops) for n in nodes)
    crossings = sum(isinstance(n, cel.All) for n in nodes)
    return max(5, 9 - max(0, repeats - 1) - 2 * crossings)


def case(draw: Random, *, streams: int = 2, largest: int = 7) -> Case:
    streamed = draw.randrange(4) == 0
    asked = query(draw, max(draw.randint(1, largest), draw.randint(1, largest)), streamed)
    length = longest(asked.formula)
    return Case(
        asked,
        streamed,
        tuple(events(draw, draw.randint(min(2, length), length)) for _ in range(streams)),
    )


randoms = st.randoms(use_true_random=False)
cases = randoms.map(case)
