"""Queries whose patterns become a `Plan` for the automaton kernel."""

from __future__ import annotations

from abc import abstractmethod
from copy import copy
from dataclasses import replace
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.clauses.tree import ParsedQuery, PatternTree, Window
from cereus.engine.executor import Executor, PatternExecutor
from cereus.engine.ingest.clock import Clock
from cereus.engine.match.table_cache import TableCaches
from cereus.engine.parallel.split import Split, split_of_plan
from cereus.engine.rules.shape import Shaped, shaped
from cereus.explain.description import Description
from cereus.explain.diagram import automaton_dot
from cereus.explain.explain import explain, warnings
from cereus.explain.slowness import slowness
from cereus.language.compiled import CompiledQuery, Path
from cereus.limits import Limits
from cereus.plan.plan import Plan
from cereus.plan.result_names import check_pattern
from cereus.plan.returned import shown_paths
from cereus.plan.tests import EventTest
from cereus.plan.traits import keys_of
from cereus.stream import Stream

P = TypeVar("P", bound=PatternTree)


class PatternQuery(CompiledQuery, Generic[P]):
    """A pattern, with the plans made of it so far: one for each schema it has met."""

    description: ClassVar[Description]
    tree: ParsedQuery[P]

    def __init__(self, tree: ParsedQuery[P], stream: Stream, limits: Limits) -> None:
        super().__init__(tree, stream, limits, tree.text)
        self._plans: dict[bytes | None, Plan] = {}
        self._latest: tuple[pa.Schema | None, Plan | None] = (None, None)
        self._caches = TableCaches()
        self._shapes: dict[int, Shaped | None] = {}

    @abstractmethod
    def build(self, schema: pa.Schema | None) -> Plan:
        """A plan; with a schema, every name and type in the query is checked against it."""

    @property
    def variables(self) -> tuple[str, ...]:
        return tuple(output.name for output in self.tree.select or ())

    @property
    def returned(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.plan().returned)

    @property
    def counts(self) -> bool:
        return self.tree.count

    @property
    def emits_late(self) -> bool:
        return self.plan().traits.emits_late

    @property
    def counts_events(self) -> bool:
        known = next(iter(self._plans.values()), None)  # the types of columns make no difference
        return (known or self.plan()).traits.position_sensitive

    @property
    def keys(self) -> tuple[Path, ...]:
        return keys_of(self.tree, self.stream.keys)

    @property
    def warnings(self) -> list[str]:
        known = [note for plan in self._plans.values() for note in slowness(plan)]
        return [*dict.fromkeys([*warnings(self.plan(), self.description), *known])]

    def plan(self, schema: pa.Schema | None = None) -> Plan:
        """The plan for events of a schema (checked against it), or for unknown events."""
        if schema is None:
            return self._plans.get(None) or self._planned(None, None)
        known, latest = self._latest
        if known is not None and latest is not None and known.equals(schema):
            return latest  # a run asks several times, and comparing schemas as bytes takes a while
        key = schema.remove_metadata().serialize().to_pybytes()
        plan = self._plans.get(key) or self._planned(schema, key)
        self._latest = schema, plan
        return plan

    def _planned(self, schema: pa.Schema | None, key: bytes | None) -> Plan:
        if schema is not None:
            self.stream.check(schema)
        plan = self.build(schema)
        check_pattern(plan.query, plan.declared_keys, timed=self.stream.time is not None)
        self._plans[key] = plan
        return plan

    def shaped(self, schema: pa.Schema) -> Shaped | None:
        """The shape of the plan, which is the same for queries that differ only in constants."""
        plan = self.plan(schema)
        if id(plan) not in self._shapes:
            self._shapes[id(plan)] = shaped(plan, schema, self.limits)
        return self._shapes[id(plan)]

    def check(self, schema: pa.Schema | None) -> None:
        plan = self.plan(schema)
        if schema is not None:
            Clock(plan.query.window, self.stream, schema)  # refuses a window that it cannot measure

    def columns(self, schema: pa.Schema) -> frozenset[Path]:
        return self.plan(schema).columns.union(shown_paths(self.tree))

    def executor(
        self,
        schema: pa.Schema,
        *,
        keep: tuple[str, ...] = (),
        row_numbers: npt.NDArray[np.int64] | None = None,
    ) -> Executor:
        plan = self.plan(schema)
        return PatternExecutor(
            plan,
            schema,
            limits=self.limits,
            keep=keep,
            row_numbers=row_numbers,
            cache=self._caches.of(plan, self.limits),
        )

    def reads_only_tested(self, schema: pa.Schema) -> bool:
        traits = self.plan(schema).traits
        return not traits.position_sensitive and not traits.emits_late

    def coded_columns(self, schema: pa.Schema) -> frozenset[str]:
        plan, query = self.plan(schema), self.tree
        waits = query.unfollowed is not None or query.timeouts
        if waits or plan.traits.remembers_values:
            return frozenset()
        return plan.tested_only - {path[0] for path in shown_paths(query)}

    def columns_beside_tests(self, schema: pa.Schema) -> frozenset[str]:
        if self.tree.unfollowed is not None:
            return super().columns_beside_tests(schema)
        shown = {path[0] for path in shown_paths(self.tree)}
        return self.plan(schema).columns_beside_tests | shown

    def split(self, schema: pa.Schema | None = None) -> Split:
        return split_of_plan(self.plan(schema))

    def with_share(self, share: int) -> Self:
        made = super().with_share(share)
        # limits change no plan: threads need not make their own, nor explore it again
        made._plans, made._caches = self._plans, self._caches
        return made

    def span(self, schema: pa.Schema) -> Window | None:
        return self.split(schema).window

    def __getstate__(self) -> dict[str, Any]:
        """The state without plans and their tables: another process makes them again."""
        made_here = {"_plans": {}, "_latest": (None, None), "_caches": TableCaches(), "_shapes": {}}
        return {**super().__getstate__(), **made_here}

    def of(self, tree: ParsedQuery[P]) -> Self:
        """A copy with another tree."""
        made = copy(self)  # without its plans
        made.tree, made._text = tree, tree.text
        return made

    def over(self, stream: Stream) -> Self:
        """A copy for another stream."""
        made = copy(self)
        made.stream = stream
        return made

    def unkeyed(self) -> Self:
        tree = replace(self.tree, partition_by=(), text=None)
        return self.of(tree).over(replace(self.stream, keys=()))

    @property
    def rows_hint(self) -> str | None:
        return "a count has no events" if self.counts else None

    def tests(self, schema: pa.Schema | None = None) -> tuple[EventTest, ...]:
        return self.plan(schema).tests

    def diagram(self) -> str:
        return automaton_dot(self.plan(), self.description)

    def explain(self, schema: pa.Schema | None = None) -> str:
        return explain(self.plan(schema), self.description)
