"""Runs rules that change, in a bucket: an executor of all of them, and reports of changes.

Changes come as rows, in the same stream as the events, to every bucket. All buckets handle them in
the same way; the first one reports them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.engine.executor import Executor
from cereus.errors import CereusError
from cereus.language.result_counts import ResultCounts
from cereus.limits import Limits
from cereus.rules.output import RULE, VERSION, output_schema
from cereus.rules.recognizer import RuleChange, RuleRecognizer
from cereus.rules.rule import Rule, flag, tagged
from cereus.rules.running import CompiledRule
from cereus.spark.live.packing import PACKED, to_bytes
from cereus.stream import Stream

CHANGE, ERROR, REMOVED = "change", "error", "removed"
ROW = "__cereus_rule"
"""The column of packed changes: each a row of rules, as JSON."""
PACKED_RULES = pa.schema([(ROW, pa.string())])


def rules_schema(stream: Stream, events: pa.Schema) -> pa.Schema:
    """The columns of the result: those of matches, and those of changes (then the columns of
    matches are null)."""
    both = [*output_schema(stream, events), (CHANGE, pa.string()), (ERROR, pa.string())]
    return pa.schema(both)


@dataclass(frozen=True)
class RulesTask:
    """Rules over one stream, for a worker."""

    stream: Stream
    limits: Limits | None

    def executor(self, schema: pa.Schema) -> RulesExecutor:
        return RulesExecutor(self, schema)

    def result(self, matches: pa.RecordBatch, executor: Executor) -> pa.RecordBatch:
        return matches

    def counts(self, results: pa.RecordBatch) -> ResultCounts:
        return ResultCounts(results.num_rows, results.num_rows)


_RUNNING: dict[RulesTask, list[CompiledRule]] = {}
"""The rules that ran last in this process. When a bucket comes back from another worker, its
executor is made again; rules that are here are not compiled again."""
MOST_RUNNING = 8
"""The number of streams whose rules are kept, those that ran last."""


def _keep_running(task: RulesTask, rules: list[CompiledRule]) -> None:
    _RUNNING.pop(task, None)
    _RUNNING[task] = rules
    if len(_RUNNING) > MOST_RUNNING:
        del _RUNNING[next(iter(_RUNNING))]


class RulesExecutor(Executor):
    """Runs all rules, which may change between two batches."""

    waits_for_time = True
    emits_late = True

    def __init__(self, task: RulesTask, events: pa.Schema) -> None:
        self.task, self._events = task, events
        self.schema = rules_schema(task.stream, events)
        self.rules = RuleRecognizer(stream=task.stream, schema=events, limits=task.limits)

    @property
    def header(self) -> dict[str, Any]:
        return {}

    def change(self, rows: Iterable[Mapping[str, Any]], *, complete: bool) -> pa.RecordBatch:
        """Add and remove rules; `complete` rows are all rules that there should be. Returns a
        report of the changes."""
        names: set[str] = set()
        changes: list[RuleChange] = []
        for row in rows:
            name = "" if row.get("name") is None else str(row["name"])
            names.add(name)
            try:
                if is_removal(row):
                    changes += self.rules.remove(name)
                    continue
                rule = Rule.of({k: v for k, v in row.items() if k != REMOVED})
            except CereusError as error:
                changes.append(RuleChange(name, 0, "refused", str(error)))
                continue
            changes += self.rules.put(rule)
        if complete:
            changes += self.rules.remove(*sorted(set(self.rules.rules) - names))
        _keep_running(self.task, self.rules.running)
        return self._reported(changes)

    def _reported(self, changes: list[RuleChange]) -> pa.RecordBatch:
        shown = {name: [asdict(each)[name] for each in changes] for name in (RULE, CHANGE, ERROR)}
        shown[VERSION] = [each.version for each in changes]
        columns = [
            pa.array(shown[field.name], field.type)
            if field.name in shown
            else pa.nulls(len(changes), field.type)
            for field in self.schema
        ]
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def push(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        return self._matches(self.rules.push(batch))

    def advance(self, time: int) -> Iterator[pa.RecordBatch]:
        return self._matches(self.rules.advance(time))

    def finish(self) -> Iterator[pa.RecordBatch]:
        return self._matches(self.rules.finish())

    def _matches(self, rows: pa.Table) -> Iterator[pa.RecordBatch]:
        for batch in rows.combine_chunks().to_batches():
            nothing = [pa.nulls(batch.num_rows, pa.string())] * 2
            yield pa.RecordBatch.from_arrays([*batch.columns, *nothing], schema=self.schema)

    def forget(self) -> None:
        raise NotImplementedError("rules that change are for streams")

    def save(self) -> bytes:
        return self.rules.snapshot()

    def restore(self, snapshot_bytes: bytes) -> None:
        self.rules = RuleRecognizer.restored(
            snapshot_bytes,
            stream=self.task.stream,
            schema=self._events,
            limits=self.task.limits,
        )
        _keep_running(self.task, self.rules.running)

    @property
    def events(self) -> pa.Table | None:
        return None

    @property
    def event_rows(self) -> npt.NDArray[np.int64]:
        return np.zeros(0, np.int64)


@dataclass(frozen=True)
class RulePacking:
    """Rows of rules → a packed row for every bucket."""

    buckets: tuple[int, ...]

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            rows = [json.dumps(row, default=_as_json) for row in batch.to_pylist()]
            if rows:
                data = to_bytes(pa.record_batch([pa.array(rows, pa.string())], schema=PACKED_RULES))
                every = pa.array(self.buckets, pa.int32())
                yield pa.record_batch([every, pa.array([data] * len(every))], schema=PACKED)


def is_removal(row: Mapping[str, Any]) -> bool:
    """Whether a row removes its rule."""
    return row.get(REMOVED) is not None and flag(REMOVED, row[REMOVED])


def _as_json(value: Any) -> Any:
    """A value that JSON has no form for: of a parameter, or of the column `at`."""
    if isinstance(value, Decimal):
        return float(value)
    return tagged(value) if isinstance(value, datetime | timedelta) else str(value)


def rows_of(tables: Iterable[pa.Table]) -> list[dict[str, Any]]:
    """Packed changes as rows, in the order of `at`."""
    rows = [json.loads(row) for table in tables for row in table.column(ROW).to_pylist()]
    rows.sort(key=lambda row: (_moment(row.get(AT)), str(row.get("name"))))
    return [{name: value for name, value in row.items() if name != AT} for row in rows]


def _moment(at: Any) -> tuple[float, str]:
    """The sort key of a change: numbers in their order, and times, which are texts by now, in
    theirs."""
    return (at, "") if isinstance(at, int | float) else (0, str(at or ""))


AT = "at"
"""A column of rules: when the change was made."""
