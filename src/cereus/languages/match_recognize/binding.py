"""Binds a clause to the columns of its table: names are found, kinds are checked.

A bound expression is a `Formula`: an ordinary expression over its *leaves*, each of which is a
value at a place, an aggregate or the match number. Evaluators compute the leaves in their own way
and leave the rest to the expression language.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, cast

import pyarrow as pa

from cereus.errors import (
    ConditionTypeError,
    DataError,
    QueryError,
    RefusedError,
    Span,
    UnknownNameError,
    did_you_mean,
)
from cereus.expr import tree as ex
from cereus.expr.check import check, coerce
from cereus.expr.types import Kind
from cereus.languages.match_recognize import tree, values
from cereus.languages.match_recognize.lists import COLLECTED, collected_type, taken_type
from cereus.syntax.parsing import located

LABEL = "CLASSIFIER()"
NUMBER = "MATCH_NUMBER()"
"""Columns that expressions of one row read in addition to those of the table."""

TYPES = {
    Kind.NUMBER: pa.float64(),
    Kind.STRING: pa.string(),
    Kind.BOOLEAN: pa.bool_(),
    Kind.TIMESTAMP: pa.timestamp("us"),
    Kind.INTERVAL: pa.duration("us"),
    Kind.ANY: pa.null(),
}
"""A type of each kind: leaves are checked by their kinds."""

NEEDED = {
    **dict.fromkeys(("sum", "avg", "percentile"), Kind.NUMBER),
    **dict.fromkeys(("stddev_samp", "stddev_pop", "var_samp", "var_pop"), Kind.NUMBER),
    **dict.fromkeys(("bool_and", "bool_or", "count_if"), Kind.BOOLEAN),
    "string_agg": Kind.STRING,
}
"""The kinds that aggregates accept, if not all."""

Leaf = values.At | values.Over | values.Number


@dataclass(frozen=True)
class BoundFormula:
    """An expression over its leaves, which it reads as attributes called 0, 1, …"""

    expression: ex.Expression
    leaves: tuple[Leaf, ...]

    @property
    def bare(self) -> Leaf | None:
        """The leaf, if the formula is nothing else."""
        return self.leaves[0] if self.expression == attribute(0) else None


def attribute(leaf: int) -> ex.Attribute:
    return ex.Attribute((str(leaf),))


T = TypeVar("T")


@dataclass(frozen=True)
class Bound:
    """A clause over a schema. Columns are named as the table names them."""

    clause: tree.Clause
    schema: pa.Schema
    partition: tuple[str, ...]
    order: tuple[tree.Order, ...]
    measures: tuple[tuple[str, BoundFormula], ...]
    define: dict[str, BoundFormula]
    _known: dict[str, Any] = field(default_factory=dict, init=False, compare=False, repr=False)

    def once(self, what: str, make: Callable[[], T]) -> T:
        """Something that follows from the clause and its conditions alone; it is made when it is
        first needed."""
        if what not in self._known:
            self._known[what] = make()
        return cast(T, self._known[what])

    @property
    def other_columns(self) -> tuple[str, ...]:
        """The columns that ALL ROWS PER MATCH emits behind the measures."""
        first = {*self.partition, *(order.path[0] for order in self.order)}
        return tuple(name for name in self.schema.names if name not in first)


def bound(clause: tree.Clause, schema: pa.Schema) -> Bound:
    """Bind and check everything that the clause says about the table."""
    try:
        binder = _Binder(schema)
        order = tuple(replace(each, path=(binder.top(each),)) for each in clause.order)
        result = Bound(
            clause,
            schema,
            tuple(binder.column(path, clause.span) for path in clause.partition),
            order,
            tuple((each.name, binder.formula(each.value)) for each in clause.measures),
            {each.variable: binder.condition(each) for each in clause.define},
        )
        _check_names(result)
    except QueryError as error:
        raise (error if clause.text is None else located(error, clause.text)) from None
    return result


def _check_names(result: Bound) -> None:
    if result.clause.rows is tree.Rows.ONE:
        return
    known = {name.lower() for name in result.schema.names}
    for measure in result.clause.measures:
        if measure.name.lower() in known:
            raise RefusedError(
                f"the table has a column {measure.name!r}, and ALL ROWS PER MATCH emits it",
                span=measure.span,
                hint="give the measure another name",
            )


class _Binder:
    def __init__(self, schema: pa.Schema) -> None:
        self.schema = schema
        self.names = _by_lower_case(schema.names)
        special = [pa.field(LABEL, pa.string()), pa.field(NUMBER, pa.int64())]
        self.row_schema = pa.schema([*schema, *special])

    # ------------------------------------------------------------ columns

    def column(self, path: tuple[str, ...], span: Span | None) -> str:
        if len(path) != 1:
            raise RefusedError(
                f"{'.'.join(path)} is not a column of the table",
                span=span,
                hint="only whole columns can be named here",
            )
        return self.named(path[0], span)

    def top(self, order: tree.Order) -> str:
        return self.column(order.path, order.span)

    def named(self, name: str, span: Span | None) -> str:
        if name in self.schema.names:
            return name
        if name.lower() in self.names:
            return self.names[name.lower()]
        raise UnknownNameError(
            f"unknown column {name!r}", span=span, hint=did_you_mean(name, self.schema.names)
        )

    def check_prefix(self, path: tuple[str, ...], span: Span | None) -> None:
        """Refuse the table's name before a column."""
        if len(path) > 1 and path[0].lower() not in self.names and path[1].lower() in self.names:
            raise UnknownNameError(
                f"{path[0]} is not a variable of the pattern",
                span=span,
                hint=f"write {'.'.join(path[1:])} for the rows of all variables",
            )

    def row(self, node: ex.Expression) -> ex.Expression:
        """An expression of one row, with the names of the table."""
        match node:
            case values.Label():
                return ex.Attribute((LABEL,), span=node.span)
            case values.Number():
                return ex.Attribute((NUMBER,), span=node.span)
            case ex.Attribute(path):
                self.check_prefix(path, node.span)
                return replace(node, path=(self.named(path[0], node.span), *path[1:]))
        return ex.rebuild(node, self.row)

    # ------------------------------------------------------------ formulas

    def condition(self, definition: tree.Definition) -> BoundFormula:
        formula = self.formula(definition.condition)
        kind = self.checked(formula.expression, formula.leaves)
        if kind not in (Kind.BOOLEAN, Kind.ANY):
            raise ConditionTypeError(
                f"the condition of {definition.variable} is a {kind}, and must be true or false",
                span=definition.condition.span,
                hint="compare it with something",
            )
        return formula

    def formula(self, written: ex.Expression) -> BoundFormula:
        leaves: dict[Leaf, int] = {}

        def collected(node: ex.Expression) -> ex.Expression:
            if isinstance(node, values.At | values.Over | values.Number):
                place = leaves.setdefault(self.leaf(node), len(leaves))
                return ex.Attribute((str(place),), span=node.span)
            return ex.rebuild(node, collected)

        expression = collected(values.lowered(written))
        every = tuple(leaves)
        schema = self.leaf_schema(every)
        if not isinstance(expression, ex.Attribute):
            self.checked(expression, every)
            expression = coerce(expression, schema)
        return BoundFormula(expression, every)

    def checked(self, expression: ex.Expression, leaves: tuple[Leaf, ...]) -> Kind:
        """The kind of an expression. Errors about a leaf name its column."""
        try:
            return check(expression, self.leaf_schema(leaves), None, None)
        except ConditionTypeError as error:
            raise ConditionTypeError(
                _with_columns(error.message, leaves),
                span=error.span,
                hint=error.hint and _with_columns(error.hint, leaves),
            ) from None

    def leaf(self, node: Leaf) -> Leaf:
        if isinstance(node, values.Number) or node.argument is None:
            return node
        coerced = replace(node, argument=self.coerced(node.argument))
        if isinstance(coerced, values.Over):
            return replace(coerced, more=tuple(map(self.coerced, coerced.more)))
        return coerced

    def coerced(self, argument: ex.Expression) -> ex.Expression:
        return coerce(self.row(argument), self.row_schema)

    def leaf_schema(self, leaves: Iterable[Leaf]) -> pa.Schema:
        fields = [pa.field(str(place), self.type_of(leaf)) for place, leaf in enumerate(leaves)]
        return pa.schema(fields)

    def type_of(self, leaf: Leaf) -> pa.DataType:
        if isinstance(leaf, values.Number) or leaf.argument is None:
            return pa.int64()
        argument = leaf.argument
        if isinstance(leaf, values.Over):
            return self.aggregate(leaf, argument)
        return self.row_type(argument)

    def aggregate(self, over: values.Over, argument: ex.Expression) -> pa.DataType:
        if over.function == "count" and isinstance(argument, ex.Attribute):
            return pa.int64()  # of a column of any type
        if over.function in COLLECTED:
            return self.collection(over)
        if over.function == "arbitrary":
            return self.row_type(argument)
        for compared in over.more if over.function in ("max_by", "min_by") else ():
            self.ordered(over.function, compared)
        if over.function in ("max_by", "min_by") and isinstance(argument, ex.Attribute):
            return self.row_schema.field(argument.path[0]).type
        if over.function in ("max", "min"):
            self.ordered(over.function, argument)
        kind = check(argument, self.row_schema, None, None)
        wanted = NEEDED.get(over.function, kind)
        if kind not in (wanted, Kind.ANY):
            raise ConditionTypeError(
                f"{over.function} takes a {wanted}, and this is a {kind}", span=argument.span
            )
        if over.function in ("count", "count_if"):
            return pa.int64()
        return TYPES[kind]

    def collection(self, over: values.Over) -> pa.DataType:
        """The type of a list or a map, or of what is taken out of one."""
        if over.function in ("min_n", "max_n", "min_by_n", "max_by_n"):
            self.ordered(over.function.removesuffix("_n"), over.arguments[-2])
        type_ = collected_type(over.function, [self.row_type(each) for each in over.arguments])
        try:
            for each in over.then:
                type_ = taken_type(each.function, type_, each.given)
        except ConditionTypeError as error:
            raise ConditionTypeError(error.message, span=over.span) from None
        return type_

    def row_type(self, argument: ex.Expression) -> pa.DataType:
        """The type of a column; for other expressions of one row, a type of the same kind."""
        if isinstance(argument, ex.Attribute) and len(argument.path) == 1:
            return self.row_schema.field(argument.path[0]).type
        return TYPES[check(argument, self.row_schema, None, None)]

    def ordered(self, function: str, argument: ex.Expression) -> None:
        """Refuse an argument that has no order."""
        if isinstance(argument, ex.Attribute) and len(argument.path) == 1:
            type_ = self.row_schema.field(argument.path[0]).type
            if pa.types.is_nested(type_):
                raise ConditionTypeError(
                    f"{function} needs an order, and values of type {type_} have none",
                    span=argument.span,
                    hint="take one of its fields or elements",
                )


def _with_columns(text: str, leaves: tuple[Leaf, ...]) -> str:
    """An error about a leaf, as an error about its column: leaves are columns named by their
    numbers."""

    def column(number: re.Match[str]) -> str:
        place = int(number[2])
        argument = getattr(leaves[place], "argument", None) if place < len(leaves) else None
        if not isinstance(argument, ex.Attribute):
            return number[0]
        return f"{number[1]}{'.'.join(argument.path)}{number[3]}"

    return re.sub(r"""(^'|types={")(\d+)(' is|")""", column, text)


def _by_lower_case(names: list[str]) -> dict[str, str]:
    """The names by their lower case. Names that differ only in case are refused."""
    by_name: dict[str, str] = {}
    for name in names:
        if name.lower() in by_name:
            other = by_name[name.lower()]
            raise DataError(
                f"the columns {other!r} and {name!r} differ only in case, which names in SQL "
                "do not",
                hint="rename one of them",
            )
        by_name[name.lower()] = name
    return by_name
