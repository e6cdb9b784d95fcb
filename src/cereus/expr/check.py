"""Checks that the operands of a condition fit together, given the columns of the events.

`coerce` reads string literals next to timestamps as timestamps; `check` raises where something does
not fit, and shows the place.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeGuard

import pyarrow as pa

from cereus.errors import (
    ConditionTypeError,
    QueryError,
    QuerySyntaxError,
    UnknownNameError,
)
from cereus.expr import tree as ex
from cereus.expr.check_calls import (
    CAST_HINTS,
    check_arity,
    check_length,
    check_literals,
    check_regex,
    unknown_function,
)
from cereus.expr.functions import FUNCTIONS
from cereus.expr.python.aggregates import EVERY_VALUE
from cereus.expr.types import Kind, column_type, computed, joined, kind_of, literal_kind
from cereus.syntax import literals
from cereus.syntax.parsing import TOO_DEEP, located

TIME_ARITHMETIC = {
    ("-", Kind.TIMESTAMP, Kind.TIMESTAMP): Kind.INTERVAL,
    ("+", Kind.TIMESTAMP, Kind.INTERVAL): Kind.TIMESTAMP,
    ("-", Kind.TIMESTAMP, Kind.INTERVAL): Kind.TIMESTAMP,
    ("+", Kind.INTERVAL, Kind.TIMESTAMP): Kind.TIMESTAMP,
    ("+", Kind.INTERVAL, Kind.INTERVAL): Kind.INTERVAL,
    ("-", Kind.INTERVAL, Kind.INTERVAL): Kind.INTERVAL,
}
"""The arithmetic of times; everything else is for numbers."""


def check(
    expression: ex.Expression,
    schema: pa.Schema,
    text: str | None = None,
    expected: Kind | None = Kind.BOOLEAN,
) -> Kind:
    """The family of kinds that `expression` has over events with these columns: NUMBER for every
    number, ANY for NULL.

    Raises UnknownNameError or ConditionTypeError where it does not fit; with `text`, the error
    shows the place. `expected` None takes any kind.
    """
    try:
        checker = _Checker(schema)
        kind = checker.kind(coerce(expression, schema))
        if expected is not None:
            checker.needs(expected, kind, expression)
    except QueryError as error:
        raise (_explained(error, text) if text is not None else error) from None
    except RecursionError:
        raise QuerySyntaxError(TOO_DEEP) from None
    return kind.family


def value_kind(expression: ex.Expression, schema: pa.Schema) -> Kind:
    """The exact kind of the values of `expression` over events with these columns."""
    return _Checker(schema).kind(expression)


def _explained(error: QueryError, text: str) -> QueryError:
    """`error` with its place; `name = "MSFT"` fails because double quotes make names."""
    if isinstance(error, UnknownNameError) and error.span and text[error.span[0]] == '"':
        error.hint = f"write {literals.quote_string(text[error.span[0] + 1 : error.span[1] - 1])}"
        error.hint += " if this is a string: double quotes make names"
    return located(error, text)


def coerce(expression: ex.Expression, schema: pa.Schema) -> ex.Expression:
    """The same condition, with string literals that are compared with a timestamp read as one:
    `ts > '2024-01-31'`."""
    node = ex.rebuild(expression, lambda child: coerce(child, schema))
    if not isinstance(node, ex.Comparison | ex.In | ex.Between):
        return node
    if not any(_is_timestamp(child, schema) for child in node.children()):
        return node
    return ex.rebuild(node, _as_timestamp)


def _is_timestamp(node: ex.Expression, schema: pa.Schema) -> bool:
    try:
        return _Checker(schema).kind(node) is Kind.TIMESTAMP
    except QueryError:
        return False


def _as_timestamp(node: ex.Expression) -> ex.Expression:
    if isinstance(node, ex.Literal) and isinstance(node.value, str):
        value = literals.timestamp(node.value)
        return node if value is None else ex.Literal(value, span=node.span)
    return node


class _Checker:
    """Checks the names and kinds in an expression against a schema."""

    def __init__(self, schema: pa.Schema) -> None:
        self.schema = schema

    def kind(self, node: ex.Expression) -> Kind:
        """The kind of a value, after everything in it is checked."""
        match node:
            case ex.Literal(value):
                return literal_kind(value)
            case ex.Attribute(path):
                return self.column(node, path)
            case ex.Aggregate(function, _, attribute):
                return self.aggregate(node, function, attribute)
            case ex.Call(function, arguments):
                return self.call(node, function, arguments)
            case ex.Negate(operand):
                return self.negated(operand)
            case ex.Arithmetic(op, left, right):
                return self.arithmetic(node, op, self.kind(left), self.kind(right))
            case ex.Case(branches, default):
                return self.case(branches, default)
        self.condition(node)
        return Kind.BOOLEAN

    def condition(self, node: ex.Expression) -> None:
        """Check an expression that is true, false or NULL."""
        match node:
            case ex.And() | ex.Or() | ex.Not():
                for child in node.children():
                    self.needs(Kind.BOOLEAN, self.kind(child), child)
            case ex.Comparison(op, left, right):
                self.comparable(node, op, left, right)
            case ex.In(operand, items):
                for item in items:
                    self.comparable(item, "=", operand, item)
            case ex.Between(operand, low, high):
                for bound in (low, high):
                    if bound is not None:
                        self.comparable(bound, "<=", operand, bound)
            case ex.Like(operand, pattern):
                self.needs(Kind.STRING, self.kind(operand), operand)
                check_length(pattern, node)
            case ex.Regexp(operand, pattern):
                self.needs(Kind.STRING, self.kind(operand), operand)
                check_regex(pattern, node)
            case ex.IsNull(operand):
                self.readable(operand)
            case _:
                raise TypeError(f"no kind for {node!r}")

    # ------------------------------------------------------------ rules

    def needs(self, wanted: Kind, kind: Kind, node: ex.Expression) -> None:
        if kind.family in (wanted.family, Kind.ANY) or wanted.family is Kind.ANY:
            return
        hint = "compare it with something" if wanted is Kind.BOOLEAN else f"write {_a(wanted)} here"
        raise ConditionTypeError(
            f"expected {_a(wanted)}, but this is {_a(kind)}", span=node.span, hint=hint
        )

    def comparable(
        self, place: ex.Expression, op: str, left: ex.Expression, right: ex.Expression
    ) -> None:
        """Refuse to compare values of kinds that have nothing in common."""
        kinds = self.kind(left).family, self.kind(right).family
        if Kind.ANY not in kinds and kinds[0] is not kinds[1]:
            raise ConditionTypeError(
                f"cannot compare {_a(kinds[0])} with {_a(kinds[1])}",
                span=place.span,
                hint=_comparison_hint(left, right, set(kinds)),
            )
        if Kind.BOOLEAN in kinds and op not in ("=", "!="):
            raise ConditionTypeError(
                f"booleans have no order for {op}", span=place.span, hint="use =, != or NOT"
            )

    def column(self, node: ex.Expression, path: tuple[str, ...]) -> Kind:
        type_ = column_type(node, path, self.schema)
        kind = kind_of(type_)
        if kind is Kind.OTHER:
            raise ConditionTypeError(
                f"{'.'.join(path)!r} is of type {type_}, which conditions cannot compare",
                span=node.span,
                hint="only IS NULL can be asked of it"
                if not pa.types.is_struct(type_)
                else f"name one of its fields: {', '.join(field.name for field in type_)}",
            )
        return kind

    def readable(self, node: ex.Expression) -> None:
        """Check an operand that may be a column of any type, even one that cannot be compared."""
        if isinstance(node, ex.Attribute):
            column_type(node, node.path, self.schema)
        else:
            self.kind(node)

    def negated(self, operand: ex.Expression) -> Kind:
        kind = self.kind(operand)
        if kind is Kind.INTERVAL:
            return kind
        self.needs(Kind.NUMBER, kind, operand)
        return computed([kind])

    def arithmetic(self, node: ex.Expression, op: str, left: Kind, right: Kind) -> Kind:
        if (op, left, right) in TIME_ARITHMETIC:
            return TIME_ARITHMETIC[op, left, right]
        known = {left.family, right.family} - {Kind.ANY}
        if known <= {Kind.NUMBER}:
            kind = computed((left, right))
            return Kind.FLOAT if op == "/" and kind is Kind.INTEGER else kind
        if Kind.NULL in (left, right) and known <= {Kind.TIMESTAMP, Kind.INTERVAL} and op in "+-":
            return Kind.NULL
        strings = known == {Kind.STRING} and op == "+"
        raise ConditionTypeError(
            f"cannot calculate {_a(left)} {op} {_a(right)}",
            span=node.span,
            hint="join strings with concat(x, y)"
            if strings
            else "arithmetic takes numbers, and times with intervals",
        )

    def case(
        self,
        branches: tuple[tuple[ex.Expression, ex.Expression], ...],
        default: ex.Expression | None,
    ) -> Kind:
        for test, _ in branches:
            self.needs(Kind.BOOLEAN, self.kind(test), test)
        values = [value for _, value in branches]
        return self.common([*values, default] if default is not None else values)

    def common(self, nodes: Iterable[ex.Expression]) -> Kind:
        """The common kind of these values."""
        kind: Kind = Kind.NULL
        for node in nodes:
            here = self.kind(node)
            self.needs(kind, here, node)
            kind = joined((kind, here)) or kind
        return kind

    # ------------------------------------------------------------ functions

    def aggregate(self, node: ex.Expression, function: str, path: tuple[str, ...] | None) -> Kind:
        if function == "count":
            if path is not None:
                column_type(node, path, self.schema)
            return Kind.INTEGER
        kind = self.column(node, path or ())
        if function not in ("sum", "avg", *EVERY_VALUE):
            return kind
        self.needs(Kind.NUMBER, kind, node)
        return computed([kind]) if function == "sum" else Kind.FLOAT

    def call(self, node: ex.Expression, name: str, arguments: tuple[ex.Expression, ...]) -> Kind:
        function = FUNCTIONS.get(name)
        if function is None:
            raise unknown_function(node, name)
        check_arity(node, name, function, len(arguments))
        last = function.parameters[-1]
        parameters = function.parameters + (last,) * (len(arguments) - len(function.parameters))
        kinds = [self.kind(argument) for argument in arguments]
        for parameter, kind, argument in zip(parameters, kinds, arguments, strict=False):
            self.needs(parameter, kind, argument)
        check_literals(name, function, arguments)
        if function.takes is not None and kinds[0] not in function.takes:
            raise ConditionTypeError(
                f"{function.signature} does not take a {kinds[0]}",
                span=arguments[0].span,
                hint=CAST_HINTS.get((name, kinds[0])),
            )
        return function.result_kind(kinds) or self.common(arguments)


def _comparison_hint(left: ex.Expression, right: ex.Expression, kinds: set[Kind]) -> str | None:
    if kinds == {Kind.TIMESTAMP, Kind.STRING}:
        return "write a timestamp as '2024-01-31 10:00:00'"
    number = next((each for each in (left, right) if _is_number(each)), None)
    if kinds == {Kind.TIMESTAMP, Kind.NUMBER} and number is not None:
        return "write a timestamp as '2024-01-31 10:00:00', or compare epoch(t), its seconds"
    if kinds == {Kind.INTERVAL, Kind.NUMBER} and number is not None:
        return f"write a length of time, as {number.value} seconds"
    if kinds == {Kind.NUMBER, Kind.INTERVAL}:
        return (
            "lengths of time go with timestamps; of a column of numbers write how many, in its unit"
        )
    if kinds == {Kind.BOOLEAN, Kind.STRING} or kinds == {Kind.BOOLEAN, Kind.NUMBER}:
        return "a boolean is a condition by itself; its values are true and false"
    if kinds == {Kind.NUMBER, Kind.STRING}:
        for side in (left, right):
            if isinstance(side, ex.Literal) and isinstance(side.value, str):
                return f"leave out the quotes of {side.value!r}, or compare with a string"
            if isinstance(side, ex.Literal):
                return f"write '{side.value}' in quotes, or {_as_number(left, right)}"
    return None


def _is_number(node: ex.Expression) -> TypeGuard[ex.Literal]:
    return isinstance(node, ex.Literal) and literal_kind(node.value).family is Kind.NUMBER


def _as_number(*sides: ex.Expression) -> str:
    """A hint for a column of a file that is text because one of its values is not a number."""
    for side in sides:
        if isinstance(side, ex.Attribute) and len(side.path) == 1:
            return f'read the column as a number: types={{"{side.path[0]}": "double"}}'
    return "compare with a number"


def _a(kind: Kind) -> str:
    kind = kind.family
    return "NULL" if kind is Kind.ANY else f"{'an' if kind is Kind.INTERVAL else 'a'} {kind}"
