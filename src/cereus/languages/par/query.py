"""A compiled PAR query: a program and its machine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cereus.engine.executor import Executor
from cereus.engine.ingest.keys import KeyIndex
from cereus.language.anatomy import Anatomy
from cereus.language.compiled import EventwiseQuery
from cereus.language.kept import kept
from cereus.languages.par import tree as par
from cereus.languages.par.executor import ReactiveExecutor
from cereus.languages.par.explaining.anatomy import anatomy
from cereus.languages.par.explaining.explanation import explanation
from cereus.languages.par.explaining.words import words
from cereus.languages.par.machine.construct import MAX_STATES, from_program
from cereus.languages.par.machine.machine import Machine
from cereus.languages.par.machine.minimise import minimise
from cereus.plan.atoms import event_test
from cereus.plan.tests import EventTest
from cereus.state.digest import digest_of


class ParQuery(EventwiseQuery):
    """A program; one machine of it runs for every key."""

    dialect = "par"
    tree: par.Program

    def to_text(self) -> str:
        return str(self.tree)

    @cached_property
    def derivatives(self) -> Machine:
        """The machine before it is minimised."""
        # `states` has another default: a machine is made before the first event, not by events
        return from_program(self.tree, states=self.limits.given.get("states", MAX_STATES))

    @cached_property
    def machine(self) -> Machine:
        return minimise(self.derivatives)

    @kept
    def tests(self, schema: pa.Schema | None = None) -> tuple[EventTest, ...]:
        """The atoms, in the order of the machine's bits."""
        return tuple(
            event_test(atom.type, atom.condition, schema, self._text) for atom in self.machine.atoms
        )

    @property
    def fingerprint(self) -> str:
        return digest_of(repr((ReactiveExecutor.version, self.tree, self.stream)))

    @property
    def warnings(self) -> list[str]:
        nodes = (node for node in self.tree.walk() if isinstance(node, par.Output))
        written = frozenset[str]().union(*(node.names for node in nodes))
        dead = written - frozenset[str]().union(*self.machine.output_sets)
        if not written:
            return ["the program has no output: it only says when it completes"]
        return [f"no input ever brings about the output {name}" for name in sorted(dead)]

    def check(self, schema: pa.Schema | None) -> None:
        super().check(schema)
        self.tests(schema)

    @property
    def result_columns(self) -> tuple[str, ...]:
        times = () if self.stream.time is None else ("time",)
        return ("position", *times, "outputs", "completion")

    def executor(
        self,
        schema: pa.Schema,
        *,
        keep: tuple[str, ...] = (),
        row_numbers: npt.NDArray[np.int64] | None = None,
    ) -> Executor:
        self.check(schema)
        return ReactiveExecutor(
            self.machine,
            self.tests(schema),
            self.stream,
            schema,
            fingerprint=self.fingerprint,
            keep=keep,
            row_numbers=row_numbers,
        )

    @property
    def row_columns(self) -> dict[str, str]:
        return {"position": "event"}

    # ------------------------------------------------------------ explaining

    def diagram(self) -> str:
        return self.machine.dot()

    def of(self, program: par.Program) -> ParQuery:
        """A copy with another program."""
        return ParQuery(program, self.stream, self.limits)

    def unkeyed(self) -> ParQuery:
        return ParQuery(self.tree, replace(self.stream, keys=()), self.limits)

    def words(self) -> str:
        return words(self.tree, self.keys)

    @kept
    def anatomy(self, schema: pa.Schema | None = None) -> Anatomy:
        return anatomy(self, schema)

    @cached_property
    def notifies(self) -> bool:
        """Whether a program reports with outputs where it has found something; one without outputs
        reports by its completion."""
        return any(isinstance(node, par.Output) for node in self.tree.walk())

    def rows_of(self, results: pa.RecordBatch) -> pa.Array:
        if not self.notifies:
            return self.event_rows(results)
        notified = pc.greater(pc.list_value_length(results.column("outputs")), 0)
        rows = self.event_rows(results)
        return pc.if_else(notified, rows, pa.scalar([], rows.type))

    def marked_rows(self, results: pa.RecordBatch, mark: str) -> pa.Array:
        outputs, rows = results.column("outputs"), results.column("position")
        named = pc.equal(outputs.flatten(), mark)
        return rows.take(outputs.value_parent_indices().filter(named))

    def last_marked(
        self, results: Iterable[pa.RecordBatch], mark: str
    ) -> Iterator[tuple[int, int]]:
        last: dict[int, int] = {}
        keys: KeyIndex | None = None
        for batch in results:
            keys = keys or KeyIndex([batch.schema.field(name) for name in self.stream.keys])
            numbers = [0] * len(batch)
            if keys.fields:
                columns = [batch.column(name) for name in self.stream.keys]
                numbers = keys.encode(columns).tolist()
            outputs, rows = batch.column("outputs").to_pylist(), batch.column("position")
            for row, names, key in zip(rows.to_pylist(), outputs, numbers, strict=True):
                if mark in names:
                    last[key] = row
                if key in last:
                    yield row, last[key]

    def explain(self, schema: pa.Schema | None = None) -> str:
        self.check(schema)
        return explanation(self, schema)
