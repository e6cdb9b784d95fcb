"""SASE+: texts of queries that feed one another, run as one query."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.clauses.tree import TIMEOUTS, Window
from cereus.engine.executor import Executor
from cereus.engine.match.table_cache import TableCaches
from cereus.engine.parallel.split import Split, split_of_plan
from cereus.explain.slowness import slowness
from cereus.language.anatomy import Anatomy
from cereus.language.compiled import EventwiseQuery, Path
from cereus.language.kept import kept
from cereus.languages.sase import tree as sase
from cereus.languages.sase.explaining.anatomy import anatomy
from cereus.languages.sase.explaining.explanation import delays, explanation
from cereus.languages.sase.explaining.show import program_dot
from cereus.languages.sase.explaining.warnings import warnings
from cereus.languages.sase.explaining.words import words
from cereus.languages.sase.output import flattened
from cereus.languages.sase.planning.keys import shared_keys
from cereus.languages.sase.planning.program import (
    Aggregates,
    ProgramPlan,
    build_program,
)
from cereus.languages.sase.print import to_text
from cereus.languages.sase.run.program import ProgramExecutor
from cereus.limits import Limits
from cereus.plan.result_names import SPANS
from cereus.plan.tests import EventTest
from cereus.stream import Stream


class SaseQuery(EventwiseQuery):
    """A text, with the plans made of it so far: one for each schema it has met."""

    dialect = "sase"
    tree: sase.Program

    def __init__(
        self,
        tree: sase.Program,
        stream: Stream,
        limits: Limits,
        aggregates: Aggregates,
        output: str | int | None = None,
        implicit_keys: tuple[str, ...] = (),
    ) -> None:
        super().__init__(tree, stream, limits, tree.text)
        self.aggregates, self.output, self.implicit_keys = aggregates, output, implicit_keys
        self._plans: dict[bytes | None, ProgramPlan] = {}
        self._tables = TableCaches()

    def to_text(self) -> str:
        return to_text(self.tree)

    @property
    def variables(self) -> tuple[str, ...]:
        return self._any_plan.result.columns

    @property
    def returned(self) -> tuple[str, ...]:
        return self._any_plan.result.names

    @property
    def emits_late(self) -> bool:
        return self._any_plan.emits_late

    @property
    def warnings(self) -> list[str]:
        plan = self.plan()
        texts = [
            f"{stage.title}: {warning}" if plan.composed else warning
            for stage in plan.stages
            for block in stage.blocks
            for warning in warnings(block.query, block.plan)
        ]
        blocks = (b for each in self._plans.values() for stage in each.stages for b in stage.blocks)
        known = [note for block in blocks for note in slowness(block.plan)]
        return [*dict.fromkeys([*texts, *known]), *delays(plan)]

    @property
    def _any_plan(self) -> ProgramPlan:
        """A plan for what does not depend on the types of columns."""
        return next(iter(self._plans.values()), None) or self.plan()

    @kept
    def plan(self, schema: pa.Schema | None = None) -> ProgramPlan:
        """The plans for events of a schema (checked against it), or for unknown events."""
        key = None if schema is None else schema.remove_metadata().serialize().to_pybytes()
        if key not in self._plans:
            self._plans[key] = build_program(
                self.tree, self.stream, schema, self.aggregates, self.output
            )
        return self._plans[key]

    def check(self, schema: pa.Schema | None) -> None:
        self.plan(schema)

    def tests(self, schema: pa.Schema | None = None) -> tuple[EventTest, ...]:
        every = (test for block in self.plan(schema).readers for test in block.plan.tests)
        return tuple(dict.fromkeys(every))

    def part_count(self, schema: pa.Schema | None = None) -> int:
        """Components and conditions between them count as well: hundreds may share one test."""
        blocks = [block for union in self.tree.queries for block in union.blocks]
        written = sum(len(block.parts) + len(block.clauses) for block in blocks)
        return max(super().part_count(schema), written)

    @property
    def counts_events(self) -> bool:
        return any(b.plan.traits.position_sensitive for b in self._any_plan.readers)

    def columns(self, schema: pa.Schema) -> frozenset[Path]:
        return self.plan(schema).columns

    def columns_beside_tests(self, schema: pa.Schema) -> frozenset[str]:
        readers = list(self.plan(schema).readers)
        shown = (name for block in readers for name in block.payload)
        return frozenset(shown).union(*(block.plan.columns_beside_tests for block in readers))

    @property
    def result_columns(self) -> tuple[str, ...]:
        result = self.plan().result
        spans = [n for n in SPANS if self.stream.time is not None or not n.endswith("_time")]
        late = [name for name in TIMEOUTS if self.stream.time is not None or name != "deadline"]
        timeouts = late if result.union.blocks[0].timeouts else []
        return (*spans[:-1], *timeouts, *spans[-1:], *result.names, *result.columns)

    @property
    def row_columns(self) -> dict[str, str]:
        return {**super().row_columns, **{name: name for name in self.variables}}

    @property
    def unshown(self) -> frozenset[str]:
        return frozenset({"start", "end", *self.implicit_keys}) - {*self.returned}

    def spread(self, schema: pa.Schema) -> SaseQuery:
        implicit_keys = shared_keys(self.plan(schema))
        if not implicit_keys:
            return self
        stream = replace(self.stream, keys=(*self.stream.keys, *implicit_keys))
        return SaseQuery(
            self.tree, stream, self.limits, self.aggregates, self.output, implicit_keys
        )

    def split(self, schema: pa.Schema | None = None) -> Split:
        plan = self.plan(schema)
        if plan.composed:
            return Split(why_not="its queries read each other's events")
        if not plan.splits:
            return Split(why_not="its matches wait for time to pass in the whole input")
        keys = tuple((name,) for name in (*self.stream.keys, *shared_keys(plan)))
        return Split(keys, self._span(plan), why_not="there are no keys")

    def span(self, schema: pa.Schema) -> Window | None:
        return self._span(self.plan(schema))

    @staticmethod
    def _span(plan: ProgramPlan) -> Window | None:
        blocks = [block for stage in plan.stages for block in stage.blocks]
        if len(blocks) > 1 or plan.emits_late:
            return None
        return split_of_plan(blocks[0].plan).window

    def executor(
        self,
        schema: pa.Schema,
        *,
        keep: tuple[str, ...] = (),
        row_numbers: npt.NDArray[np.int64] | None = None,
    ) -> Executor:
        return ProgramExecutor(
            self.plan(schema),
            schema,
            limits=self.limits,
            keep=keep,
            row_numbers=row_numbers,
            tables=self._tables,
        )

    @kept
    def flat(self, schema: pa.Schema) -> SaseQuery:
        result = self.plan().result
        if not result.variables:
            return self  # it returns values, or has several blocks
        block = result.blocks[0]
        if block.source is not None:
            schema = self.plan(schema).result.blocks[0].schema or schema
        program = flattened(self.tree, result.union, schema)
        return SaseQuery(
            program, self.stream, self.limits, self.aggregates, self.output, self.implicit_keys
        )

    def of(self, program: sase.Program, output: str | int | None = None) -> SaseQuery:
        """A copy with another program."""
        chosen = self.output if output is None else output
        return SaseQuery(program, self.stream, self.limits, self.aggregates, chosen)

    def unkeyed(self) -> SaseQuery:
        stream = replace(self.stream, keys=())
        return SaseQuery(self.tree, stream, self.limits, self.aggregates, self.output)

    def words(self) -> str:
        return words(self.tree)

    @kept
    def anatomy(self, schema: pa.Schema | None = None) -> Anatomy:
        return anatomy(self, schema)

    # ------------------------------------------------------------ explaining

    def diagram(self) -> str:
        return program_dot(self.plan())

    def explain(self, schema: pa.Schema | None = None) -> str:
        return explanation(self.plan(schema))
