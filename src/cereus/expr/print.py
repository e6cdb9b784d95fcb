"""Conditions back to text: `parse_condition(condition_text(e)) == e`."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from enum import IntEnum

from cereus.expr import tree as ex
from cereus.syntax.literals import duration_text, quote_name, quote_string


class Level(IntEnum):
    """How tightly the outermost operator of a text binds."""

    OR = 1
    AND = 2
    NOT = 3
    COMPARISON = 4
    SUM = 5
    PRODUCT = 6
    UNARY = 7
    PRIMARY = 8


Printed = tuple[Level, str]


def condition_text(expression: ex.Expression, *, bare: bool = False) -> str:
    """The text of a condition. `bare` leaves out the variables of attributes, as in `A[…]`."""
    return Printer(bare).at(Level.OR, expression)


class Printer:
    """Prints expressions with as few brackets as their operators need."""

    def __init__(self, bare: bool) -> None:
        self.bare = bare

    def at(self, level: Level, node: ex.Expression) -> str:
        """`node` in a place that takes operators binding at least as tightly as `level`."""
        printed, text = self.printed(node)
        return text if printed >= level else f"({text})"

    def listed(self, nodes: Iterable[ex.Expression]) -> str:
        return ", ".join(self.at(Level.OR, each) for each in nodes)

    def printed(self, node: ex.Expression) -> Printed:
        """The text of a node, and how tightly its outermost operator binds."""
        match node:
            case ex.Or(operands):
                return Level.OR, " OR ".join(self.at(Level.AND, each) for each in operands)
            case ex.And(operands):
                return Level.AND, " AND ".join(self.at(Level.NOT, each) for each in operands)
            case ex.Not(ex.In() | ex.Between() | ex.Like() | ex.Regexp() | ex.IsNull() as test):
                return Level.COMPARISON, self.test(test, "NOT ")
            case ex.Not(operand):
                return Level.NOT, f"NOT {self.at(Level.NOT, operand)}"
            case ex.In() | ex.Between() | ex.Like() | ex.Regexp() | ex.IsNull():
                return Level.COMPARISON, self.test(node, "")
            case ex.Comparison(op, left, right):
                sides = self.at(Level.SUM, left), self.at(Level.SUM, right)
                return Level.COMPARISON, f"{sides[0]} {op} {sides[1]}"
        return self.value(node)

    def test(self, node: ex.Expression, negation: str) -> str:
        """`x IN (1, 2)`, or with the negation `NOT `, `x NOT IN (1, 2)`."""
        match node:
            case ex.IsNull(operand):
                return f"{self.at(Level.SUM, operand)} IS {negation}NULL"
            case ex.In(operand, items):
                return f"{self.at(Level.SUM, operand)} {negation}IN ({self.listed(items)})"
            case ex.Between(operand, low, high):
                return f"{self.at(Level.SUM, operand)} {negation}{self.bounds(low, high)}"
            case ex.Like(operand, pattern):
                return f"{self.at(Level.SUM, operand)} {negation}LIKE {quote_string(pattern)}"
            case ex.Regexp(operand, pattern):
                return f"{self.at(Level.SUM, operand)} {negation}REGEXP {quote_string(pattern)}"
        raise TypeError(f"not a test: {node!r}")

    def bounds(self, low: ex.Expression | None, high: ex.Expression | None) -> str:
        texts = [self.at(Level.SUM, bound) if bound else "" for bound in (low, high)]
        if low is not None and high is not None:
            return f"BETWEEN {texts[0]} AND {texts[1]}"
        return f"IN {{{texts[0]}..{texts[1]}}}"

    def value(self, node: ex.Expression) -> Printed:
        match node:
            case ex.Arithmetic(op, left, right):
                level = Level.SUM if op in "+-" else Level.PRODUCT
                return level, f"{self.at(level, left)} {op} {self.at(Level(level + 1), right)}"
            case ex.Negate(operand):
                # Never `--x`, which would start a comment.
                return Level.UNARY, f"-{self.at(Level.PRIMARY, operand)}"
            case ex.Literal(value):
                return _literal(value)
            case ex.Attribute(path, variable):
                prefix = () if self.bare or variable is None else (variable,)
                return Level.PRIMARY, path_text((*prefix, *path))
            case ex.Aggregate(function, variable, attribute, parameter=parameter):
                more = "" if parameter is None else f", {parameter!r}"
                read = path_text((variable, *(attribute or ())))
                return Level.PRIMARY, f"{function}({read}{more})"
            case ex.Call(function, arguments):
                return Level.PRIMARY, f"{function}({self.listed(arguments)})"
            case ex.Case(branches, default):
                return Level.PRIMARY, self.case(branches, default)
        raise TypeError(f"no text for {node!r}")

    def case(
        self,
        branches: tuple[tuple[ex.Expression, ex.Expression], ...],
        default: ex.Expression | None,
    ) -> str:
        parts = ["CASE"]
        for test, value in branches:
            parts.append(f"WHEN {self.at(Level.OR, test)} THEN {self.at(Level.OR, value)}")
        if default is not None:
            parts.append(f"ELSE {self.at(Level.OR, default)}")
        return " ".join((*parts, "END"))


def path_text(path: Iterable[str]) -> str:
    return ".".join(quote_name(name) for name in path)


def _literal(value: ex.LiteralValue) -> Printed:
    match value:
        case None:
            return Level.PRIMARY, "NULL"
        case bool():
            return Level.PRIMARY, str(value).upper()
        case str():
            return Level.PRIMARY, quote_string(value)
        case datetime():
            return Level.PRIMARY, f"TIMESTAMP '{value.isoformat(sep=' ')}'"
        case timedelta():
            length = value // timedelta(microseconds=1)
            text = f"INTERVAL {duration_text(abs(length))}"
            return (Level.PRIMARY, text) if length >= 0 else (Level.UNARY, f"-{text}")
    text = repr(value)
    return (Level.UNARY if text.startswith("-") else Level.PRIMARY), text
