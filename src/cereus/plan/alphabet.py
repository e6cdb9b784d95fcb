"""Which letters can occur: the sets of tests that one event can pass together.

An event has one type and one stream. Conditions that compare one column with constants are
decided by that column's value, so each constant, and a value between and beyond them, stands for
all values (`name = 'A'` and `name = 'B'` never hold together). Any other condition is taken to
hold or not hold freely. So no letter that occurs is missing; some that are listed may not occur.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from cereus.expr import tree as ex
from cereus.plan.tests import EventTest
from cereus.stream import Stream

MOST_LETTERS = 1024
ONLY_TYPE = "EVENT"
OTHER = None
"""A type or stream that no test names."""

Path = tuple[str, ...]


@dataclass(frozen=True)
class Choice:
    """Something that an event decides independently of the rest: the value of a column, or a
    free condition. For each condition that hangs on it, the options that make it true."""

    options: int
    true: dict[ex.Expression, frozenset[int]]

    def passing(self, tests: tuple[EventTest, ...], option: int) -> int:
        """The tests that do not fail when the choice falls on this option."""
        return sum(
            1 << bit
            for bit, test in enumerate(tests)
            if all(option in self.true[c] for c in test.conditions if c in self.true)
        )


@dataclass(frozen=True)
class Alphabet:
    """The letters, each a bit mask of tests; not `complete` when there are too many to list."""

    letters: tuple[int, ...]
    complete: bool


def alphabet(tests: tuple[EventTest, ...], stream: Stream, most: int = MOST_LETTERS) -> Alphabet:
    """Every letter that an event can have (0 among them: an event that passes no test may come)."""
    letters = {0}
    choices = _choices(tests)
    for type_ in _types(tests, stream):
        for name in dict.fromkeys([*(t.stream for t in tests if t.stream), OTHER]):
            letters.update(_letters(tests, choices, type_, name, most))
            if len(letters) > most:
                return Alphabet(tuple(sorted(letters)[:most]), False)
    return Alphabet(tuple(sorted(letters)), True)


def _types(tests: tuple[EventTest, ...], stream: Stream) -> list[str | None]:
    if stream.type is None:
        return [ONLY_TYPE]
    return [*dict.fromkeys(test.type for test in tests if test.type is not None), OTHER]


def _letters(
    tests: tuple[EventTest, ...],
    choices: list[Choice],
    type_: str | None,
    stream: str | None,
    most: int,
) -> set[int]:
    """The letters of events of one type and stream. A test is a conjunction, so it is enough to
    carry, from choice to choice, the set of tests that have not failed yet."""
    negated = sum(1 << bit for bit, test in enumerate(tests) if test.negated)
    alive = sum(
        1 << bit
        for bit, test in enumerate(tests)
        if test.type in (None, type_) and test.stream in (None, stream)
    )
    masks = {alive}
    for choice in choices:
        passing = {choice.passing(tests, option) for option in range(choice.options)}
        masks = {mask & kept for mask in masks for kept in passing}
        if len(masks) > most:
            break
    return {mask ^ negated for mask in masks}


# ---------------------------------------------------------------- what decides a condition


def _choices(tests: tuple[EventTest, ...]) -> list[Choice]:
    by_column: dict[Path, list[ex.Expression]] = {}
    choices: list[Choice] = []
    for condition in dict.fromkeys(c for test in tests for c in test.conditions):
        column = _column(condition)
        if column is None:
            choices.append(Choice(2, {condition: frozenset({1})}))
        else:
            by_column.setdefault(column, []).append(condition)
    for conditions in by_column.values():
        values = _representatives(_constants(conditions))
        true = {c: frozenset(i for i, v in enumerate(values) if _true(c, v)) for c in conditions}
        choices.append(Choice(len(values), true))
    return choices


def _column(condition: ex.Expression) -> Path | None:
    """The one column that decides a condition by comparison with constants, or None."""
    columns = ex.attributes(condition)
    return next(iter(columns)) if len(columns) == 1 and _is_plain(condition) else None


def _is_plain(node: ex.Expression) -> bool:
    match node:
        case ex.And(operands) | ex.Or(operands):
            return all(map(_is_plain, operands))
        case ex.Not(operand):
            return _is_plain(operand)
        case ex.Comparison(_, left, right):
            return {type(left), type(right)} == {ex.Attribute, ex.Literal}
        case ex.In(operand, items):
            return _are(ex.Attribute, operand) and _are(ex.Literal, *items)
        case ex.Between(operand, low, high):
            bounds = [bound for bound in (low, high) if bound is not None]
            return _are(ex.Attribute, operand) and _are(ex.Literal, *bounds)
        case ex.IsNull(operand):
            return _are(ex.Attribute, operand)
    return False


def _are(kind: type[ex.Expression], *nodes: ex.Expression) -> bool:
    return all(isinstance(node, kind) for node in nodes)


def _constants(conditions: Iterable[ex.Expression]) -> list[Any]:
    return [n.value for c in conditions for n in c.walk() if isinstance(n, ex.Literal)]


def _representatives(constants: list[Any]) -> list[Any]:
    """Values such that every condition on the column behaves at any value as at one of them."""
    values: list[Any] = [None, True, False]
    for kind in (str, datetime, timedelta, (int, float)):
        alike = {v for v in constants if isinstance(v, kind) and not isinstance(v, bool)}
        values += _around(sorted(alike))
    return values


def _around(constants: list[Any]) -> Iterator[Any]:
    """The constants, and a value before, between and after them."""
    if not constants:
        return
    if isinstance(constants[0], str):
        yield ""
        for constant in constants:
            yield from (constant, constant + "\0")  # the next string in order
        return
    step = 1 if isinstance(constants[0], int | float) else timedelta(microseconds=1)
    yield from constants
    for low, high in pairwise(constants):
        yield low + (high - low) / 2
    with suppress(OverflowError):  # the first and the last moment of the calendar
        yield constants[0] - step
        yield constants[-1] + step


# ---------------------------------------------------------------- conditions on one value


def _true(condition: ex.Expression, value: Any) -> bool:
    return _truth(condition, value) is True


def _truth(node: ex.Expression, value: Any) -> bool | None:
    """A plain condition of a value, in SQL's three values; what does not compare is unknown."""
    match node:
        case ex.And(operands):
            return _worst([_truth(each, value) for each in operands], False)
        case ex.Or(operands):
            return _worst([_truth(each, value) for each in operands], True)
        case ex.Not(operand):
            known = _truth(operand, value)
            return None if known is None else not known
        case ex.IsNull():
            return value is None
        case ex.Comparison(op, ex.Literal(constant), _):
            return _compare(constant, op, value)
        case ex.Comparison(op, _, ex.Literal(constant)):
            return _compare(value, op, constant)
        case ex.In(_, items):
            return _worst([_compare(value, "=", i.value) for i in items], True)  # type: ignore[attr-defined]
        case ex.Between(_, low, high):
            bounds = [(">=", low), ("<=", high)]
            tried = [_compare(value, op, b.value) for op, b in bounds if b is not None]  # type: ignore[attr-defined]
            return _worst(tried, False)
    raise TypeError(f"not a condition on one column: {node!r}")


def _worst(truths: list[bool | None], decisive: bool) -> bool | None:
    """AND (False decides) and OR (True decides) of three values."""
    if decisive in truths:
        return decisive
    return None if None in truths else not decisive


def _compare(left: Any, op: str, right: Any) -> bool | None:
    if left is None or right is None:
        return None
    try:
        match op:
            case "=":
                return bool(left == right)
            case "!=":
                return bool(left != right)
            case "<":
                return bool(left < right)
            case "<=":
                return bool(left <= right)
            case ">":
                return bool(left > right)
            case ">=":
                return bool(left >= right)
    except TypeError:
        return None
    raise TypeError(f"not a comparison: {op!r}")
