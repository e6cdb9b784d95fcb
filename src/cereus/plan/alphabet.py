"""Finds the letters that can occur: the sets of tests that one event can pass together.

An event has one type and one stream. Conditions that compare one column with constants are decided
by that column's value, so each constant, and a value between and beyond them, stands for all values
(`name = 'A'` and `name = 'B'` never hold together). Any other condition is taken to hold or not
hold freely. So no letter that occurs is missing; some that are listed may not occur.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from cereus.expr import tree as ex
from cereus.plan.tests import EventTest
from cereus.stream import Stream

MOST_LETTERS = 1024
MOST_TRIED = 200_000
"""The most comparisons × values of one column that are tried; with more, its conditions count as
free."""
ONLY_TYPE = "EVENT"
OTHER = None
"""A type or stream that no test names."""

Path = tuple[str, ...]
Truth = Callable[[Any], bool | None]


@dataclass(frozen=True)
class Choice:
    """Something that an event decides independently of the rest: the value of a column, or a free
    condition. `true` has, for each condition that depends on it, the options that make it true."""

    options: int
    true: dict[int, frozenset[int]]
    """The options, by the number of a condition: hashing a long condition takes long."""

    def passing(self, tests: list[list[int]]) -> set[int]:
        """For each option, the tests that do not fail with it. A test is given by the numbers of
        its conditions; of a thousand, one choice decides few."""
        masks = [(1 << len(tests)) - 1] * self.options
        for bit, conditions in enumerate(tests):
            if self.true.keys().isdisjoint(conditions):
                continue
            deciding = [self.true[each] for each in conditions if each in self.true]
            for option in set(range(self.options)) - frozenset.intersection(*deciding):
                masks[option] ^= 1 << bit
        return set(masks)


@dataclass(frozen=True)
class Alphabet:
    """The letters, each a bit mask of tests; not `complete` when there are too many to list."""

    letters: tuple[int, ...]
    complete: bool


def alphabet(tests: tuple[EventTest, ...], stream: Stream, most: int = MOST_LETTERS) -> Alphabet:
    """Every letter that an event can have, including 0: an event that passes no test may come."""
    letters = {0}
    passing = _passing(tests, most)
    of_type, of_stream = _bits(t.type for t in tests), _bits(t.stream for t in tests)
    negated = _bits(t.negated for t in tests).get(True, 0)
    streams = [*dict.fromkeys(t.stream for t in tests if t.stream), OTHER]
    for type_ in _types(tests, stream):
        for name in streams:
            alive = _open_to(of_type, type_) & _open_to(of_stream, name)
            letters.update(mask ^ negated for mask in _passed(alive, passing, most))
            if len(letters) > most:
                return Alphabet(tuple(sorted(letters)[:most]), False)
    return Alphabet(tuple(sorted(letters)), True)


def _types(tests: tuple[EventTest, ...], stream: Stream) -> list[str | None]:
    if stream.type is None:
        return [ONLY_TYPE]
    return [*dict.fromkeys(test.type for test in tests if test.type is not None), OTHER]


def _bits(values: Iterable[Hashable]) -> dict[Hashable, int]:
    """For each value, the places where it occurs, as bits."""
    bits: dict[Hashable, int] = {}
    for place, value in enumerate(values):
        bits[value] = bits.get(value, 0) | 1 << place
    return bits


def _open_to(bits: dict[Hashable, int], name: str | None) -> int:
    """The tests that events of a type or stream can pass: those that require it, or require
    none."""
    return bits.get(None, 0) | bits.get(name, 0)


def _passed(alive: int, passing: list[set[int]], most: int) -> set[int]:
    """The sets of tests that events of one type and stream pass, among those that they can pass. A
    test is a conjunction, so it is enough to carry, from choice to choice, the tests that have not
    failed yet."""
    masks = {alive}
    for kept in passing:
        masks = {mask & each for mask in masks for each in kept}
        if len(masks) > most:
            break
    return masks


# ---------------------------------------------------------------- what decides a condition


def _passing(tests: tuple[EventTest, ...], most: int) -> list[set[int]]:
    """For each choice, the sets of tests that its options do not fail. Lists at most `most` + 1,
    since these alone may make too many letters."""
    numbers: dict[ex.Expression, int] = {}
    conditions = [[numbers.setdefault(c, len(numbers)) for c in t.conditions] for t in tests]
    return [
        set(sorted(choice.passing(conditions))[: most + 1]) for choice in _choices(list(numbers))
    ]


def _choices(conditions: list[ex.Expression]) -> Iterator[Choice]:
    by_column: dict[Path, list[int]] = {}
    for number, condition in enumerate(conditions):
        column = _column(condition)
        if column is None:
            yield _free(number)
        else:
            by_column.setdefault(column, []).append(number)
    for numbers in by_column.values():
        values = _representatives(_constants(conditions[number] for number in numbers))
        if sum(_comparisons(conditions[n]) for n in numbers) * len(values) > MOST_TRIED:
            yield from (_free(number) for number in numbers)
            continue
        yield Choice(len(values), {n: _satisfying(conditions[n], values) for n in numbers})


def _comparisons(condition: ex.Expression) -> int:
    """How many comparisons decide a condition; those of IN count as one look into a set."""
    return sum(isinstance(node, ex.Comparison | ex.Between) for node in condition.walk()) or 1


def _free(number: int) -> Choice:
    """The choice for a condition about which nothing is known: it may hold or not."""
    return Choice(2, {number: frozenset({1})})


def _satisfying(condition: ex.Expression, values: list[Any]) -> frozenset[int]:
    truth = _truth(condition)
    return frozenset(index for index, value in enumerate(values) if truth(value) is True)


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


def _truth(node: ex.Expression) -> Truth:
    """A plain condition as a function of the value, in SQL's three truth values. Values that cannot
    be compared give unknown."""
    match node:
        case ex.And(operands):
            return _joined([_truth(each) for each in operands], False)
        case ex.Or(operands):
            return _joined([_truth(each) for each in operands], True)
        case ex.Not(operand):
            return _negated(_truth(operand))
        case ex.IsNull():
            return lambda value: value is None
        case ex.Comparison(op, ex.Literal(constant), _):
            return lambda value: _compare(constant, op, value)
        case ex.Comparison(op, _, ex.Literal(constant)):
            return lambda value: _compare(value, op, constant)
        case ex.In(_, items):
            return _among([item.value for item in items])  # type: ignore[attr-defined]
        case ex.Between(_, low, high):
            bounds = [(">=", low), ("<=", high)]
            return _joined([_bounded(op, b.value) for op, b in bounds if b is not None], False)  # type: ignore[attr-defined]
    raise TypeError(f"not a condition on one column: {node!r}")


def _joined(truths: list[Truth], decisive: bool) -> Truth:
    return lambda value: _worst([truth(value) for truth in truths], decisive)


def _negated(truth: Truth) -> Truth:
    def not_it(value: Any) -> bool | None:
        known = truth(value)
        return None if known is None else not known

    return not_it


def _bounded(op: str, bound: Any) -> Truth:
    return lambda value: _compare(value, op, bound)


def _among(constants: list[Any]) -> Truth:
    """IN, as a set, since lists may be long. Constants are equal as in Python."""
    known = frozenset(constants)
    unsure = None in known

    def is_in(value: Any) -> bool | None:
        if value is None:
            return None
        return True if value in known else None if unsure else False

    return is_in


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
