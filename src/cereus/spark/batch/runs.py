"""Runs queries on the rows of one partition, several of them on the same rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from cereus.engine.executor import Executor
from cereus.language.compiled import CompiledQuery
from cereus.language.together import Named, Running, run_together
from cereus.spark.batch.eventwise import EventwiseTask
from cereus.spark.schemas import Path
from cereus.spark.worker import PartitionRun, Task


@dataclass(frozen=True)
class TogetherPart:
    """What a worker knows about one of the queries: the columns that it is given, its order for
    events of one time, and the columns of its results."""

    name: str
    task: Task | EventwiseTask
    columns: tuple[str, ...]
    order: tuple[Path, ...]
    results: pa.Schema

    @property
    def alike(self) -> object:
        """The property that queries of one run share. A query that is not a pattern of the
        automaton kernel has its own."""
        if isinstance(self.task, EventwiseTask):
            return self.name
        return (self.columns, self.order, self.task.query.stream, self.task.shape)

    def read(self, schema: pa.Schema) -> pa.Schema:
        return pa.schema([schema.field(name) for name in self.columns])


class SharedRun:
    """A run of patterns on the rows of one partition: those that read the same columns, in the same
    order."""

    def __init__(self, first: TogetherPart, tasks: Mapping[str, Task], schema: pa.Schema) -> None:
        self.first, self.tasks = first, tasks
        read, shape = first.read(schema), next(iter(tasks.values())).shape
        self.runs = run_together(
            {name: task.query for name, task in self.tasks.items()},
            read,
            lambda query: self._deferred(query, read),
            shape=lambda query: shape,
        )

    @property
    def fields(self) -> Iterator[pa.Field]:
        """The columns of the results, with the types that they have here."""
        for run in self.runs:
            for name in run.names.values():
                yield from (run.schema.field(each) for each in self.tasks[name].names)

    def _deferred(self, query: CompiledQuery, schema: pa.Schema) -> Executor:
        task = next(task for task in self.tasks.values() if task.query is query)
        executor = task.executor(schema)
        executor.defer()
        return executor

    def push(self, batch: pa.RecordBatch, keys_are_over: bool) -> Iterator[Named]:
        """The results that the end of all keys so far completes (with `keys_are_over`), then those
        that a batch completes."""
        if keys_are_over:
            yield from self.finish()
        for run in self.runs:
            if keys_are_over:
                run.executor.forget()
            yield from self._shown(run, run.push(batch))

    def finish(self) -> Iterator[Named]:
        for run in self.runs:
            yield from self._shown(run, run.finish())

    def _shown(self, run: Running, batches: Iterator[Named]) -> Iterator[Named]:
        for name, matches in batches:
            yield name, self.tasks[name].result(matches, run.executor)


class SingleRun:
    """A run of a query that shares only the rows with others."""

    def __init__(self, part: TogetherPart, schema: pa.Schema) -> None:
        self.first, self.fields = part, list(part.results)
        self.run = PartitionRun(part.task, part.read(schema))

    def push(self, batch: pa.RecordBatch, keys_are_over: bool) -> Iterator[Named]:
        return self._named(self.run.push(batch, keys_are_over))

    def finish(self) -> Iterator[Named]:
        return self._named(self.run.finish())

    def _named(self, batches: Iterator[pa.RecordBatch]) -> Iterator[Named]:
        return ((self.first.name, matches) for matches in batches)


def run_of(parts: Sequence[TogetherPart], schema: pa.Schema) -> SharedRun | SingleRun:
    """A run of queries that are alike (`TogetherPart.alike`)."""
    first, patterns = parts[0], {p.name: p.task for p in parts if isinstance(p.task, Task)}
    return SharedRun(first, patterns, schema) if patterns else SingleRun(first, schema)
