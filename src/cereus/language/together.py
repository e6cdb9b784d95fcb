"""Runs several queries on one stream: those that differ only in constants run as one, and the
others share their tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.engine.executor import Executor, PatternExecutor
from cereus.engine.ingest.letters import WORD
from cereus.engine.ingest.shared_letters import SharedLetters
from cereus.engine.results.event_rows import EventShape
from cereus.engine.rules.executor import GroupExecutor, by_rule
from cereus.engine.rules.group import RuleGroup
from cereus.engine.rules.shape import Shape, Shaped
from cereus.engine.rules.substreams import RULE
from cereus.language.compiled import CompiledQuery
from cereus.language.pattern import PatternQuery

FEWEST = 8
"""From this many queries of one shape on, they run as one group."""

Named = tuple[str, pa.RecordBatch]


@dataclass(frozen=True)
class Running:
    """An executor, and the queries that it runs: one, or those of a group by their numbers."""

    executor: Executor
    names: Mapping[int, str]

    @property
    def schema(self) -> pa.Schema:
        """The schema of the results of each query."""
        schema = self.executor.schema
        return schema if not self._grouped else pa.schema([f for f in schema if f.name != RULE])

    @property
    def _grouped(self) -> bool:
        return isinstance(self.executor, GroupExecutor)

    def push(self, batch: pa.RecordBatch) -> Iterator[Named]:
        return self._named(self.executor.push(batch))

    def finish(self) -> Iterator[Named]:
        return self._named(self.executor.finish())

    def _named(self, batches: Iterable[pa.RecordBatch]) -> Iterator[Named]:
        for batch in batches:
            if not self._grouped:
                yield self.names[0], batch
            else:
                yield from ((self.names[number], part) for number, part in by_rule(batch))


def run_together(
    queries: Mapping[str, CompiledQuery],
    schema: pa.Schema,
    alone: Callable[[CompiledQuery], Executor],
    *,
    row_numbers: npt.NDArray[np.int64] | None = None,
    shape: Callable[[CompiledQuery], EventShape | None] = lambda query: None,
) -> list[Running]:
    """The runs of the queries over batches of this schema. `alone` makes the executor of a query
    that is like no other, and `shape` says which events its matches carry."""
    runs: list[Running] = []
    single = dict(queries)
    for members in _alike(queries, schema):
        first = queries[next(iter(members))]
        assert isinstance(first, PatternQuery)
        group = RuleGroup(next(iter(members.values())).shape, schema)
        names = {group.add(name, each.constants): name for name, each in members.items()}
        if not group.pays(first.plan(schema)):
            continue
        executor = GroupExecutor(
            group, first.plan(schema), schema, row_numbers=row_numbers, shape=shape(first)
        )
        runs.append(Running(executor, names))
        for name in members:
            del single[name]
    others = [Running(alone(query), {0: name}) for name, query in single.items()]
    _share([run.executor for run in others], schema)
    return [*others, *runs]


def _alike(queries: Mapping[str, CompiledQuery], schema: pa.Schema) -> Iterator[dict[str, Shaped]]:
    """Groups of queries that differ only in constants, by name."""
    by_shape: dict[Shape, dict[str, Shaped]] = {}
    for name, query in queries.items():
        made = None
        if len(queries) >= FEWEST and isinstance(query, PatternQuery):
            made = query.shaped(schema)
        if made is not None:
            by_shape.setdefault(made.shape, {})[name] = made
    return (members for members in by_shape.values() if len(members) >= FEWEST)


def _share(executors: Iterable[Executor], schema: pa.Schema) -> None:
    """Let patterns share their tests, as many as the letters of one word have room for."""
    waiting: list[PatternExecutor] = []
    tests: set[object] = set()
    for executor in executors:
        if not isinstance(executor, PatternExecutor):
            continue
        more = tests.union(executor.plan.tests)
        if waiting and len(more) > WORD:
            _share_letters(waiting, schema)
            waiting, more = [], set(executor.plan.tests)
        waiting, tests = [*waiting, executor], more
    _share_letters(waiting, schema)


def _share_letters(executors: list[PatternExecutor], schema: pa.Schema) -> None:
    if len(executors) > 1:
        shared = SharedLetters([each.plan for each in executors], schema)
        for executor in executors:
            executor.share_letters(shared)
