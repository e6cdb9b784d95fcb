"""SREMO as Python objects and as text: build expressions, compile them, make transducers of them.

    from cereus import sremo

    pattern = sremo.any_(sremo.event("BUY", store="r"), sremo.event("SELL", where="id = r.id"))
    assert pattern == sremo.parse("any({BUY:} -> r, {SELL: id = r.id})")
    matches = sremo.compile(pattern, window="10 events").run(table)

`e >> f` (`e . f`), `e | f`, `e & f`, `~e` (`!e`), `e.star()`, `e.plus()` and `e.optional()` make
expressions from expressions. Every function here takes an expression or its text.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pyarrow as pa

from cereus import query
from cereus.clauses.tree import AttributeWindow, ParsedQuery, TimeWindow, Window
from cereus.expr.text import parse_condition
from cereus.language.protocol import Params
from cereus.languages.sremo import srt, tree
from cereus.languages.sremo.language import SremoLanguage
from cereus.languages.sremo.srt import Transducer, Transition
from cereus.languages.sremo.text import named, parse_expression
from cereus.languages.sremo.tree import SKIP, SKIP_ANY, Epsilon, Nothing, Sremo, SremoTree
from cereus.limits import Limits
from cereus.query import Query
from cereus.stream import UNITS, Stream
from cereus.syntax.tree import bottom_up

__all__ = [
    "SKIP",
    "SKIP_ANY",
    "Sremo",
    "Transducer",
    "Transition",
    "any_",
    "compile",
    "empty",
    "eps",
    "event",
    "next_",
    "parse",
    "skip",
    "srt",
    "transducer",
    "within",
]

eps: Sremo = Epsilon()
empty: Sremo = Nothing()


# ---------------------------------------------------------------- building


def event(type: str | None = None, *, where: str | None = None, store: str | None = None) -> Sremo:
    """One event, marked: `{type: where} -> store`."""
    return _terminal(type, where, store, marks=True)


def skip(type: str | None = None, *, where: str | None = None, store: str | None = None) -> Sremo:
    """One event, not marked: `skip{type: where} -> store`."""
    return _terminal(type, where, store, marks=False)


def _terminal(type: str | None, where: str | None, store: str | None, *, marks: bool) -> Sremo:
    condition = tree.TRUE if where is None else parse_condition(where)
    return tree.Terminal(condition, marks, store, type)


def any_(*parts: Sremo | str) -> Sremo:
    """`any(e1, e2, …)`: skip till any match."""
    return tree.Any(tuple(map(_expression, parts)))


def next_(*parts: Sremo | str) -> Sremo:
    """`next(e1, e2, …)`: skip till the next match."""
    return tree.Next(tuple(map(_expression, parts)))


def within(body: Sremo | str, window: int | str) -> Sremo:
    """`e[1..w]` for a number of events, or `e WITHIN …` for a text: "5 seconds", "100 [ts]"."""
    return tree.Windowed(_expression(body), _window(window))


def parse(text: str, *, params: Params | None = None) -> Sremo:
    """Read an expression. `r.x` is read from the register r when the expression is compiled.
    `params` are the values of the parameters that it names."""
    return parse_expression(text, params)


def _expression(given: Sremo | str) -> Sremo:
    return parse_expression(given) if isinstance(given, str) else given


def _window(given: int | str) -> Window:
    text = f"{given} EVENTS" if isinstance(given, int) else given
    bounded = parse_expression(f"eps WITHIN {text}")
    assert isinstance(bounded, tree.Windowed)
    return bounded.window


# ---------------------------------------------------------------- running, constructing


def compile(
    source: SremoTree | Sremo | str,
    *,
    stream: Stream | None = None,
    schema: pa.Schema | None = None,
    limits: Limits | None = None,
    params: Params | None = None,
    window: int | str | None = None,
    partition_by: str | Iterable[str] | None = None,
    detect: bool | None = None,
) -> Query:
    """The query of a text or an expression. `window`, `partition_by` and `detect` are the clauses
    of a text; if they are given here, they replace those of the text."""
    tree = source if isinstance(source, ParsedQuery) else _query(source, params)
    return query.compile(
        _with_clauses(tree, window, partition_by, detect),
        dialect="sremo",
        stream=stream,
        schema=schema,
        limits=limits,
    )


def _query(source: Sremo | str, params: Params | None) -> SremoTree:
    if isinstance(source, Sremo):
        return ParsedQuery(tree.Pattern(named(source)))
    return SremoLanguage().parse(source, params=params)


def _with_clauses(
    tree: SremoTree,
    window: int | str | None,
    partition_by: str | Iterable[str] | None,
    detect: bool | None,
) -> SremoTree:
    given: dict[str, Any] = {}
    if window is not None:
        given["window"] = _window(window)
    if partition_by is not None:
        keys = (partition_by,) if isinstance(partition_by, str) else partition_by
        given["partition_by"] = tuple((key,) for key in keys)
    if detect is not None:
        given["formula"] = replace(tree.formula, detect=detect)
    return replace(tree, text=None, **given) if given else tree


def transducer(
    expression: Sremo | str,
    *,
    streaming: bool = False,
    window: int | None = None,
    stream: Stream | None = None,
) -> Transducer:
    """The symbolic register transducer of an expression (Theorem 27, and the constructions of §5
    for `&`, windows and `!`), with ε transitions; see `sremo.srt` for what can be done with it.

    `streaming` puts ⊤* before it (Def. 32). `window` bounds the length of strings: a `!` that
    compares registers which it stores into itself has no transducer without a bound.
    """
    make = srt.streaming if streaming else srt.from_sremo
    known = stream or Stream()
    measured = _measured(named(_expression(expression)), known)
    return make(measured, known.type or "type", window=window, time_column=known.time)


def _measured(expression: Sremo, stream: Stream) -> Sremo:
    """The expression where windows in time are windows on the time column, if times are plain
    numbers."""
    if stream.time is None or stream.unit is None:
        return expression
    path, unit = (stream.time,), UNITS[stream.unit]

    def measured(node: Sremo) -> Sremo:
        match node:
            case tree.Windowed(body, TimeWindow(microseconds)):
                window = AttributeWindow(microseconds / unit, path)
                return tree.Windowed(body, window, span=node.span)
        return node

    return bottom_up(expression, measured)
