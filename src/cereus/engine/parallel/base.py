"""A run before it is decided how its input is cut."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import pyarrow as pa

from cereus.engine.executor import Executor
from cereus.engine.parallel.sharing import NotSplitError, Sharing
from cereus.engine.parallel.split import Split
from cereus.engine.parallel.spread import cuts
from cereus.stream import Stream

LEAST_ROWS = 1 << 17
"""The least rows of a part, unless they are known to be so much work that fewer are worth a
thread."""

PIECE = 1 << 18
"""The most rows that a thread looks at in one go: others may wait for it while it looks at the last
ones."""


class Work(Protocol):
    """One query over one input, which can be read again."""

    def executor(self, share: int) -> Executor:
        """An executor of the query, with one of `share` shares of what a run may use."""

    def batches(self) -> Iterator[tuple[int, pa.RecordBatch]]:
        """The events that may matter, each batch with the row of its first."""

    def first(self, rows: int) -> Work:
        """The same query over the first rows of a table."""


class Stretch(NamedTuple):
    """The results of some rows of the input, and the row after the last of these."""

    end: int
    results: Iterator[pa.RecordBatch]


@dataclass
class BaseRun:
    """A query over an input, and who works on it.

    rows    how many events there are, if that is known
    at_hand  all of them are in memory: none is to be waited for
    least   the least rows of a part; with `always`, however little it is worth
    result_schema  the columns of the results, known when some were asked for
    """

    work: Work
    stream: Stream
    schema: pa.Schema
    split: Split
    threads: int
    rows: int | None = None
    at_hand: bool = False
    least: int = LEAST_ROWS
    always: bool = False
    result_schema: pa.Schema = None
    at_work: list[Executor] = field(default_factory=list)

    def started(self, share: int) -> Executor:
        """An executor of the query, with one of `share` shares of what a run may use."""
        executor = self.work.executor(share)
        self.result_schema = executor.schema
        self.at_work.append(executor)
        return executor

    def shared(self) -> tuple[Executor, Sharing]:
        """Like `started`, for an executor that is one of several, one for each thread."""
        executor = self.started(self.threads)
        sharing = executor.sharing()
        if sharing is None:
            raise NotSplitError("its results have no order")
        return executor, sharing

    def pieces(self, batch: pa.RecordBatch) -> list[pa.RecordBatch]:
        """A batch in pieces, without copying: at least one for each thread, unless they would be
        too small."""
        number = max(self.threads, -(-batch.num_rows // PIECE))
        ranges = cuts(batch.num_rows, number, self.least)
        return [batch.slice(begin, end - begin) for begin, end in ranges]
