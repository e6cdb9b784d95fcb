"""The common part of plans that differ only in the constants of their tests.

The automaton of a plan reads which tests an event passes, never what the tests are. So plans of one
*shape* have the same automaton, and each of them adds only a row of constants:

    SELL[name = 'INTC' and price > 10] ; BUY      name = ?, price > ?      ('INTC', 10)
    SELL[name = 'AMAT' and price > 20] ; BUY      name = ?, price > ?      ('AMAT', 20)
"""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa

from cereus.clauses.tree import AnyQuery, Consume, Returned
from cereus.engine.ingest.letters import WORD
from cereus.expr import tree as ex
from cereus.expr.arrow.vector import INT64
from cereus.expr.paths import type_at
from cereus.limits import Limits
from cereus.plan.plan import Plan
from cereus.plan.returned import returned_variables
from cereus.plan.tests import EventTest, conditions_of
from cereus.state.digest import digest_of

CONSTANT = "\0constant"
"""The attribute that stands for a constant: the second name on its path is its number."""
EXACT = 2**53
"""Integers up to this are exact as doubles."""

Constants = tuple[Any, ...]
"""The constants of one condition, in the order of the text."""


@dataclass(frozen=True)
class TestForm:
    """A test with places for constants: all its conditions hold, or (`negated`) not all of them.

    kinds  for each condition the types of its constants
    """

    __test__ = False  # not a pytest class
    conditions: tuple[ex.Expression, ...]
    kinds: tuple[tuple[type, ...], ...]
    negated: bool


@dataclass(frozen=True)
class Shape:
    """Decides whether plans can be run as one: everything in a plan except its constants."""

    tests: tuple[TestForm, ...]
    plan: Plan
    limits: Limits

    @property
    def without_output(self) -> Shape:
        """The shape without the parts that state does not depend on: how values are computed from
        the variables that a match shows."""
        query = self.plan.query
        select = query.select and tuple(replace(each, attributes=()) for each in query.select)
        read = tuple(Returned(ex.Literal(name)) for name in sorted(returned_variables(query)))
        return replace(
            self, plan=replace(self.plan, query=replace(query, select=select, returned=read))
        )

    @property
    def state_identity(self) -> str:
        """A text of what the state of a run depends on; it is the same in every process."""
        return digest_of(_stable(self.without_output))


def _stable(value: Any) -> str:
    """Like `repr`, with the members of sets in order."""
    if isinstance(value, frozenset | set):
        return "{" + ", ".join(sorted(map(_stable, value))) + "}"
    if isinstance(value, tuple | list):
        return "(" + ", ".join(map(_stable, value)) + ")"
    if is_dataclass(value) and not isinstance(value, type):
        compared = [getattr(value, each.name) for each in fields(value) if each.compare]
        return type(value).__name__ + _stable(compared)
    return repr(value)


@dataclass(frozen=True)
class Shaped:
    """A plan as its shape, and the constants of every condition of every test."""

    shape: Shape
    constants: tuple[tuple[Constants, ...], ...]


def shaped(plan: Plan, schema: pa.Schema, limits: Limits) -> Shaped | None:
    """The shape of a plan; None if it has to be run alone."""
    if not _can_share(plan):
        return None
    parts = [_form(test, plan, schema) for test in plan.tests]
    common = replace(plan, query=_clauses(plan.query), tests=())
    shape = Shape(tuple(form for form, _ in parts), common, limits)
    return Shaped(shape, tuple(constants for _, constants in parts))


def _can_share(plan: Plan) -> bool:
    """Whether a plan can share a kernel with others. Plans are told apart like keys, so a match
    must not end the partial matches of other keys; nor may states hold values, which are forgotten
    when there are too many. Conditions that are compared afterwards, or watched beside the pattern,
    have the constants of one plan."""
    across_keys = plan.query.consume is Consume.ANY and bool(plan.keys)
    afterwards = plan.query.timeouts or bool(plan.compared_followers)
    return (
        not afterwards
        and not plan.traits.remembers_values
        and not across_keys
        and plan.watching is None
        and 0 < len(plan.tests) <= WORD
    )


def _clauses(query: AnyQuery) -> AnyQuery:
    """A query without its pattern, since the automaton and the tests stand for it."""
    unfollowed = query.unfollowed
    if unfollowed is not None:
        unfollowed = replace(unfollowed, events=())
    return replace(query, formula=None, text=None, unfollowed=unfollowed)  # type: ignore[arg-type]


def _form(test: EventTest, plan: Plan, schema: pa.Schema) -> tuple[TestForm, tuple[Constants, ...]]:
    conditions = conditions_of(test, plan.stream)
    if test.negated:  # it passes most of the stream: it is evaluated once, for all rules
        none = tuple(() for _ in conditions)
        return TestForm(conditions, none, True), none
    parts = [_parted(condition, schema) for condition in conditions]
    kinds = tuple(tuple(type(value) for value in values) for _, values in parts)
    form = TestForm(tuple(each for each, _ in parts), kinds, False)
    return form, tuple(values for _, values in parts)


def _parted(condition: ex.Expression, schema: pa.Schema) -> tuple[ex.Expression, Constants]:
    """A condition with places instead of constants, and the constants."""
    values: list[Any] = []

    def part(node: ex.Expression) -> ex.Expression:
        if isinstance(node, ex.Call | ex.Case):
            return node  # some functions need literals
        if isinstance(node, ex.Comparison | ex.Between | ex.In):
            node = _as_compared(node, schema)
        if isinstance(node, ex.Literal) and _is_constant(node.value):
            values.append(node.value)
            return ex.Attribute((CONSTANT, str(len(values) - 1)))
        return ex.rebuild(node, part)

    return part(condition), tuple(values)


def _is_constant(value: Any) -> bool:
    if isinstance(value, bool) or value is None:
        return False
    if isinstance(value, int):
        return bool(INT64.min <= value <= INT64.max)
    return isinstance(value, float | str | datetime | timedelta)


def _as_compared(node: ex.Expression, schema: pa.Schema) -> ex.Expression:
    """A comparison of a column of floats, whose constants are floats too: `price > 10` has the
    form of `price > 10.5`."""
    of = [each.path for each in node.children() if isinstance(each, ex.Attribute)]
    kinds = [type_at(schema, path) for path in of]
    if len(kinds) != 1 or kinds[0] is None or not pa.types.is_floating(kinds[0]):
        return node
    return ex.rebuild(node, _as_float)


def _as_float(node: ex.Expression) -> ex.Expression:
    value = node.value if isinstance(node, ex.Literal) else None
    integer = isinstance(value, int) and not isinstance(value, bool) and abs(value) <= EXACT
    return ex.Literal(float(value)) if integer else node  # type: ignore[arg-type]
