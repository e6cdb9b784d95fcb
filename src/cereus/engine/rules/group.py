"""Rules of one shape, with their constants; each rule has a number in the group."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

import numpy as np
import pyarrow as pa

from cereus.clauses.tree import Consume
from cereus.engine.rules.shape import Constants, Shape
from cereus.engine.rules.substreams import MOST_RULES, RULE
from cereus.engine.rules.tests import RuleTests
from cereus.errors import LimitError
from cereus.plan.plan import Plan

MOST_PAIRS = 1 << 19
"""A batch is cut where its rows would make more pairs with rules than this."""

ConstantsOfTests = tuple[tuple[Constants, ...], ...]


class RuleGroup:
    """Rules that come and go while they run. `names` and `constants` are by number; the number of
    a rule that was removed is given again."""

    def __init__(self, shape: Shape, schema: pa.Schema) -> None:
        self.shape, self.schema = shape, schema
        self.names: dict[int, str] = {}
        self.constants: dict[int, ConstantsOfTests] = {}
        self._lowest_free = 0
        """The lowest number that may be free."""
        self.share_awake = 1 / 16
        """The share of the rules that an event went to lately, among events that cannot wake
        rules."""

    def __len__(self) -> int:
        return len(self.names)

    def add(self, name: str, constants: ConstantsOfTests) -> int:
        """Add a rule that has read nothing, and return its number."""
        number = self._free_number()
        if number >= MOST_RULES:
            raise LimitError(f"there are more than {MOST_RULES:,} rules of one shape")
        self.names[number] = name
        self.change(number, constants)
        return number

    def put(self, number: int, name: str, constants: ConstantsOfTests) -> None:
        """Add a rule with the number that it had before, to a group that is made again."""
        self.names[number] = name
        self.change(number, constants)

    def _free_number(self) -> int:
        while self._lowest_free in self.names:
            self._lowest_free += 1
        return self._lowest_free

    def change(self, number: int, constants: ConstantsOfTests) -> None:
        """Give a rule other constants from now on."""
        self.constants[number] = constants
        self.__dict__.pop("tests", None)

    def remove(self, number: int) -> None:
        del self.names[number], self.constants[number]
        self._lowest_free = min(self._lowest_free, number)
        self.__dict__.pop("tests", None)

    def pays(self, plan: Plan) -> bool:
        """Whether it is worth running the rules as one. It is not if an event that passes a test of
        all rules has to go to each of them."""
        return not self.tests.alike or sleeps(plan)

    @cached_property
    def tests(self) -> RuleTests:
        return RuleTests(self.shape.tests, self.constants, self.schema)

    def note(self, routed: int, listed: int, going_on: int) -> None:
        """Note how many events went to rules: of those that were listed, and of rows that only go
        on with matches."""
        if going_on:
            self.share_awake = max(0, routed - listed) / (going_on * len(self))

    def pieces(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """The same rows, in batches that make a bounded number of pairs with rules."""
        if batch.num_rows * len(self) <= MOST_PAIRS:
            yield batch
            return
        totals = np.cumsum(self._pairs_of_rows(batch))
        begin = 0
        while begin < batch.num_rows:
            before = int(totals[begin - 1]) if begin else 0
            end = max(begin + 1, int(np.searchsorted(totals, before + MOST_PAIRS)))
            yield batch.slice(begin, end - begin)
            begin = end

    def _pairs_of_rows(self, batch: pa.RecordBatch) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """About how many pairs with rules each row makes."""
        concerning = self.tests.concerning(batch)
        totals = self.tests.sizes(concerning).astype(np.float64)
        totals[concerning.alike != 0] += len(self) * self.share_awake
        return totals


def plan_of(plan: Plan, size: int) -> Plan:
    """The plan of a rule for a group of `size` rules: a key tells the rules apart."""
    query = plan.query
    if query.consume is Consume.ANY:  # there is one key only, or the rule would be alone
        query = replace(query, consume=Consume.PARTITION)
    text = plan.text if size == 1 else f"{plan.text}\n  (and {size - 1:,} more like it)"
    return replace(
        plan,
        query=replace(query, text=text),
        stream=replace(plan.stream, keys=(RULE, *plan.stream.keys)),
        traits=replace(plan.traits, keys_sleep=sleeps(plan), looks_ahead=False),
    )


def sleeps(plan: Plan) -> bool:
    """Whether an event may be kept from a rule that has no partial match in its window. Where
    positions count, the event is a gap to the rule, and that makes no difference only inside a
    window."""
    traits = plan.traits
    if traits.position_sensitive and plan.query.window is None:
        return False
    return not traits.emits_late and not traits.chosen_late
