"""Random SREMO queries and streams: every operator, nested freely, over a few small columns."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pyarrow as pa

from cereus.clauses.tree import AttributeWindow, EventWindow, ParsedQuery, TimeWindow, Window
from cereus.expr import tree as ex
from cereus.languages.sremo import tree as sremo
from cereus.languages.sremo.text import named
from cereus.syntax.tree import rebuild

Events = list[dict[str, Any]]

SCHEMA = pa.schema(
    {
        "type": pa.string(),
        "k": pa.int64(),
        "x": pa.int64(),
        "w": pa.float64(),
        "s": pa.string(),
        "t": pa.int64(),
    }
)
TYPES = ("A", "B", "C")
REGISTERS = ("r", "q")
COMPARE = ("=", "!=", "<", "<=", ">", ">=")


def events(random: Random, most: int = 7) -> Events:
    stream: Events = []
    time = 0
    for _ in range(random.randint(1, most)):
        time += random.randint(0, 3)
        stream.append(
            {
                "type": random.choice(TYPES),
                "k": random.choice((0, 1)),
                "x": random.choice((0, 1, 2, None) if random.random() < 0.5 else (0, 1, 2)),
                "w": random.choice((0.5, 1.0, float("nan"))),
                "s": random.choice(("a", "b", None) if random.random() < 0.4 else ("a", "b")),
                "t": time,
            }
        )
    return stream


def table(stream: Events) -> pa.Table:
    return pa.Table.from_pylist(stream, SCHEMA)


# ---------------------------------------------------------------- conditions


def _attribute(random: Random, variable: str | None = None) -> ex.Expression:
    return ex.Attribute((random.choice("xxw"),), variable)


def _local(random: Random) -> ex.Expression:
    return ex.Comparison(
        random.choice(COMPARE), _attribute(random), ex.Literal(random.choice((0, 1)))
    )


def _on_register(random: Random) -> ex.Expression:
    """One comparison: mostly of a register with the event, or mixed on both sides."""
    if random.random() < 0.1:
        names = [ex.Attribute(("s",), each) for each in (random.choice(REGISTERS), None)]
        return ex.Comparison(random.choice(("=", "!=")), *names)
    sides = [_attribute(random), _attribute(random, random.choice(REGISTERS))]
    if random.random() < 0.15:
        sides[0] = _attribute(random, random.choice(REGISTERS))
    random.shuffle(sides)
    if random.random() < 0.25:
        sides[0] = _computed(random, sides[0])
    return ex.Comparison(random.choice(COMPARE), *sides)


def _computed(random: Random, side: ex.Expression) -> ex.Expression:
    other = ex.Literal(1)
    if random.random() < 0.6:
        other = _attribute(random, random.choice((None, *REGISTERS)))
    if random.random() < 0.2:
        return ex.Call(random.choice(("least", "greatest")), (side, other))
    return ex.Arithmetic(random.choice("+-*/%"), side, other)


def _atom(random: Random) -> ex.Expression:
    """What is false while a register is empty, in all its forms."""
    register = random.choice(REGISTERS)
    roll = random.random()
    if roll < 0.1:
        return ex.IsNull(_attribute(random, register))
    if roll < 0.2:
        operand = _attribute(random, random.choice((None, register)))
        return ex.Between(operand, ex.Literal(0), _attribute(random, register))
    if roll < 0.3:
        return ex.In(_attribute(random, register), (ex.Literal(0), ex.Literal(2)))
    return _on_register(random)


def condition(random: Random, *, simple: bool, depth: int = 2) -> ex.Expression:
    roll = random.random()
    if roll < 0.35 - 0.1 * (2 - depth):
        return sremo.TRUE
    if roll < 0.45:
        return _local(random)
    if roll < 0.65 or depth == 0 or (simple and roll < 0.8):
        return _on_register(random) if simple else _atom(random)
    if roll < 0.75:
        return ex.Not(condition(random, simple=simple, depth=depth - 1))
    parts = tuple(condition(random, simple=simple, depth=depth - 1) for _ in range(2))
    return ex.And(parts) if random.random() < 0.4 else ex.Or(parts)


# ---------------------------------------------------------------- expressions


def terminal(random: Random, *, simple: bool) -> sremo.Sremo:
    return sremo.Terminal(
        condition(random, simple=simple),
        marks=random.random() < 0.8,
        register=random.choice(REGISTERS) if random.random() < 0.45 else None,
        type=random.choice(TYPES) if random.random() < 0.6 else None,
    )


def window(random: Random) -> Window:
    roll = random.random()
    if roll < 0.6:
        return EventWindow(random.randint(1, 4))
    if roll < 0.8:
        return TimeWindow(random.randint(0, 5) * 1_000_000)
    return AttributeWindow(random.randint(0, 5), ("t",))


def expression(random: Random, depth: int, *, simple: bool) -> sremo.Sremo:
    """`simple` keeps to what the compiled registers can decide, mostly."""

    def part(less: int = 1) -> sremo.Sremo:
        return expression(random, depth - less, simple=simple)

    if depth <= 0 or random.random() < 0.12:
        roll = random.random()
        if roll < 0.1:
            return sremo.SKIP_ANY
        if roll < 0.15:
            return random.choice((sremo.Epsilon(), sremo.Nothing(), sremo.SKIP))
        return terminal(random, simple=simple)
    roll = random.random()
    if roll < 0.3:
        return sremo.Concatenation(part(), part())
    if roll < 0.45:
        return sremo.Any(tuple(part() for _ in range(random.randint(1, 3))))
    if roll < 0.55:
        return sremo.Disjunction(part(), part())
    if roll < 0.7:
        return random.choice((sremo.Star, sremo.Plus, sremo.Optional))(part())
    if roll < 0.8:
        least = random.choice((1, 3, depth))  # what is skipped till a single event, mostly
        return sremo.Next(tuple(part(least) for _ in range(random.randint(1, 3))))
    if roll < 0.87:
        return sremo.Intersection(part(), _renamed(part()))
    if roll < 0.93:
        return sremo.Complement(part())
    return sremo.Windowed(part(), window(random))


def _renamed(node: sremo.Sremo) -> sremo.Sremo:
    """The right side of a `&` writes registers of its own."""
    if isinstance(node, sremo.Terminal):
        own = None if node.register is None else f"{node.register}2"
        return replace(node, register=own)
    return rebuild(node, _renamed)


def chain(random: Random) -> ParsedQuery:
    """A few single events in a row, compared with each other in any way: all on slots."""

    def event(place: int) -> sremo.Sremo:
        asked = condition(random, simple=random.random() < 0.4, depth=random.choice((0, 1, 2)))
        stored = random.choice((*REGISTERS, None)) if place else "r"
        marks = place != 1 or random.random() < 0.7
        made = sremo.Terminal(asked if place else sremo.TRUE, marks, stored)
        return sremo.Optional(made) if not place and random.random() < 0.3 else made

    parts = [event(place) for place in range(random.randint(2, 4))]
    joined = random.choice((sremo.Next, sremo.Next, sremo.Any))(tuple(parts))
    whole = sremo.Concatenation(sremo.Optional(sremo.Terminal(register="q")), joined)
    return ParsedQuery(sremo.Pattern(named(whole), detect=random.random() < 0.1))


def absence(random: Random) -> ParsedQuery:
    """Events, and between them no series that is compared with itself: watched beside the slots."""

    def absent(depth: int) -> sremo.Sremo:
        first = replace(terminal(random, simple=True), condition=sremo.TRUE, register="u")
        last = _reading_own(terminal(random, simple=random.random() < 0.7))
        between = sremo.SKIP_ANY if random.random() < 0.7 else sremo.Epsilon()
        if depth and random.random() < 0.3:
            between = sremo.without(absent(depth - 1))
        made = sremo.concatenation(first, between, last)
        if random.random() < 0.15:
            made = sremo.Disjunction(made, _reading_own(terminal(random, simple=True)))
        return sremo.Windowed(made, window(random)) if random.random() < 0.15 else made

    def around(register: str | None) -> sremo.Sremo:
        made = terminal(random, simple=True)
        return replace(made, condition=_reading_own(made).condition, register=register)

    whole = sremo.concatenation(
        replace(around("u"), condition=sremo.TRUE), sremo.without(absent(1)), around(None)
    )
    if random.random() < 0.2:
        whole = sremo.Plus(whole)
    if random.random() < 0.2:
        whole = sremo.Concatenation(sremo.Optional(sremo.without(absent(0))), whole)
    return ParsedQuery(
        sremo.Pattern(named(whole), detect=random.random() < 0.1),
        window=window(random) if random.random() < 0.3 else None,
        partition_by=(("k",),) if random.random() < 0.15 else (),
    )


def _reading_own(node: sremo.Sremo) -> sremo.Terminal:
    """A terminal that reads the register `u` in place of others, and writes none."""
    assert isinstance(node, sremo.Terminal)

    def own(each: ex.Expression) -> ex.Expression:
        if isinstance(each, ex.Attribute) and each.variable is not None:
            return replace(each, variable="u")
        return ex.rebuild(each, own)

    return replace(node, condition=own(node.condition), register=None)


def query(random: Random, depth: int = 3, *, simple: bool = False) -> ParsedQuery:
    while True:
        pattern = expression(random, depth, simple=simple)
        registers = frozenset().union(*map(sremo.written, pattern.walk()))
        read = frozenset().union(
            *(n.reads for n in pattern.walk() if isinstance(n, sremo.Terminal))
        )
        overlapping = any(
            sremo.written(n.left) & sremo.written(n.right)
            for n in pattern.walk()
            if isinstance(n, sremo.Intersection)
        )
        if read <= registers and not overlapping:
            break
    return ParsedQuery(
        sremo.Pattern(named(pattern), detect=random.random() < 0.1),
        window=window(random) if random.random() < 0.3 else None,
        partition_by=(("k",),) if random.random() < 0.15 else (),
    )
