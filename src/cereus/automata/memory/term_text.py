"""Conditions between events → terms of the kernel (`automata.terms`).

Whatever is about one variable alone is computed ahead, for a whole batch at once, and is a column
here; a term only combines columns of several events, held in slots or of the event at hand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import reduce
from typing import NamedTuple, Self

import pyarrow as pa

from cereus.automata.memory.terms import Term, constant
from cereus.expr import tree as ex
from cereus.expr.print import condition_text
from cereus.expr.tree import Expression, variables, without_variable

DEEPEST = 60
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
INT, FLOAT, TRUTH, TEXT, INSTANT, LENGTH, NOTHING = (
    "int", "float", "boolean", "string", "timestamp", "interval", "null",
)  # fmt: skip
WHOLE_FUNCTIONS = ("length", "year", "month", "day", "hour", "minute", "second", "weekday")
SAME_SORT = ("abs", "sign", "round", "floor", "ceil", "least", "greatest", "coalesce")
TRUTH_FUNCTIONS = ("starts_with", "ends_with", "contains", "regexp")
TEXT_FUNCTIONS = ("lower", "upper", "trim", "substr", "concat")


class NotATerm(Exception):
    """The condition cannot be computed by the kernel; says why."""


class Leaf(NamedTuple):
    """What is read of one variable's event: an expression on it alone, and its sort. The values
    of a `total` are those that an aggregate of the variable adds up."""

    variable: str
    expression: Expression
    sort: str
    total: str | None = None


class Said(int):
    """A count of microseconds, shown as the literal that it stands for: `INTERVAL 5 seconds`."""

    literal: ex.Literal

    def __new__(cls, count: int, literal: ex.Literal) -> Self:
        said = super().__new__(cls, count)
        said.literal = literal
        return said

    def __reduce__(self) -> tuple[type[Said], tuple[int, ex.Literal]]:
        return Said, (int(self), self.literal)

    def __str__(self) -> str:
        return condition_text(self.literal)


class Typed(NamedTuple):
    term: Term
    sort: str


Read = Callable[[Leaf], Term]


@dataclass(frozen=True)
class Translation:
    """One condition over one schema. Times are counted in microseconds."""

    condition: Expression
    schema: pa.Schema

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        """Everything that the condition reads, each once."""
        found: dict[Leaf, None] = {}

        def note(leaf: Leaf) -> Term:
            found[leaf] = None
            return constant(None)

        self.term(note)
        return tuple(found)

    def term(self, read: Read) -> Term:
        """The condition, its leaves read as `read` says."""
        term, sort = self._typed(self.condition, read)
        if sort not in (TRUTH, NOTHING):
            raise NotATerm("it is not a condition")
        return not_too_deep(term)

    # ------------------------------------------------------------ by node

    def _typed(self, node: Expression, read: Read) -> Typed:
        if isinstance(node, ex.Aggregate):
            return self._aggregate(node, read)
        if isinstance(node, ex.Literal):
            return self._literal(node)
        if self._is_leaf(node):
            sort = sort_of(node, self.schema)
            leaf = Leaf(next(iter(variables(node))), without_variable(node), sort)
            return Typed(read(leaf), sort)
        match node:
            case ex.Negate(operand):
                return self._arithmetic("-", Typed(constant(0), INT), self._typed(operand, read))
            case ex.Arithmetic(op, left, right):
                return self._arithmetic(op, self._typed(left, read), self._typed(right, read))
            case ex.Comparison(op, left, right):
                return _compare(op, self._typed(left, read), self._typed(right, read))
            case ex.And(operands):
                return self._logic("and", operands, read)
            case ex.Or(operands):
                return self._logic("or", operands, read)
            case ex.Not(operand):
                return Typed(Term("not", (self._truth(operand, read),)), TRUTH)
            case ex.IsNull(operand):
                return Typed(Term("is null", (self._typed(operand, read).term,)), TRUTH)
            case ex.Between(operand, low, high):
                bounds = [("<=", high), (">=", low)]
                return self._logic(
                    "and", [ex.Comparison(op, operand, b) for op, b in bounds if b], read
                )
            case ex.In(operand, items):
                same = [ex.Comparison("=", operand, item) for item in items]
                return self._logic("or", same, read)
            case ex.Call(function, arguments):
                return self._call(function, [self._typed(a, read) for a in arguments])
        raise NotATerm(f"{type(node).__name__} of several events is not computed by the kernel")

    def _is_leaf(self, node: Expression) -> bool:
        """Whether a batch has the values of a node as a column. Arithmetic with times is left to
        the kernel, which counts them."""
        if len(variables(node)) != 1 or any(isinstance(n, ex.Aggregate) for n in node.walk()):
            return False
        return not isinstance(node, ex.Arithmetic) or not self._has_times(node)

    def _has_times(self, node: Expression) -> bool:
        if isinstance(node, ex.Arithmetic):
            return self._has_times(node.left) or self._has_times(node.right)
        return sort_of(node, self.schema) in (INSTANT, LENGTH)

    def _logic(self, op: str, operands: Sequence[Expression], read: Read) -> Typed:
        terms = [self._truth(operand, read) for operand in operands]
        return Typed(reduce(lambda a, b: Term(op, (a, b)), terms), TRUTH)

    def _truth(self, node: Expression, read: Read) -> Term:
        term, sort = self._typed(node, read)
        if sort not in (TRUTH, NOTHING):
            raise NotATerm("a condition is expected")
        return term

    def _literal(self, node: ex.Literal) -> Typed:
        value = node.value
        match value:
            case None:
                return Typed(constant(None), NOTHING)
            case bool():
                return Typed(constant(int(value)), TRUTH)
            case int() if abs(value) < 2**63:
                return Typed(constant(value), INT)
            case int() | float():
                return Typed(constant(float(value)), FLOAT)
            case timedelta():
                return Typed(constant(Said(value // MICROSECOND, node)), LENGTH)
            case datetime():
                instant = value if value.tzinfo else value.replace(tzinfo=UTC)
                return Typed(constant(Said((instant - EPOCH) // MICROSECOND, node)), INSTANT)
        raise NotATerm("a string is compared with values of several events")

    def _arithmetic(self, op: str, left: Typed, right: Typed) -> Typed:
        sorts = (left.sort, right.sort)
        if NOTHING in sorts:
            return Typed(constant(None), NOTHING)
        times = {
            ("-", INSTANT, INSTANT): LENGTH,
            ("-", INSTANT, LENGTH): INSTANT,
            ("+", INSTANT, LENGTH): INSTANT,
            ("+", LENGTH, INSTANT): INSTANT,
            ("+", LENGTH, LENGTH): LENGTH,
            ("-", LENGTH, LENGTH): LENGTH,
        }
        names = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "%": "modulo"}
        if (op, *sorts) in times:
            return Typed(Term(f"{names[op]} int", (left.term, right.term)), times[op, *sorts])
        if not set(sorts) <= {INT, FLOAT}:
            raise NotATerm("arithmetic on what is not a number")
        sort = INT if sorts == (INT, INT) and op != "/" else FLOAT
        return Typed(Term(f"{names[op]} {sort}", _as(sort, left, right)), sort)

    def _call(self, function: str, arguments: list[Typed]) -> Typed:
        sorts = {argument.sort for argument in arguments}
        if not sorts <= {INT, FLOAT}:
            raise NotATerm(f"{function} of several events' values is not computed by the kernel")
        sort = FLOAT if FLOAT in sorts else INT
        if function == "abs":
            return Typed(Term(f"abs {sort}", (arguments[0].term,)), sort)
        if function in ("least", "greatest"):
            terms = _as(sort, *arguments)
            return Typed(reduce(lambda a, b: Term(f"{function} {sort}", (a, b)), terms), sort)
        if function in ("floor", "ceil"):
            term = arguments[0].term
            return Typed(term if sort == INT else Term(function, (term,)), sort)
        if function in ("sqrt", "distance"):
            return Typed(Term(function, _as(FLOAT, *arguments)), FLOAT)
        raise NotATerm(f"{function} of several events' values is not computed by the kernel")

    def _aggregate(self, node: ex.Aggregate, read: Read) -> Typed:
        """`avg` is a sum over a count; everything else is one total."""
        if node.attribute is None:
            return Typed(read(Leaf(node.variable, ex.Literal(1), INT, "tally")), INT)
        value = ex.Attribute(node.attribute)
        sort = sort_of(value, self.schema)
        if node.function == "count":
            return Typed(read(Leaf(node.variable, value, sort, "count")), INT)
        if sort not in (INT, FLOAT):
            raise NotATerm(f"{node.function} of values that are not kept as numbers")
        if node.function == "avg":
            total = Typed(read(Leaf(node.variable, value, sort, f"sum {sort}")), sort)
            count = Typed(read(Leaf(node.variable, value, sort, "count")), INT)
            return self._arithmetic("/", total, count)
        if node.function in ("first", "last"):
            return Typed(read(Leaf(node.variable, value, sort, node.function)), sort)
        ranked = _without_nan(value) if sort == FLOAT and node.function != "sum" else value
        return Typed(read(Leaf(node.variable, ranked, sort, f"{node.function} {sort}")), sort)


def _without_nan(value: ex.Expression) -> ex.Expression:
    """NULL for NaN, so that `min` and `max` pass it over: it has no place in the order."""
    return ex.Case(((ex.Comparison("=", value, value), value),))


def _compare(op: str, left: Typed, right: Typed) -> Typed:
    sorts = {left.sort, right.sort}
    if NOTHING in sorts:
        return Typed(constant(None), TRUTH)
    if sorts <= {INT, FLOAT}:
        sort = FLOAT if FLOAT in sorts else INT
        return Typed(Term(f"{op} {sort}", _as(sort, left, right)), TRUTH)
    if len(sorts) > 1:
        raise NotATerm("it compares values of different kinds")
    if sorts == {TEXT} and op not in ("=", "!="):
        raise NotATerm("it compares strings by their order")
    return Typed(Term(f"{op} int", (left.term, right.term)), TRUTH)


def _as(sort: str, *operands: Typed) -> tuple[Term, ...]:
    return tuple(
        Term("to float", (term,)) if sort == FLOAT and own == INT else term
        for term, own in operands
    )


def not_too_deep(term: Term) -> Term:
    """The term, if the kernel's stack has room for it."""
    if _depth(term) > DEEPEST:
        raise NotATerm("it is too deep")
    return term


def _depth(term: Term) -> int:
    parts = [operand for operand in term.operands if isinstance(operand, Term)]
    return max((place + _depth(part) for place, part in enumerate(parts)), default=1)


# ---------------------------------------------------------------- sorts of single events' values


def sort_of(node: Expression, schema: pa.Schema) -> str:
    """What the values of an expression on one event are, or NotATerm."""
    match node:
        case ex.Literal(value):
            return _literal_sort(value)
        case ex.Attribute(path):
            return _column_sort(type_of(schema, path))
        case ex.Negate(operand):
            return sort_of(operand, schema)
        case ex.Arithmetic(op, left, right):
            sorts = (sort_of(left, schema), sort_of(right, schema))
            if not set(sorts) <= {INT, FLOAT}:
                raise NotATerm("it computes with times of one event")
            return INT if sorts == (INT, INT) and op != "/" else FLOAT
        case ex.Call(function, arguments):
            return _call_sort(function, [sort_of(a, schema) for a in arguments])
        case ex.Case(branches, default):
            results = [then for _, then in branches] + ([default] if default else [])
            return _joined([sort_of(result, schema) for result in results])
        case (
            ex.Comparison() | ex.And() | ex.Or() | ex.Not() | ex.In() | ex.Between()
            | ex.Like() | ex.Regexp() | ex.IsNull()
        ):  # fmt: skip
            return TRUTH
    raise NotATerm("its values are not kept as numbers")


def _call_sort(function: str, arguments: list[str]) -> str:
    if function in WHOLE_FUNCTIONS:
        return INT
    if function in TRUTH_FUNCTIONS:
        return TRUTH
    if function in TEXT_FUNCTIONS:
        return TEXT
    if function in SAME_SORT:
        return _joined(arguments[:1] if function == "round" else arguments)
    return FLOAT


def _joined(sorts: list[str]) -> str:
    known = set(sorts) - {NOTHING}
    if len(known) <= 1:
        return next(iter(known), NOTHING)
    if known == {INT, FLOAT}:
        return FLOAT
    raise NotATerm("its values are of different kinds")


def _literal_sort(value: object) -> str:
    kinds: list[tuple[type, str]] = [
        (bool, TRUTH), (int, INT), (float, FLOAT), (str, TEXT), (datetime, INSTANT),
        (timedelta, LENGTH),
    ]  # fmt: skip
    return next((sort for kind, sort in kinds if isinstance(value, kind)), NOTHING)


def _column_sort(kind: pa.DataType) -> str:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_integer(kind) and kind != pa.uint64():
        return INT
    if pa.types.is_floating(kind):
        return FLOAT
    if pa.types.is_boolean(kind):
        return TRUTH
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return TEXT
    if pa.types.is_date(kind) or (pa.types.is_timestamp(kind) and kind.unit != "ns"):
        return INSTANT
    raise NotATerm(f"values of the type {kind} are not kept as numbers")


def type_of(schema: pa.Schema, path: tuple[str, ...]) -> pa.DataType:
    """The type of a column, or of a field of a struct."""
    kind = schema.field(path[0]).type
    for step in path[1:]:
        kind = kind.field(step).type
    return kind
