"""Queries whose patterns become a `Plan` for the automaton kernel."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.clauses.tree import AnyQuery
from cereus.engine.executor import Executor, PatternExecutor
from cereus.engine.ingest.clock import Clock
from cereus.engine.match.table_cache import Learned
from cereus.explain.explain import explain, warnings
from cereus.language.compiled import CompiledQuery, Path
from cereus.limits import Limits
from cereus.plan.plan import Plan
from cereus.plan.result_names import check_pattern
from cereus.stream import Stream


class PatternQuery(CompiledQuery):
    """A pattern, with the plans made of it so far: one for each schema it has met."""

    def __init__(self, query: AnyQuery, stream: Stream, limits: Limits) -> None:
        self.query, self.stream, self.limits = query, stream, limits
        self._plans: dict[bytes | None, Plan] = {}
        self._learned: dict[int, Learned] = {}

    @abstractmethod
    def build(self, schema: pa.Schema | None) -> Plan:
        """A plan; with a schema, every name and type in the query is checked against it."""

    @abstractmethod
    def to_text(self) -> str:
        """The query printed, where it was not written as a text."""

    @property
    def text(self) -> str:
        return self.query.text or self.to_text()

    @property
    def variables(self) -> tuple[str, ...]:
        return tuple(output.variable for output in self.query.select or ())

    @property
    def counts(self) -> bool:
        return self.query.count

    @property
    def late(self) -> bool:
        return self.plan().late

    @property
    def keys(self) -> tuple[Path, ...]:
        return self.plan().keys

    @property
    def warnings(self) -> list[str]:
        return warnings(self.plan())

    def plan(self, schema: pa.Schema | None = None) -> Plan:
        """The plan for events of a schema (checked against it), or for events yet unknown."""
        key = None if schema is None else schema.remove_metadata().serialize().to_pybytes()
        if key not in self._plans:
            if schema is not None:
                self.stream.check(schema)
            plan = self.build(schema)
            check_pattern(plan.query, plan.keys, timed=self.stream.time is not None)
            self._plans[key] = plan
        return self._plans[key]

    def check(self, schema: pa.Schema | None) -> None:
        plan = self.plan(schema)
        if schema is not None:
            Clock(plan.query.window, self.stream, schema)  # refuses what it cannot measure

    def columns(self, schema: pa.Schema) -> frozenset[Path]:
        shown = (path for output in self.query.select or () for path in output.attributes)
        return self.plan(schema).columns.union(shown)

    def executor(
        self,
        schema: pa.Schema,
        *,
        keep: tuple[str, ...] = (),
        row_numbers: npt.NDArray[np.int64] | None = None,
    ) -> Executor:
        plan = self.plan(schema)
        if id(plan) not in self._learned:
            self._learned[id(plan)] = Learned.nothing(plan, self.limits.states)
        return PatternExecutor(
            plan,
            schema,
            limits=self.limits,
            keep=keep,
            row_numbers=row_numbers,
            learned=self._learned[id(plan)],
        )

    def __getstate__(self) -> dict[str, Any]:
        """Plans and what was learned stay here: another process makes its own."""
        return {**self.__dict__, "_plans": {}, "_learned": {}}

    def replaced(self, *, query: AnyQuery | None = None, stream: Stream | None = None) -> Self:
        """The same with another query, or over another stream."""
        return type(self)(query or self.query, stream or self.stream, self.limits)

    def explain(self, schema: pa.Schema | None = None) -> str:
        return explain(self.plan(schema))
