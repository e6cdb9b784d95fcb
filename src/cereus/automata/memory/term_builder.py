"""Turns conditions between events into terms of the kernel (`terms`).

Every part that reads only one variable is computed ahead, for a whole batch at once, and is a
column here. A term only combines columns of several events, kept in slots or of the event at hand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property, reduce
from typing import NamedTuple, Self, TypeGuard

import pyarrow as pa

from cereus.automata.memory.decimals import (
    DIGITS_OF_WORDS,
    EXACT_DIGITS,
    FEW_DIGITS,
    MOST_DIGITS,
    UNCOUNTED,
    WORDS,
    digits,
    digits_at,
    is_exact,
    scale_and_digits,
    words_of,
)
from cereus.automata.memory.refusal import CannotUseSlots
from cereus.automata.memory.terms import MOST_OPERANDS, LookedUp, Term, constant
from cereus.automata.memory.totals import BASE, DEVIATIONS, SQUARES
from cereus.expr import tree as ex
from cereus.expr.check import TIME_ARITHMETIC, value_kind
from cereus.expr.paths import type_at
from cereus.expr.print import condition_text
from cereus.expr.python.aggregates import EVERY_VALUE
from cereus.expr.tree import Expression, variables, without_variable
from cereus.expr.types import Kind, kind_of

DEEPEST = 60
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
ONE = ex.Literal(1.0)
COMPUTED = (Kind.INTEGER, Kind.FLOAT)
"""The kinds that the kernel computes with."""
TIMES = (Kind.TIMESTAMP, Kind.INTERVAL)
AGGREGATED = {
    "first": frozenset({Kind.STRING, Kind.BOOLEAN, *TIMES}),
    "last": frozenset({Kind.STRING, Kind.BOOLEAN, *TIMES}),
    "min": frozenset({Kind.BOOLEAN, *TIMES}),
    "max": frozenset({Kind.BOOLEAN, *TIMES}),
}
"""The kinds of values, beside those computed with, that slots have these aggregates of."""
COUNTED = ("sum", "min", "max", "first", "last")
"""The aggregates of decimals that are decimals."""
LOOKED_UP = frozenset({Kind.BOOLEAN, *COMPUTED})
OPERANDS = frozenset({Kind.STRING, *LOOKED_UP})
"""The kinds of the values and operands of functions that are computed outside of the kernel and
looked up."""
IMPLEMENTED = (
    "abs", "sign", "least", "greatest", "floor", "ceil", "round", "sqrt", "exp", "ln", "log10",
    "power", "distance", "coalesce",
)  # fmt: skip
"""The functions of `expr.functions` that the kernel computes from values of several events. All
others are computed ahead, from values of one event, or looked up."""


class ValueRead(NamedTuple):
    """An expression on the event of one variable, and its kind. With `total`, its values are added
    up by an aggregate of the variable."""

    variable: str
    expression: Expression
    kind: Kind
    total: str | None = None
    fine: bool = False
    """A time in nanoseconds."""
    scale: int | None = None
    """How many digits decimals have behind the point: they are counted in units of the last."""
    word: int | None = None
    """Which word of the units (`decimals.words_of`); None if they fit 64 bits."""


class TimeCount(int):
    """A time as a count, shown as the literal that it stands for: `INTERVAL 5 seconds`."""

    literal: ex.Literal

    def __new__(cls, count: int, literal: ex.Literal) -> Self:
        made = super().__new__(cls, count)
        made.literal = literal
        return made

    def __reduce__(self) -> tuple[type[TimeCount], tuple[int, ex.Literal]]:
        return TimeCount, (int(self), self.literal)

    def __str__(self) -> str:
        return condition_text(self.literal)


class TypedTerm(NamedTuple):
    term: Term
    kind: Kind


Read = Callable[[ValueRead], Term]


@dataclass(frozen=True)
class TermBuilder:
    """Builds the term of one condition over one schema. Times are counted in microseconds; in
    nanoseconds if all columns of times have these."""

    condition: Expression
    schema: pa.Schema

    @cached_property
    def fine(self) -> bool:
        """Whether times are counted in nanoseconds."""
        types = {type_at(self.schema, path) for path in ex.attributes(self.condition)}
        times = [each for each in types if each is not None and kind_of(each) is Kind.TIMESTAMP]
        return bool(times) and all(str(each).startswith("timestamp[ns") for each in times)

    @property
    def readings(self) -> tuple[ValueRead, ...]:
        """All that the condition reads, without repetitions."""
        readings: dict[ValueRead, None] = {}

        def note(reading: ValueRead) -> Term:
            readings[reading] = None
            return constant(None)

        self.term(note)
        return tuple(readings)

    def term(self, read: Read) -> Term:
        """The condition as a term; `read` gives the terms of its readings."""
        term, kind = self._typed(self.condition, read)
        if kind not in (Kind.BOOLEAN, Kind.NULL):
            raise CannotUseSlots("it is not a condition")
        return not_too_deep(term)

    # ------------------------------------------------------------ by node

    def _typed(self, node: Expression, read: Read) -> TypedTerm:
        try:
            return self._computed(node, read)
        except CannotUseSlots:
            looked_up = self._looked_up(node, read)
            if looked_up is None:
                raise
            return looked_up

    def _looked_up(self, node: Expression, read: Read) -> TypedTerm | None:
        """A function of values of single events that is computed outside of the kernel and looked
        up; None if it cannot be."""
        leaves: dict[TypedTerm, int] = {}

        def with_holes(part: Expression) -> Expression:
            if not self._is_reading(part) and not isinstance(part, ex.Aggregate):
                return ex.rebuild(part, with_holes)
            if self._has_decimals(part):
                raise CannotUseSlots("its function takes decimals")
            leaf = self._computed(part, read)
            return ex.Attribute((str(leaves.setdefault(leaf, len(leaves))),))

        if self._is_reading(node) or isinstance(node, ex.Aggregate):
            return None
        kind = value_kind(node, self.schema)
        try:
            expression = with_holes(node)
        except CannotUseSlots:
            return None
        kinds = tuple(leaf.kind for leaf in leaves)
        fits = kind in LOOKED_UP and OPERANDS.issuperset(kinds)
        if not fits or not 0 < len(kinds) <= MOST_OPERANDS:
            return None
        function = LookedUp(expression, kinds, kind)
        return TypedTerm(Term("function", (function, *(leaf.term for leaf in leaves))), kind)

    def _computed(self, node: Expression, read: Read) -> TypedTerm:
        if isinstance(node, ex.Aggregate):
            return self._aggregate(node, read)
        if isinstance(node, ex.Literal):
            return self._literal(node)
        if self._is_reading(node):
            node = self._as_double(node)
            kind = kept_kind(node, self.schema, fine=self.fine)
            fine = self.fine and kind is Kind.TIMESTAMP
            (name,) = variables(node)
            return TypedTerm(read(ValueRead(name, without_variable(node), kind, fine=fine)), kind)
        match node:
            case ex.Negate(operand):
                return self._arithmetic(
                    "-", TypedTerm(constant(0), Kind.INTEGER), self._number(operand, read)
                )
            case ex.Arithmetic(op, left, right):
                return self._arithmetic(op, self._number(left, read), self._number(right, read))
            case ex.Comparison(op, left, right):
                return self._comparison(op, (left, right), read)
            case ex.And(operands):
                return self._logic("and", operands, read)
            case ex.Or(operands):
                return self._logic("or", operands, read)
            case ex.Not(operand):
                return TypedTerm(Term("not", (self._truth(operand, read),)), Kind.BOOLEAN)
            case ex.IsNull(operand):
                return TypedTerm(Term("is null", (self._number(operand, read).term,)), Kind.BOOLEAN)
            case ex.Between(operand, low, high):
                bounds = [("<=", high), (">=", low)]
                return self._logic(
                    "and", [ex.Comparison(op, operand, b) for op, b in bounds if b], read
                )
            case ex.In(operand, items):
                same = [ex.Comparison("=", operand, item) for item in items]
                return self._logic("or", same, read)
            case ex.Case(branches, default):
                return self._case(branches, default, read)
            case ex.Call("coalesce", (*values, last)):
                known = tuple((ex.Not(ex.IsNull(value)), value) for value in values)
                return self._case(known, last, read)
            case ex.Call(function, arguments):
                return self._call(function, [self._number(a, read) for a in arguments])
        raise CannotUseSlots(
            f"{type(node).__name__} of several events is not computed by the kernel"
        )

    def _number(self, node: Expression, read: Read) -> TypedTerm:
        """A number to compute with: decimals are compared exactly, but computed with as doubles."""
        if value_kind(node, self.schema) is not Kind.DECIMAL:
            return self._typed(node, read)
        if isinstance(node, ex.Aggregate):
            return self._aggregate(node, read, exact=False)
        return self._typed(_doubled(node) if self._is_reading(node) else node, read)

    # ------------------------------------------------------------ comparisons

    def _comparison(self, op: str, sides: tuple[Expression, Expression], read: Read) -> TypedTerm:
        """A comparison. Decimals are compared exactly, and with doubles as doubles."""
        scale, most = self._scale_and_digits(sides)
        if most <= MOST_DIGITS:
            return TypedTerm(self._in_units(op, sides, scale, read), Kind.BOOLEAN)
        if most <= DIGITS_OF_WORDS and all(map(_has_words, sides)):
            return TypedTerm(self._in_words(op, sides, scale, read), Kind.BOOLEAN)
        doubles = Kind.FLOAT in [value_kind(side, self.schema) for side in sides]
        left, right = ((self._number if doubles else self._typed)(side, read) for side in sides)
        return _compare(op, left, right)

    def _scale_and_digits(self, sides: Sequence[Expression]) -> tuple[int, int]:
        """The digits behind the point that both sides of a comparison of decimals need, and the
        most digits that they have then; UNCOUNTED if it compares anything else."""
        types = [self._counted_type(side) for side in sides if not _is_whole(side)]
        known = [type_ for type_ in types if type_ is not None and is_exact(type_)]
        if len(known) < len(types) or not any(map(pa.types.is_decimal, known)):
            return 0, UNCOUNTED
        scale, most = scale_and_digits(known)
        lengths = [len(str(side.value)) + scale for side in sides if _is_whole(side)]
        return scale, max(most, *lengths, 0)

    def _counted_type(self, side: Expression) -> pa.DataType | None:
        """The type of the column whose values, or an aggregate of them, are one side."""
        if isinstance(side, ex.Attribute):
            return type_at(self.schema, side.path)
        if isinstance(side, ex.Aggregate) and side.attribute and side.function in COUNTED:
            return type_at(self.schema, side.attribute)
        return None

    def _in_units(self, op: str, sides: Sequence[Expression], scale: int, read: Read) -> Term:
        """A comparison of decimals as integers, in units of the last digit. Sums that do not fit 64
        bits are compared as doubles."""
        terms: list[Term] = []
        rough: list[Term] = []
        fits: list[Term] = []
        for side in sides:
            if isinstance(side, ex.Aggregate) and side.function == "sum":
                parts = self._sum_and_carry(side, read, scale)
                terms.append(Term("join int", parts))
                rough.append(_joined(parts))
                if digits_at(scale, self._counted_type(side)) > FEW_DIGITS:
                    fits.append(Term("known", (terms[-1],)))
            else:
                terms.append(self._one_in_units(side, scale, read))
                rough.append(Term("to float", (terms[-1],)))
        exact = Term(f"{op} int", tuple(terms))
        if not fits:
            return exact
        both = reduce(lambda a, b: Term("and", (a, b)), fits)
        return Term("if", (both, exact, Term(f"{op} float", tuple(rough))))

    def _in_words(
        self, op: str, sides: tuple[Expression, Expression], scale: int, read: Read
    ) -> Term:
        """A comparison of decimals with many digits, from the highest of three words on."""
        left, right = (
            [self._one_in_units(side, scale, read, word) for word in range(WORDS)] for side in sides
        )
        pairs = list(zip(left, right, strict=True))
        if op in ("=", "!="):
            join = "and" if op == "=" else "or"
            return reduce(lambda a, b: Term(join, (a, b)), (Term(f"{op} int", p) for p in pairs))
        term = Term(f"{op} int", pairs.pop())
        for pair in reversed(pairs):
            same = Term("and", (Term("= int", pair), term))
            term = Term("or", (Term(f"{op[0]} int", pair), same))
        return term

    def _one_in_units(
        self, side: Expression, scale: int, read: Read, word: int | None = None
    ) -> Term:
        if isinstance(side, ex.Literal):
            units = side.value * 10**scale
            return constant(units if word is None else words_of(units)[word])
        (name,), value, how = variables(side), without_variable(side), None
        if isinstance(side, ex.Aggregate):
            value, how = ex.Attribute(side.attribute or ()), _kept_as(side.function, Kind.INTEGER)
        return read(ValueRead(name, value, Kind.DECIMAL, how, scale=scale, word=word))

    def _is_reading(self, node: Expression) -> bool:
        """Whether a batch has the values of a node as a column. The kernel computes with times
        itself, since it counts them."""
        if len(variables(node)) != 1 or ex.has_aggregates(node):
            return False
        return not isinstance(node, ex.Arithmetic) or not self._has_times(node)

    def _has_decimals(self, node: Expression) -> bool:
        return any(_is_decimal(type_at(self.schema, path)) for path in ex.attributes(node))

    def _as_double(self, node: Expression, *, exact: bool = True) -> Expression:
        """A value of one event, as a double if it is a decimal; `exact`: only if it is compared as
        the decimal is."""
        if value_kind(node, self.schema) is not Kind.DECIMAL:
            return node
        most = max(map(digits, filter(_is_decimal, self._types(node))), default=0)
        if exact and most > EXACT_DIGITS:
            raise CannotUseSlots(f"its decimals have more than {EXACT_DIGITS} digits")
        return _doubled(node)

    def _types(self, node: Expression) -> list[pa.DataType | None]:
        return [type_at(self.schema, path) for path in ex.attributes(node)]

    def _has_times(self, node: Expression) -> bool:
        if isinstance(node, ex.Arithmetic):
            return self._has_times(node.left) or self._has_times(node.right)
        return value_kind(node, self.schema) in (Kind.TIMESTAMP, Kind.INTERVAL)

    def _logic(self, op: str, operands: Sequence[Expression], read: Read) -> TypedTerm:
        terms = [self._truth(operand, read) for operand in operands]
        return TypedTerm(reduce(lambda a, b: Term(op, (a, b)), terms), Kind.BOOLEAN)

    def _truth(self, node: Expression, read: Read) -> Term:
        term, kind = self._typed(node, read)
        if kind not in (Kind.BOOLEAN, Kind.NULL):
            raise CannotUseSlots("a condition is expected")
        return term

    def _case(
        self,
        branches: Sequence[tuple[Expression, Expression]],
        default: Expression | None,
        read: Read,
    ) -> TypedTerm:
        """CASE: the value of the first branch whose condition is true."""
        values = [self._typed(value, read) for _, value in branches]
        values.append(self._typed(default or ex.Literal(None), read))
        kind = _common_kind([value.kind for value in values])
        *terms, last = _as(kind, *values)
        for (condition, _), term in zip(reversed(branches), reversed(terms), strict=True):
            last = Term("if", (self._truth(condition, read), term, last))
        return TypedTerm(last, kind)

    def _literal(self, node: ex.Literal) -> TypedTerm:
        value = node.value
        match value:
            case None:
                return TypedTerm(constant(None), Kind.NULL)
            case bool():
                return TypedTerm(constant(int(value)), Kind.BOOLEAN)
            case int() if abs(value) < 2**63:
                return TypedTerm(constant(value), Kind.INTEGER)
            case int() | float():
                return TypedTerm(constant(float(value)), Kind.FLOAT)
            case timedelta():
                return TypedTerm(self._count(value, node), Kind.INTERVAL)
            case datetime():
                instant = value if value.tzinfo else value.replace(tzinfo=UTC)
                return TypedTerm(self._count(instant - EPOCH, node), Kind.TIMESTAMP)
        raise CannotUseSlots("a string is compared with values of several events")

    def _count(self, value: timedelta, node: ex.Literal) -> Term:
        count = (1000 if self.fine else 1) * (value // MICROSECOND)
        if abs(count) >= 2**63:
            raise CannotUseSlots("a time is too far from others to be counted in nanoseconds")
        return constant(TimeCount(count, node))

    def _arithmetic(self, op: str, left: TypedTerm, right: TypedTerm) -> TypedTerm:
        kinds = (left.kind, right.kind)
        if Kind.NULL in kinds:
            return TypedTerm(constant(None), Kind.NULL)
        names = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "%": "modulo"}
        if (op, *kinds) in TIME_ARITHMETIC:
            return TypedTerm(
                Term(f"{names[op]} int", (left.term, right.term)), TIME_ARITHMETIC[op, *kinds]
            )
        if not set(kinds) <= set(COMPUTED):
            raise CannotUseSlots("arithmetic on what is not a number")
        kind = Kind.INTEGER if kinds == (Kind.INTEGER, Kind.INTEGER) and op != "/" else Kind.FLOAT
        return TypedTerm(Term(f"{names[op]} {kind}", _as(kind, left, right)), kind)

    def _call(self, function: str, arguments: list[TypedTerm]) -> TypedTerm:
        kinds = {argument.kind for argument in arguments}
        if not kinds <= set(COMPUTED):
            raise CannotUseSlots(
                f"{function} of several events' values is not computed by the kernel"
            )
        kind = Kind.FLOAT if Kind.FLOAT in kinds else Kind.INTEGER
        if function == "abs":
            return TypedTerm(Term(f"abs {kind}", (arguments[0].term,)), kind)
        if function in ("least", "greatest"):
            terms = _as(kind, *arguments)
            return TypedTerm(reduce(lambda a, b: Term(f"{function} {kind}", (a, b)), terms), kind)
        if function in ("floor", "ceil"):
            term = arguments[0].term
            return TypedTerm(term if kind == Kind.INTEGER else Term(function, (term,)), kind)
        if function == "sign":
            return TypedTerm(Term(f"sign {kind}", (arguments[0].term,)), kind)
        if function == "round" and kind == Kind.FLOAT:
            return TypedTerm(Term("round", (arguments[0].term, _units(arguments[1:]))), kind)
        if function in ("sqrt", "exp", "ln", "log10", "power", "distance"):
            return TypedTerm(Term(function, _as(Kind.FLOAT, *arguments)), Kind.FLOAT)
        raise CannotUseSlots(f"{function} of several events' values is not computed by the kernel")

    def _aggregate(self, node: ex.Aggregate, read: Read, *, exact: bool = True) -> TypedTerm:
        """The term of an aggregate. `avg` is a sum over a count; everything else is one total,
        except sums of integers. Decimals are doubles; `exact`: which are compared as they are."""
        if node.attribute is None:
            return TypedTerm(
                read(ValueRead(node.variable, ex.Literal(1), Kind.INTEGER, "tally")), Kind.INTEGER
            )
        if node.function == "stddev":
            return self._deviation(node, read)
        if node.function in EVERY_VALUE:
            raise CannotUseSlots(f"{node.function} needs every value")
        value: Expression = ex.Attribute(node.attribute)
        if node.function in ("sum", "avg") and self._has_decimals(value):
            return self._decimal_sum(node, read)
        value = self._as_double(value, exact=exact and node.function != "count")
        kind = kept_kind(value, self.schema, fine=self.fine)
        if node.function == "count":
            return TypedTerm(read(ValueRead(node.variable, value, kind, "count")), Kind.INTEGER)
        if kind in AGGREGATED.get(node.function, ()):
            how, fine = _kept_as(node.function, Kind.INTEGER), self.fine and kind is Kind.TIMESTAMP
            return TypedTerm(read(ValueRead(node.variable, value, kind, how, fine)), kind)
        if kind not in COMPUTED:
            raise CannotUseSlots(f"{node.function} of values that are not kept as numbers")
        if node.function == "avg":
            total = self._real_sum(node, kind, read)
            count = TypedTerm(read(ValueRead(node.variable, value, kind, "count")), Kind.INTEGER)
            return self._arithmetic("/", total, count)
        if node.function == "sum" and self._is_wide(value):
            return TypedTerm(Term("join int", self._sum_and_carry(node, read)), kind)
        ranked = kind == Kind.FLOAT and node.function in ("min", "max")
        value, how = _without_nan(value) if ranked else value, _kept_as(node.function, kind)
        return TypedTerm(read(ValueRead(node.variable, value, kind, how)), kind)

    def _real_sum(self, node: ex.Aggregate, kind: Kind, read: Read) -> TypedTerm:
        """A sum that will be divided, so it need not fit 64 bits."""
        value = ex.Attribute(node.attribute or ())
        if not self._is_wide(value):
            return TypedTerm(read(ValueRead(node.variable, value, kind, f"sum {kind}")), kind)
        return TypedTerm(_joined(self._sum_and_carry(node, read)), Kind.FLOAT)

    def _deviation(self, node: ex.Aggregate, read: Read) -> TypedTerm:
        """The deviation of a sample: from n distances d, the root of (n Σd² - (Σd)²) / n(n - 1).
        For n < 2 that is a division by zero, so NULL."""
        value: Expression = ex.Attribute(node.attribute or ())
        if kept_kind(number := _doubled(value), self.schema) is not Kind.FLOAT:
            raise CannotUseSlots("its values are not kept as numbers")

        def total(how: str, kind: Kind = Kind.FLOAT) -> TypedTerm:
            return TypedTerm(read(ValueRead(node.variable, number, Kind.FLOAT, how)), kind)

        total(BASE)
        count, once = total("count", Kind.INTEGER), TypedTerm(constant(1), Kind.INTEGER)
        squares = self._arithmetic("*", count, total(SQUARES))
        squared = self._arithmetic("*", total(DEVIATIONS), total(DEVIATIONS))
        spread = self._arithmetic("-", squares, squared)
        above = Term("greatest float", (spread.term, constant(0.0)))
        pairs = self._arithmetic("*", count, self._arithmetic("-", count, once))
        variance = self._arithmetic("/", TypedTerm(above, Kind.FLOAT), pairs)
        return TypedTerm(Term("sqrt", (variance.term,)), Kind.FLOAT)

    def _decimal_sum(self, node: ex.Aggregate, read: Read) -> TypedTerm:
        """A sum or a mean of decimals: units of the last digit are added up exactly, and divided
        once."""
        (type_,) = self._types(value := ex.Attribute(node.attribute or ()))
        scale, most = scale_and_digits([type_]) if is_exact(type_) else (0, MOST_DIGITS + 1)
        if most > MOST_DIGITS:
            raise CannotUseSlots(f"its decimals have more than {MOST_DIGITS} digits")
        digits = TypedTerm(_joined(self._sum_and_carry(node, read, scale)), Kind.FLOAT)
        units = TypedTerm(constant(10.0**scale), Kind.FLOAT)
        if node.function == "avg":
            count = read(ValueRead(node.variable, value, Kind.DECIMAL, "count", scale=scale))
            units = self._arithmetic("*", units, TypedTerm(count, Kind.INTEGER))
        return self._arithmetic("/", digits, units)

    def _is_wide(self, value: Expression) -> bool:
        """Whether a sum of few values may not fit 64 bits."""
        return self._types(value) == [pa.int64()]

    def _sum_and_carry(
        self, node: ex.Aggregate, read: Read, scale: int | None = None
    ) -> tuple[Term, Term]:
        value = ex.Attribute(node.attribute or ())
        kind = Kind.INTEGER if scale is None else Kind.DECIMAL
        low = read(ValueRead(node.variable, value, kind, "sum int", scale=scale))
        return low, read(ValueRead(node.variable, value, kind, "carry int", scale=scale))


def _units(digits: list[TypedTerm]) -> Term:
    """The unit that a number is rounded to: 1 divided by this, or (negative) multiples of it."""
    if digits and digits[0].term.op != "constant":
        raise CannotUseSlots("round takes a literal number of digits")
    count = digits[0].term.operands[0] if digits else 0
    scale = float(f"1e{min(abs(count), 300)}")
    return constant(scale if count >= 0 else -scale)


def _is_decimal(type_: pa.DataType | None) -> bool:
    return type_ is not None and kind_of(type_) is Kind.DECIMAL


def _is_whole(node: Expression) -> TypeGuard[ex.Literal]:
    return isinstance(node, ex.Literal) and type(node.value) is int


def _has_words(side: Expression) -> bool:
    """Whether a side of a comparison is a value of one event."""
    return not isinstance(side, ex.Aggregate) or side.function in ("first", "last")


def _doubled(node: Expression) -> Expression:
    """A number as a double."""
    return ex.Arithmetic("*", node, ONE)


def _kept_as(function: str, kind: Kind) -> str:
    """How a slot keeps an aggregate of values of this kind (`totals`)."""
    return function if function in ("first", "last") else f"{function} {kind}"


def _joined(parts: tuple[Term, Term]) -> Term:
    """A sum of integers and its carry as a double."""
    low, carry = (Term("to float", (part,)) for part in parts)
    return Term("add float", (low, Term("multiply float", (carry, constant(2.0**32)))))


def _without_nan(value: ex.Expression) -> ex.Expression:
    """The expression with NULL for NaN, so that `min` and `max` skip it: NaN is not ordered."""
    return ex.Case(((ex.Comparison("=", value, value), value),))


def _compare(op: str, left: TypedTerm, right: TypedTerm) -> TypedTerm:
    kinds = {left.kind, right.kind}
    if Kind.NULL in kinds:
        return TypedTerm(constant(None), Kind.BOOLEAN)
    if kinds <= set(COMPUTED):
        kind = Kind.FLOAT if Kind.FLOAT in kinds else Kind.INTEGER
        return TypedTerm(Term(f"{op} {kind}", _as(kind, left, right)), Kind.BOOLEAN)
    if len(kinds) > 1:
        raise CannotUseSlots("it compares values of different kinds")
    if kinds == {Kind.STRING} and op not in ("=", "!="):
        raise CannotUseSlots("it compares strings by their order")
    return TypedTerm(Term(f"{op} int", (left.term, right.term)), Kind.BOOLEAN)


def _common_kind(kinds: list[Kind]) -> Kind:
    """The kind of a value that is one of several."""
    distinct = set(kinds) - {Kind.NULL}
    if len(distinct) > 1 and distinct <= set(COMPUTED):
        return Kind.FLOAT
    if len(distinct) > 1:
        raise CannotUseSlots("it chooses between values of different kinds")
    return next(iter(distinct), Kind.NULL)


def _as(kind: Kind, *operands: TypedTerm) -> tuple[Term, ...]:
    return tuple(
        Term("to float", (term,)) if kind == Kind.FLOAT and term_kind == Kind.INTEGER else term
        for term, term_kind in operands
    )


def not_too_deep(term: Term) -> Term:
    """The term, if the kernel's stack has room for it."""
    if _depth(term) > DEEPEST:
        raise CannotUseSlots("it is too deep")
    return term


def _depth(term: Term) -> int:
    parts = [operand for operand in term.operands if isinstance(operand, Term)]
    return max((place + _depth(part) for place, part in enumerate(parts)), default=1)


# ---------------------------------------------------------------- kinds of single events' values


def kept_kind(node: Expression, schema: pa.Schema, *, fine: bool = False) -> Kind:
    """The kind of the values of an expression on one event, or CannotUseSlots. Where times are
    `fine`, columns have them in nanoseconds."""
    kind = value_kind(node, schema)
    fine &= not any(_is_time_literal(part) for part in node.walk())
    for part in _values(node):
        if isinstance(part, ex.Attribute):
            _check_kept(type_at(schema, part.path), kind, fine=fine)
        elif isinstance(part, ex.Arithmetic) and value_kind(part, schema) in (
            Kind.TIMESTAMP,
            Kind.INTERVAL,
        ):
            raise CannotUseSlots("it computes with times of one event")
    return kind


def is_double(node: Expression) -> bool:
    """Whether this node turns decimals into doubles."""
    return isinstance(node, ex.Arithmetic) and node.op == "*" and node.right == ONE


def _is_time_literal(node: Expression) -> bool:
    return isinstance(node, ex.Literal) and isinstance(node.value, datetime)


def _values(node: Expression) -> Iterator[Expression]:
    """The parts of an expression whose values can become its value."""
    yield node
    if isinstance(node, ex.Case):
        results = [then for _, then in node.branches] + ([node.default] if node.default else [])
        for result in results:
            yield from _values(result)
    elif not isinstance(node, ex.CONDITIONS):
        for child in node.children():
            yield from _values(child)


def _check_kept(type_: pa.DataType | None, made: Kind, *, fine: bool) -> None:
    """Refuse a column whose values cannot become values of this kind."""
    kind = Kind.OTHER if type_ is None else kind_of(type_)
    too_fine = not fine and made is Kind.TIMESTAMP and str(type_).startswith("timestamp[ns")
    exact = kind is Kind.DECIMAL and made is not Kind.FLOAT
    if kind in (Kind.INTERVAL, Kind.OTHER) or exact or type_ == pa.uint64() or too_fine:
        raise CannotUseSlots(f"values of the type {type_} are not kept as numbers")
