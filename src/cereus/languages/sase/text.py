"""Reads SASE+: a text becomes the tree of `sase.tree`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from lark import Token
from lark.tree import Meta

from cereus.clauses import build as clauses
from cereus.clauses.text import WindowTexts
from cereus.clauses.tree import Window
from cereus.errors import QuerySyntaxError, Span, UnknownNameError, did_you_mean
from cereus.expr import tree as ex
from cereus.expr.functions import FUNCTIONS
from cereus.expr.text import percentile_part, scalar_call, span_of, token_span
from cereus.languages.sase import tree as sase
from cereus.languages.sase.check import check
from cereus.languages.sase.hints import HINTS
from cereus.languages.sase.names import resolved
from cereus.languages.sase.print import to_text
from cereus.syntax import literals
from cereus.syntax.parsing import errors_in, read

__all__ = ["parse", "to_text"]

Index = sase.Index | str
"""Where a bracket points: an element, or a part of the array (`EVERY`, `BEFORE`)."""
EVERY, BEFORE = "", "..i-1"
INDICES = "the index is 1, i, i-1, ..i-1, a.LEN or nothing"
SPELLINGS = {"skip_til_next_match": sase.Strategy.NEXT, "skip_til_any_match": sase.Strategy.ANY}
"""The appendix of the paper writes `til`."""


def parse(
    text: str,
    aggregates: Iterable[str] = (),
    params: Mapping[str, Any] | None = None,
) -> sase.Program:
    """Read one or more queries; `aggregates` are the names of the user's own.

    >>> parse("PATTERN SEQ(A a, B+ b[]) WHERE b[i].x > a.x RETURN count(b[])").queries[0].stream
    """
    program: sase.Program = read(
        "languages/sase/grammar.lark", "program", text, _Sase(), HINTS, params
    )
    with errors_in(text):
        queries = tuple(
            sase.Union(tuple(map(resolved, union.blocks)), span=union.span)
            for union in program.queries
        )
        program = sase.Program(queries, span=program.span, text=text)
        check(program, aggregates)
    return program


@dataclass(frozen=True)
class _Before(ex.Expression):
    """`a[..i-1].price`, which is only allowed inside an aggregate."""

    variable: str
    path: sase.Path


class _Sase(WindowTexts):
    """One method per rule of `grammar.lark`; those of conditions are inherited."""

    def program(self, meta: Meta, *queries: sase.Union) -> sase.Program:
        return sase.Program(queries, span=span_of(meta))

    def query(self, meta: Meta, *blocks: sase.Query) -> sase.Union:
        return sase.Union(blocks, span=span_of(meta))

    def block(self, meta: Meta, *parts: tuple[str, Any]) -> sase.Query:
        return sase.Query(span=span_of(meta), **dict(parts))

    def source(self, meta: Meta, name: str) -> tuple[str, Any]:
        return "source", name

    def pattern(self, meta: Meta, sequence: sase.Sequence) -> tuple[str, Any]:
        return "pattern", sequence

    def within(self, meta: Meta, window: Window) -> tuple[str, Any]:
        return "window", window

    def timeouts(self, meta: Meta) -> tuple[str, Any]:
        return "timeouts", True

    def having(self, meta: Meta, condition: ex.Expression) -> tuple[str, Any]:
        return "having", _aggregated_only(condition)

    def skip(self, meta: Meta, *words: Token) -> tuple[str, Any]:
        clause = clauses.skip(words, span_of(meta))
        return clause.field, clause.value

    # ------------------------------------------------------------ patterns

    def sequence(self, meta: Meta, *parts: Any) -> sase.Sequence:
        return sase.Sequence(parts, span=span_of(meta))

    def negated(self, meta: Meta, component: sase.Component) -> sase.Negated:
        return sase.Negated(component, span=span_of(meta))

    def types(self, meta: Meta, *names: str) -> tuple[str, ...]:
        return tuple(name for name in names if not isinstance(name, Token))

    def single(self, meta: Meta, types: tuple[str, ...], variable: str) -> sase.Component:
        return sase.Component(types, variable, span=span_of(meta))

    def kleene(self, meta: Meta, types: Any, plus: Token, variable: str) -> sase.Component:
        return sase.Kleene(types, variable, span=span_of(meta))

    def unmarked_array(self, meta: Meta, types: Any, plus: Token, variable: str) -> None:
        raise QuerySyntaxError(
            f"{variable!r} of a Kleene plus is an array",
            span=span_of(meta),
            hint=f"write {types[0]}+ {variable}[]",
        )

    def unmarked_kleene(self, meta: Meta, types: Any, variable: str) -> None:
        raise QuerySyntaxError(
            f"{variable}[] is an array, but without + there is one event",
            span=span_of(meta),
            hint=f"write {types[0]}+ {variable}[], or {types[0]} {variable}",
        )

    # ------------------------------------------------------------ conditions

    def plain_where(self, meta: Meta, condition: ex.Expression) -> tuple[str, Any]:
        group = sase.Group(None, (), tuple(_clauses(condition)), span=span_of(meta))
        return "where", (group,)

    def grouped_where(self, meta: Meta, *groups: sase.Group) -> tuple[str, Any]:
        return "where", groups

    def group(self, meta: Meta, word: Token, *parts: Any) -> sase.Group:
        heads = tuple(part for part in parts if isinstance(part, sase.Variable))
        conditions = (part for part in parts if isinstance(part, ex.Expression))
        body = tuple(clause for each in conditions for clause in _clauses(each))
        return sase.Group(_strategy(word), heads, body, span=span_of(meta))

    def head(self, meta: Meta, name: str, stop: Token | None = None) -> sase.Variable:
        return sase.Variable(name, stop is not None, span=span_of(meta))

    def equivalence(self, meta: Meta, *paths: sase.Path) -> ex.Expression:
        return sase.Equivalence(paths, span=span_of(meta))

    def percentage(self, meta: Meta, token: Token) -> ex.Expression:
        share = f"{Decimal(token.rstrip('%').strip() + 'e-2'):f}"
        digits = share.rstrip("0").rstrip(".") if "." in share else share
        value = literals.number(digits, token_span(token))
        return ex.Literal(value, span=span_of(meta))

    # ------------------------------------------------------------ arrays

    def every(self, meta: Meta) -> Index:
        return EVERY

    def numbered(self, meta: Meta, number: Token) -> Index:
        return _index(str(number), sase.Index.FIRST, token_span(number))

    def iterated(self, meta: Meta, name: Token) -> Index:
        return _index(str(name), sase.Index.EACH, token_span(name))

    def previous(self, meta: Meta, *tokens: Token) -> Index:
        return _index("".join(tokens), sase.Index.PREVIOUS, span_of(meta))

    def before(self, meta: Meta, *tokens: Token) -> Index:
        return _index("".join(tokens), BEFORE, span_of(meta))

    def last(self, meta: Meta, variable: str, length: str) -> tuple[str, Index]:
        return variable, _index(length.upper(), sase.Index.LAST, span_of(meta))

    def item(self, meta: Meta, variable: str, index: Any, path: sase.Path) -> ex.Expression:
        at, span = _of(variable, index, span_of(meta)), span_of(meta)
        if at == EVERY:
            return sase.Series(variable, path, span=span)
        if at == BEFORE:
            return _Before(variable, path, span=span)
        return sase.Item(path, variable, sase.Index(at), span=span)

    def bare_item(self, meta: Meta, variable: str, index: Any) -> ex.Expression:
        return self.item(meta, variable, index, ())

    def item_record(
        self, meta: Meta, variable: str, index: Any, *paths: sase.Path
    ) -> ex.Expression:
        at, span = _of(variable, index, span_of(meta)), span_of(meta)
        if at == EVERY:
            return sase.Records(variable, paths, span=span)
        if at == BEFORE:
            raise _outside_aggregate(variable, span)
        return sase.Record(variable, paths, sase.Index(at), span=span)

    def record(self, meta: Meta, variable: str, *paths: sase.Path) -> ex.Expression:
        return sase.Record(variable, paths, span=span_of(meta))

    def call(self, meta: Meta, function: Token, *arguments: Any) -> ex.Expression:
        name, span = function.lower(), span_of(meta)
        arrays = [each for each in arguments if isinstance(each, sase.Series | _Before)]
        if name in sase.BUILT_IN or (arrays and name not in FUNCTIONS):
            name = name if name in sase.BUILT_IN else str(function)
            return _aggregate(name, arguments, span)
        return scalar_call(function, arguments, span)

    # ------------------------------------------------------------ output

    def output(self, meta: Meta, *parts: Any) -> tuple[str, Any]:
        values = tuple(_aggregated_only(p) for p in parts if isinstance(p, ex.Expression))
        fields = {key: value for p in parts if isinstance(p, dict) for key, value in p.items()}
        return "output", sase.Output(values, span=span_of(meta), **fields)

    def typed(self, meta: Meta, type: str, *names: str) -> dict[str, Any]:
        return {"type": type, "names": names}

    def streamed(self, meta: Meta, stream: str) -> dict[str, Any]:
        return {"stream": stream}

    def stream(self, meta: Meta, token: Token) -> str:
        return literals.name_of(token)


def _strategy(word: Token) -> sase.Strategy:
    name = word.lower()
    known = {each.value: each for each in sase.Strategy} | SPELLINGS
    if name not in known:
        raise UnknownNameError(
            f"unknown strategy {str(word)!r}",
            span=token_span(word),
            hint=did_you_mean(name, [each.value for each in sase.Strategy]),
        )
    return known[name]


def _clauses(condition: ex.Expression, partition: bool = False) -> Iterator[sase.Clause]:
    """The clauses of a CNF: the operands of the outermost ANDs."""
    match _aggregated_only(condition):
        case ex.And(operands):
            for each in operands:
                yield from _clauses(each, partition)
        case ex.Call("partition", (inner,)):
            yield from _clauses(inner, True)
        case _:
            yield sase.Clause(condition, partition, span=condition.span)


def _index(written: str, expected: Index, span: Span) -> Index:
    if written != expected:
        raise QuerySyntaxError(f"{written!r} is not an index of an array", span=span, hint=INDICES)
    return expected


def _of(variable: str, index: Any, span: Span) -> Index:
    """The index in the brackets of `variable`; a length in them has to be its own."""
    if not isinstance(index, tuple):
        return index  # type: ignore[no-any-return]
    if index[0] != variable:
        raise QuerySyntaxError(
            f"{variable}[{index[0]}.LEN] mixes two arrays",
            span=span,
            hint=f"the last event is {variable}[{variable}.LEN]",
        )
    return index[1]  # type: ignore[no-any-return]


def _aggregate(name: str, arguments: tuple[ex.Expression, ...], span: Span) -> ex.Expression:
    part, arguments = percentile_part(name, arguments, span)
    array, *rest = arguments or (None,)
    wants_k = name in sase.RANKED
    k = rest[0].value if len(rest) == 1 and isinstance(rest[0], ex.Literal) else None
    counts = name == "count"
    if (
        not isinstance(array, sase.Series | _Before)
        or len(rest) != wants_k
        or (wants_k and (type(k) is not int or k < 1))
        or not (array.path or counts)
    ):
        shape = f"{name}(a[].price{', 3' if wants_k else ''})"
        raise QuerySyntaxError(
            f"{name} takes {'a number of' if wants_k else 'the'} values of an array",
            span=span,
            hint=f"write {'count(a[])' if counts else shape}, or a[..i-1] for those before a[i]",
        )
    running = isinstance(array, _Before)
    size = k if isinstance(k, int) else None
    return sase.Aggregate(
        name, array.variable, array.path or None, running, size, parameter=part, span=span
    )


def _aggregated_only(expression: ex.Expression) -> ex.Expression:
    for node in expression.walk():
        if isinstance(node, _Before):
            raise _outside_aggregate(node.variable, node.span)
    return expression


def _outside_aggregate(variable: str, span: Span | None) -> QuerySyntaxError:
    return QuerySyntaxError(
        f"{variable}[..i-1] is a series of events",
        span=span,
        hint=f"take an aggregate of it: avg({variable}[..i-1].price)",
    )
