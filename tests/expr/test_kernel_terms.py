"""Conditions between two events, as the kernel's terms compute them, against the reference."""

from __future__ import annotations

from random import Random
from typing import Any

import pyarrow as pa
import pytest

from cereus import Stream
from cereus.clauses.tree import ParsedQuery
from cereus.engine.executor import PatternExecutor
from cereus.errors import CereusError, ConditionTypeError
from cereus.expr import tree as ex
from cereus.expr.print import condition_text
from cereus.languages.ceql import tree as cel
from cereus.languages.ceql.planning.build import build
from cereus.plan.plan import Plan
from cereus.reference import conditions as reference
from tests.volume import volume

from . import strategies as random_
from .test_spark import Dice

TYPED = pa.schema([pa.field("type", pa.string()), *random_.SCHEMA])
ROUNDED = ("exp", "ln", "log10", "power", "distance")
"""Mathematical libraries differ in the last bits, which a comparison may turn on."""


def over_two_events(draw: Random, node: ex.Expression) -> ex.Expression:
    if isinstance(node, ex.Attribute):
        return ex.Attribute(node.path, draw.choice("ab"))
    return ex.rebuild(node, lambda child: over_two_events(draw, child))


def planned(condition: ex.Expression) -> Plan | None:
    """The plan of `A AS a ; B AS b FILTER condition`, if it is one that registers decide."""
    types = cel.As(cel.Type("A"), "a"), cel.As(cel.Type("B"), "b")
    formula = cel.Filter(cel.Sequence(*types), cel.Holds(condition))
    try:
        plan = build(ParsedQuery(formula), Stream(), TYPED, keys=False)
    except ConditionTypeError:  # booleans have no order
        return None
    return plan if plan.traits.registers else None


def holds(plan: Plan, first: dict[str, Any], second: dict[str, Any]) -> bool:
    plain = random_.table_of([first, second], encoded=False)
    table = plain.add_column(0, TYPED.field(0), pa.array(["A", "B"]))
    executor = PatternExecutor(plan, TYPED)
    return sum(b.num_rows for part in table.to_batches() for b in executor.push(part)) == 1


def drawn_condition(seed: int) -> ex.Expression:
    """Mostly of numbers, which the kernel computes with."""
    dice = Dice(seed, 3)
    if seed % 3 == 0:
        return dice.boolean()
    of = dice.pick((dice.integer, dice.double, dice.number, dice.interval))
    compared = ex.Comparison(dice.pick(random_.COMPARISONS), of(), of())
    return compared if seed % 3 == 1 else ex.Or((compared, dice.compared()))


def drawn(draw: Random) -> dict[str, Any]:
    return {name: draw.choice((None, *pool, *pool)) for name, pool in random_.POOLS.items()}


@pytest.mark.parametrize("part", range(2))
def test_terms_of_the_kernel_give_what_the_reference_gives(part: int) -> None:
    decided, true, number = 0, 0, volume(240, 1_500)
    for seed in range(part, number, 2):
        draw = Random(seed)
        condition = over_two_events(draw, drawn_condition(seed))
        calls = {node.function for node in condition.walk() if isinstance(node, ex.Call)}
        if len(ex.variables(condition)) < 2 or not calls.isdisjoint(ROUNDED):
            continue
        plan = planned(condition)
        if plan is None:
            continue
        for _ in range(3):
            first, second = drawn(draw), drawn(draw)
            expected = reference.holds(condition, {}, {"a": first, "b": second})
            said = condition_text(condition), first, second
            try:
                assert holds(plan, first, second) == expected, said
            except CereusError as error:
                assert "-9223372036854775808" in str(error), said  # the one value it refuses
            decided, true = decided + 1, true + expected
    assert decided > number // 5
    assert true > number // 25
