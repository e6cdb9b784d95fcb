"""Reads PAR: a text becomes the tree of `par.tree`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lark import Token
from lark.tree import Meta

from cereus.errors import QuerySyntaxError
from cereus.expr.print import condition_text
from cereus.expr.text import Conditions, span_of
from cereus.expr.tree import Aggregate, Expression
from cereus.languages.par import tree as par
from cereus.languages.par.hints import HINTS, expected
from cereus.syntax.literals import name_of, quote_name
from cereus.syntax.parsing import read

KEYWORDS = frozenset({"try", "unless", "repeat", "silent"})


def parse(text: str, params: Mapping[str, Any] | None = None) -> par.Program:
    """Read a program: `repeat (a ; try b[A] unless (c ; c))`.

    Keywords are read in any case. A type is a name, or anything in double quotes; `*` is any
    event. A condition stands in parentheses after the type: `BUY(price > 10)`.
    """
    result: par.Program = read(
        "languages/par/grammar.lark",
        "program",
        text,
        Programs(Conditions()),
        HINTS,
        params,
        expected,
    )
    par.check_depth(result)
    return result


class Programs(Conditions):
    """One method per rule of `grammar.lark`; those of conditions are inherited."""

    def type(self, meta: Meta, token: Token) -> str:
        return name_of(token)

    def typed(self, meta: Meta, name: str, condition: Expression | None = None) -> par.Program:
        return par.Simple(par.Atom(name, on_one_event(condition)), span=span_of(meta))

    def untyped(self, meta: Meta, condition: Expression | None = None) -> par.Program:
        return par.Simple(par.Atom(None, on_one_event(condition)), span=span_of(meta))

    def silent(self, meta: Meta) -> par.Program:
        return par.Silent(span=span_of(meta))

    def negation(self, meta: Meta, body: par.Program) -> par.Program:
        return par.Negation(body, span=span_of(meta))

    def repetition(self, meta: Meta, body: par.Program) -> par.Program:
        return par.Repetition(body, span=span_of(meta))

    def output(self, meta: Meta, body: par.Program, *names: str) -> par.Program:
        return par.Output(body, frozenset(names), span=span_of(meta))

    def sequential(self, meta: Meta, first: par.Program, second: par.Program) -> par.Program:
        return par.Sequential(first, second, span=span_of(meta))

    def selection(self, meta: Meta, left: par.Program, right: par.Program) -> par.Program:
        return par.Selection(left, right, span=span_of(meta))

    def preemption(self, meta: Meta, body: par.Program, unless: par.Program) -> par.Program:
        return par.Preemption(body, unless, span=span_of(meta))


def on_one_event(condition: Expression | None) -> Expression | None:
    for node in condition.walk() if condition is not None else ():
        if isinstance(node, Aggregate):
            raise QuerySyntaxError(
                f"{node.function} is taken over several events, and an atom tests one",
                span=node.span,
                hint="least(x, y) and greatest(x, y) compare attributes of one event",
            )
    return condition


# ---------------------------------------------------------------- tree → text

PREFIX, SEQUENCE, SELECTION = 1, 2, 3


def to_text(program: par.Program) -> str:
    """The shortest usual text of `program`."""
    return _write(program, SELECTION)


def atom_text(atom: par.Atom) -> str:
    name = "*" if atom.type is None else type_text(atom.type)
    return name if atom.condition is None else f"{name}({condition_text(atom.condition)})"


def type_text(name: str) -> str:
    """A type as it is written: quoted where it would be read as a keyword."""
    return f'"{name}"' if name.lower() in KEYWORDS else quote_name(name)


def _write(program: par.Program, level: int) -> str:
    """`program` where the grammar takes anything up to `level` without parentheses."""
    text, level_of_text = _written(program)
    return text if level_of_text <= level else f"({text})"


def _written(program: par.Program) -> tuple[str, int]:
    match program:
        case par.Simple(atom):
            return atom_text(atom), PREFIX
        case par.Output(body, names):
            listed = ", ".join(quote_name(name) for name in sorted(names))
            return f"{_postfixed(body)}[{listed}]", PREFIX
        case par.Negation(body):
            return f"!{_write(body, PREFIX)}", PREFIX
        case par.Repetition(body):
            return f"repeat {_write(body, PREFIX)}", PREFIX
        case par.Sequential(first, second):
            return f"{_write(first, PREFIX)} ; {_write(second, SEQUENCE)}", SEQUENCE
        case par.Selection(left, right):
            return f"{_closed(left, SEQUENCE)} | {_write(right, SELECTION)}", SELECTION
        case par.Preemption(body, unless):
            return f"try {_closed(body, SELECTION)} unless {_write(unless, PREFIX)}", SEQUENCE
    return "silent", PREFIX


def _postfixed(body: par.Program) -> str:
    if isinstance(body, par.Simple | par.Silent | par.Output):
        return _write(body, PREFIX)
    return f"({_write(body, SELECTION)})"


def _closed(program: par.Program, level: int) -> str:
    """Like `_write`, in parentheses also where a reader might take what follows for its unless."""
    last = program
    while isinstance(last, par.Sequential | par.Selection):
        last = last.second if isinstance(last, par.Sequential) else last.right
    return _write(program, 0 if isinstance(last, par.Preemption) else level)
