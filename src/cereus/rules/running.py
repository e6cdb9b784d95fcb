"""Runs rules: those of one shape in a group on one kernel, the others each alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from cereus.engine.executor import Executor, PatternExecutor
from cereus.engine.rules.executor import GroupExecutor, by_rule
from cereus.engine.rules.group import RuleGroup, sleeps
from cereus.engine.rules.shape import Shaped
from cereus.engine.rules.substreams import MOST_RULES
from cereus.language.compiled import CompiledQuery
from cereus.language.event_results import EventResults
from cereus.language.pattern import PatternQuery
from cereus.rules.rule import Rule
from cereus.state import checked


@dataclass(frozen=True)
class CompiledRule:
    """A rule that runs: its version, its query, and its shape, if it may share a kernel."""

    rule: Rule
    version: int
    query: CompiledQuery
    results: EventResults
    shaped: Shaped | None

    @classmethod
    def of(cls, rule: Rule, version: int, query: CompiledQuery, schema: pa.Schema) -> CompiledRule:
        results = EventResults(query, tuple(schema.names))
        shape = query.shaped(schema) if isinstance(query, PatternQuery) else None
        return cls(rule, version, query, results, shape)

    @property
    def name(self) -> str:
        return self.rule.name

    def groups(self, schema: pa.Schema) -> bool:
        """Whether it may share a kernel. It may not if it would have to read events that do not
        concern it."""
        if self.shaped is None or not isinstance(self.query, PatternQuery):
            return False
        return sleeps(self.query.plan(schema))


@dataclass
class Unit:
    """An executor with the rules that it runs, by their numbers; one that runs alone is 0."""

    executor: Executor
    rules: dict[int, CompiledRule] = field(default_factory=dict)

    def outputs(
        self, batches: Iterable[pa.RecordBatch]
    ) -> Iterator[tuple[CompiledRule, pa.RecordBatch]]:
        for batch in batches:
            parts = by_rule(batch) if isinstance(self.executor, GroupExecutor) else [(0, batch)]
            for number, part in parts:
                checked.refuse_unless(
                    number in self.rules, "a match is of a rule that has no state"
                )
                rule = self.rules[number]
                yield rule, rule.results.batch(part, self.executor)


class RunningRules:
    """All running rules, over events of one schema. If events are sorted by key and not by time, no
    key may be forgotten by its time (`forgets=False`)."""

    def __init__(self, schema: pa.Schema, *, forgets: bool = True) -> None:
        self.schema, self.forgets = schema, forgets
        self.units: list[Unit] = []
        self.have_read = 0
        """How many units have read the batch that is being pushed."""

    def unit_of(self, name: str) -> tuple[Unit, int] | None:
        for unit in self.units:
            for number, rule in unit.rules.items():
                if rule.name == name:
                    return unit, number
        return None

    # ------------------------------------------------------------ rules come and go

    def add(self, rule: CompiledRule) -> None:
        """Add a rule that has read nothing."""
        if not rule.groups(self.schema):
            executor = self._ready(rule.results.executor(self.schema))
            self.units.append(Unit(executor, {0: rule}))
            return
        assert rule.shaped is not None
        unit = next((u for u in self.units if _takes(u, rule)), None) or self._group(rule)
        assert isinstance(unit.executor, GroupExecutor)
        unit.rules[unit.executor.group.add(rule.name, rule.shaped.constants)] = rule

    def _group(self, rule: CompiledRule) -> Unit:
        """A new, empty group for rules like this one."""
        assert rule.shaped is not None and isinstance(rule.query, PatternQuery)
        group = RuleGroup(rule.shaped.shape, self.schema)
        plan, shape = rule.query.plan(self.schema), rule.results.shape
        unit = Unit(self._ready(GroupExecutor(group, plan, self.schema, shape=shape)))
        self.units.append(unit)
        return unit

    def _ready(self, executor: Executor) -> Executor:
        if self.forgets:
            executor.forget_idle()
        return executor

    def remove(self, name: str) -> None:
        """Remove a rule with all its partial matches."""
        place = self.unit_of(name)
        if place is None:
            return
        unit, number = place
        del unit.rules[number]
        if isinstance(unit.executor, GroupExecutor):
            unit.executor.drop(number)
        if not unit.rules:
            self.units.remove(unit)

    def replace(self, rule: CompiledRule) -> bool:
        """Replace the rule of the same name. Returns whether the new rule goes on with the partial
        matches of the old one."""
        place = self.unit_of(rule.name)
        if place is None or not self._carries(place[0].rules[place[1]], rule):
            self.remove(rule.name)
            self.add(rule)
            return False
        unit, number = place
        before = unit.rules[number]
        assert before.shaped is not None and rule.shaped is not None
        if isinstance(unit.executor, GroupExecutor) and before.shaped.shape == rule.shaped.shape:
            unit.executor.group.change(number, rule.shaped.constants)
            unit.rules[number] = rule
        else:
            self._move(rule, unit, number)
        return True

    def _carries(self, before: CompiledRule, after: CompiledRule) -> bool:
        """Whether only constants of tests, or the output, are different."""
        if before.shaped is None or after.shaped is None:
            return False
        return before.shaped.shape.without_output == after.shaped.shape.without_output

    def _move(self, rule: CompiledRule, unit: Unit, number: int) -> None:
        """Take up the state of a rule in an executor with another output."""
        old = unit.executor
        assert isinstance(old, PatternExecutor) and rule.shaped is not None
        state = old.state()
        if isinstance(old, GroupExecutor):
            made = self._group(rule)
            assert isinstance(made.executor, GroupExecutor)
            for each, constants in old.group.constants.items():
                made.executor.group.put(each, old.group.names[each], constants)
            made.executor.adopt(state)
            made.executor.group.change(number, rule.shaped.constants)
            for each in list(unit.rules):
                if each != number:
                    made.executor.drop(each)
            made.rules[number] = rule
        else:
            executor = self._ready(rule.results.executor(self.schema))
            assert isinstance(executor, PatternExecutor)
            executor.adopt(state)
            self.units.append(Unit(executor, {number: rule}))
        new = self.units.pop()
        self.remove(rule.name)
        self.units.append(new)

    # ------------------------------------------------------------ events

    def push(self, batch: pa.RecordBatch) -> Iterator[tuple[CompiledRule, pa.RecordBatch]]:
        self.have_read = 0
        for unit in self.units:
            yield from unit.outputs(unit.executor.push(batch))
            self.have_read += 1

    def advance(self, time: int) -> Iterator[tuple[CompiledRule, pa.RecordBatch]]:
        for unit in self.units:
            yield from unit.outputs(unit.executor.advance(time))

    def finish(self) -> Iterator[tuple[CompiledRule, pa.RecordBatch]]:
        for unit in self.units:
            yield from unit.outputs(unit.executor.finish())

    def forget(self) -> None:
        """Drop the partial matches of all keys so far: none of them comes again. For streams sorted
        by key."""
        for unit in self.units:
            unit.executor.forget()

    # ------------------------------------------------------------ state

    def save(self) -> list[dict[str, object]]:
        """The state of each executor, and the names of its rules."""
        return [
            {
                "rules": [(number, rule.name) for number, rule in unit.rules.items()],
                "state": unit.executor.save(),
            }
            for unit in self.units
        ]

    def restore(self, saved: Any, rules: dict[str, CompiledRule]) -> None:
        """Take up the states of executors; every rule that runs must be in one of them."""
        waiting = dict(rules)
        for each in checked.of_type(saved, list, "the units of rules"):
            members = _members(each["rules"], waiting)
            first = members[min(members)]
            if first.groups(self.schema):
                unit = self._group(first)
                assert isinstance(unit.executor, GroupExecutor)
                for number, rule in members.items():
                    checked.refuse_unless(_takes(unit, rule), "a rule is of another shape")
                    assert rule.shaped is not None
                    unit.executor.group.put(number, rule.name, rule.shaped.constants)
            else:
                checked.refuse_unless([*members] == [0], "a rule that runs alone shares a unit")
                unit = Unit(self._ready(first.results.executor(self.schema)))
                self.units.append(unit)
            unit.rules = members
            unit.executor.restore(checked.of_type(each["state"], bytes, "the state of rules"))
        checked.refuse_unless(not waiting, "a rule has no state")


def _members(saved: Any, waiting: dict[str, CompiledRule]) -> dict[int, CompiledRule]:
    """The rules of a unit by their numbers, taken from those that wait for their state."""
    members = {
        checked.integer(number, "the number of a rule", 0, MOST_RULES): waiting.pop(name)
        for number, name in checked.of_type(saved, list, "the rules of a unit")
    }
    checked.refuse_unless(0 < len(members) == len(saved), "the rules of a unit have no numbers")
    return members


def _takes(unit: Unit, rule: CompiledRule) -> bool:
    """Whether a group has the shape of the rule."""
    executor = unit.executor
    return (
        isinstance(executor, GroupExecutor)
        and rule.shaped is not None
        and executor.group.shape == rule.shaped.shape
    )
