"""Expressions as they are computed: every reference to rows says which row, or which rows.

`a.x`, `LAST(a.x)` and `FINAL LAST(a.x, 0)` differ only in their place. Below `At` and `Over` are
expressions of one row; attributes there have no variable.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from cereus.expr import tree as ex
from cereus.languages.match_recognize import tree


@dataclass(frozen=True)
class Place:
    """A row, seen from the current row of a match.

    Of the rows mapped to `variable` (None: all rows of the match; a SUBSET: its members), up to
    the current row or, if `final`, to the end: the row `offset` from the back or, if `first`, from
    the front. From there, `shift` rows on in the partition.
    """

    variable: str | None = None
    first: bool = False
    offset: int = 0
    final: bool = False
    shift: int = 0


@dataclass(frozen=True)
class At(ex.Expression):
    """The value of a row's expression at a place; NULL where there is no such row."""

    argument: ex.Expression
    place: Place = Place()


@dataclass(frozen=True)
class Then:
    """The value that is taken out of a list or a map, as `element_at(…, 1)` does."""

    function: str
    arguments: tuple[ex.Literal, ...] = ()

    @property
    def given(self) -> tuple[ex.LiteralValue, ...]:
        return tuple(each.value for each in self.arguments)


@dataclass(frozen=True)
class Over(ex.Expression):
    """An aggregate over the rows of a variable, up to the current row or over the match. Without an
    argument, rows are counted. `more` are the values that `max_by` compares, and separators. `then`
    says what is taken out of the lists and maps that some aggregates make."""

    function: str
    argument: ex.Expression | None
    variable: str | None = None
    final: bool = False
    more: tuple[ex.Expression, ...] = ()
    then: tuple[Then, ...] = ()

    @property
    def arguments(self) -> tuple[ex.Expression, ...]:
        return () if self.argument is None else (self.argument, *self.more)


@dataclass(frozen=True)
class Label(ex.Expression):
    """The variable that a row is mapped to; NULL outside the match."""


@dataclass(frozen=True)
class Number(ex.Expression):
    """The number of the match in its partition, from 1."""


SYNONYMS = {
    "every": "bool_and",
    "any_value": "arbitrary",
    "listagg": "string_agg",
    "stddev": "stddev_samp",
    "variance": "var_samp",
}


def lowered(node: ex.Expression) -> ex.Expression:
    """An expression of the tree, with its places."""
    match node:
        case ex.Attribute(_, variable):
            return At(_of_row(node), Place(variable), span=node.span)
        case tree.Classifier(variable):
            return At(Label(span=node.span), Place(variable), span=node.span)
        case tree.MatchNumber():
            return Number(span=node.span)
        case tree.Step():
            return _at(node)
        case tree.Aggregate(function, arguments, star, variable, semantics):
            argument = None if star else _of_row(arguments[0])
            of = variable if star else _variable(*arguments)
            final = semantics is tree.Semantics.FINAL
            name = SYNONYMS.get(function, function)
            more = tuple(map(_of_row, arguments[1:]))
            return Over(name, argument, of, final, more, span=node.span)
        case tree.Taken(function, collection, given):
            over = lowered(collection)
            assert isinstance(over, Over)
            return replace(over, then=(*over.then, Then(function, given)), span=node.span)
    return ex.rebuild(node, lowered)


def _at(step: tree.Step) -> At:
    if step.function in ("PREV", "NEXT"):
        shift = 1 if step.offset is None else step.offset
        inner = step.argument
        at = _at(inner) if isinstance(inner, tree.Step) else At(_of_row(inner), _last(inner))
        moved = replace(at.place, shift=-shift if step.function == "PREV" else shift)
        return replace(at, place=moved, span=step.span)
    place = Place(
        _variable(step.argument),
        step.function == "FIRST",
        step.offset or 0,
        step.semantics is tree.Semantics.FINAL,
    )
    return At(_of_row(step.argument), place, span=step.span)


def _last(argument: ex.Expression) -> Place:
    return Place(_variable(argument))


def _variable(*arguments: ex.Expression) -> str | None:
    """The one variable of the arguments' columns."""
    for argument in arguments:
        for node in argument.walk():
            if isinstance(node, ex.Attribute | tree.Classifier):
                return node.variable
    return None


def _of_row(node: ex.Expression) -> ex.Expression:
    """An argument as an expression of one row."""
    match node:
        case ex.Attribute():
            return replace(node, variable=None)
        case tree.Classifier():
            return Label(span=node.span)
        case tree.MatchNumber():
            return Number(span=node.span)
    return ex.rebuild(node, _of_row)
