"""CEQL, and every other dialect whose patterns become a `Plan` for the automaton kernel."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.dialects.compiled import CompiledQuery, Path
from cereus.engine.columns import Clock
from cereus.engine.executor import Executor, PatternExecutor
from cereus.engine.learned import Learned
from cereus.engine.runner import Limits
from cereus.errors import RefusedError
from cereus.lang import cel
from cereus.lang import ceql as language
from cereus.plan.explain import explain, warnings
from cereus.plan.plan import Plan
from cereus.plan.result_names import check_pattern
from cereus.plan.sremo import plan_of
from cereus.plan.stream import Stream


def compile(text: str, stream: Stream, *, limits: Limits) -> PatternQuery:
    return PatternQuery(language.parse(text), stream, limits)


class PatternQuery(CompiledQuery):
    """A pattern, with the plans made of it so far: one for each schema it has met."""

    dialect = "ceql"

    def __init__(self, query: cel.Query, stream: Stream, limits: Limits) -> None:
        self.query, self.stream, self.limits = query, stream, limits
        self._plans: dict[bytes | None, Plan] = {}
        self._learned: dict[int, Learned] = {}

    @property
    def text(self) -> str:
        return self.query.text or language.to_text(self.query)

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
            plan = plan_of(self.query, self.stream, schema)
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
        """What was learned stays here: it is numbered by plans of this process."""
        return {**self.__dict__, "_learned": {}}

    def counting(self) -> CompiledQuery | None:
        if self.query.count:
            return self
        if self.query.select is not None:
            return None  # one complex event may be many bindings
        counting = PatternQuery(replace(self.query, count=True), self.stream, self.limits)
        try:
            counting.plan()
        except RefusedError:
            return None
        return counting

    def explain(self, schema: pa.Schema | None = None) -> str:
        return explain(self.plan(schema))
