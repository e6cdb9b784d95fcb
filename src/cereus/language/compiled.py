"""The common interface of compiled queries of all languages."""

from __future__ import annotations

import html
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from copy import copy
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.clauses.tree import Window
from cereus.engine.executor import Executor
from cereus.engine.parallel.effort import Effort
from cereus.engine.parallel.split import Split
from cereus.errors import CereusError
from cereus.explain.wording import test_text
from cereus.language.anatomy import Anatomy, Step
from cereus.language.kept import kept, without_kept
from cereus.limits import Limits
from cereus.plan.atoms import check_stream, columns_read
from cereus.plan.result_names import check_keys
from cereus.plan.tests import EventTest
from cereus.stream import Stream

Path = tuple[str, ...]


class CompiledQuery(ABC):
    """A query of one language, for one stream: immutable, picklable, the same everywhere it runs.

    A schema, where one is taken, is that of the events; names and types are checked against it.

    tree    the syntax tree, in the classes of the language
    stream  the columns of the events
    limits  what a run may use
    """

    dialect: ClassVar[str]
    tree: Any

    def __init__(self, tree: Any, stream: Stream, limits: Limits, text: str | None = None) -> None:
        self.tree, self.stream, self.limits, self._text = tree, stream, limits, text

    @property
    def text(self) -> str:
        """The query as it was written, or as it is printed."""
        return self._text or self.to_text()

    @abstractmethod
    def to_text(self) -> str:
        """The syntax tree as a text."""

    @property
    def variables(self) -> tuple[str, ...]:
        """The columns of a result that hold the events of one variable each."""
        return ()

    @property
    def returned(self) -> tuple[str, ...]:
        """The columns of a result that the query computes itself."""
        return ()

    @property
    def counts(self) -> bool:
        """Whether a row of a result is not a match, but counts matches in its column `count`."""
        return False

    @property
    def has_several_rows(self) -> bool:
        """A match has a row of the result for each of its events, and may have several."""
        return False

    @property
    def notifies(self) -> bool:
        """Whether a result is a match only if it has `outputs`; other results report that a program
        completes."""
        return False

    @property
    def emits_late(self) -> bool:
        """Whether a result may be emitted after later events were read."""
        return False

    @property
    def counts_events(self) -> bool:
        """Whether events that pass no test matter too, because positions count."""
        return False

    @property
    def row_columns(self) -> Mapping[str, str]:
        """The columns of a result that hold row numbers, and the names of the columns that hold the
        events instead where rows have no numbers, as on Spark."""
        return {"positions": "events"}

    @property
    def rows_hint(self) -> str | None:
        """A hint for getting results with row numbers, where `row_columns` has none."""
        return None

    @property
    def keys(self) -> tuple[Path, ...]:
        """The columns that split the stream."""
        return tuple((name,) for name in self.stream.keys)

    def unkeyed(self) -> CompiledQuery | None:
        """The same query over the whole stream, as if it had no keys, if there is one."""
        return None

    @property
    def warnings(self) -> list[str]:
        """What to know before running the query."""
        return []

    @property
    def live_warnings(self) -> list[str]:
        """More to know before running it on a live stream."""
        return []

    @abstractmethod
    def check(self, schema: pa.Schema | None) -> None:
        """Refuse a query that cannot be run, as early as that can be known."""

    @abstractmethod
    def tests(self, schema: pa.Schema | None = None) -> tuple[EventTest, ...]:
        """The conditions on single events. In most languages, an event that passes none of them
        does not matter."""

    most_parts: ClassVar[int] = 100
    """The most tests and conditions of a query that `why` takes apart. Each of them is left out
    once, and the pattern is run up to each step, so the work grows with the square of their
    number."""

    def part_count(self, schema: pa.Schema | None = None) -> int:
        """The number of tests and conditions of the query."""
        return sum(1 + len(test.conditions) for test in self.tests(schema))

    @abstractmethod
    def columns(self, schema: pa.Schema) -> frozenset[Path]:
        """The columns that running the query reads."""

    @abstractmethod
    def executor(
        self,
        schema: pa.Schema,
        *,
        keep: tuple[str, ...] = (),
        row_numbers: npt.NDArray[np.int64] | None = None,
    ) -> Executor:
        """The executor of the query for batches of this schema. `keep` names columns that are
        remembered of every event in a result; `row_numbers` renames the rows."""

    def reads_only_tested(self, schema: pa.Schema) -> bool:
        """Whether rows that pass no test may be skipped unread: nothing depends on them."""
        return False

    def coded_columns(self, schema: pa.Schema) -> frozenset[str]:
        """The columns whose texts may come as dictionaries, whatever the schema says: they are
        tested, or are keys, and are neither shown nor compared."""
        return frozenset()

    def columns_beside_tests(self, schema: pa.Schema) -> frozenset[str]:
        """The columns that a run still reads when the passed tests of each event are known."""
        return frozenset(path[0] for path in self.columns(schema))

    def split(self, schema: pa.Schema | None = None) -> Split:
        """How its input may be cut into parts for several threads."""
        return Split(
            ahead=False, why_not=f"queries in {self.dialect} read their input in one piece"
        )

    def with_share(self, share: int) -> Self:
        """The same query with one of `share` shares of what a run may use."""
        made = copy(self)
        made.limits = replace(self.limits, nodes=self.limits.nodes // share)
        return made

    @kept
    def effort(self, schema: pa.Schema) -> Effort:
        """The work of runs over events of this schema; each run updates it."""
        return Effort()

    def counting(self, schema: pa.Schema | None = None) -> CompiledQuery | None:
        """A query that counts the matches of this one without listing them, if there is one."""
        return None

    def __getstate__(self) -> dict[str, Any]:
        return without_kept(self.__dict__)

    def flat(self, schema: pa.Schema) -> CompiledQuery:
        """The same query with a column for each attribute, `a_price`, of variables that hold one
        event; the query itself if it has no such variables."""
        return self

    @abstractmethod
    def explain(self, schema: pa.Schema | None = None) -> str:
        """How the query will be run."""

    def words(self) -> str:
        """The query in plain English."""
        raise CereusError(f"there are no words for a query in {self.dialect}")

    def anatomy(self, schema: pa.Schema | None = None) -> Anatomy:
        """The query taken apart: its steps, and the rules that may be loosened."""
        return Anatomy(self, lambda: [Step("any event of the pattern", self.tests(schema), self)])

    def rows_of(self, results: pa.RecordBatch) -> pa.Array:
        """The rows of the events that each match is made of; empty where a result is not a
        match."""
        return self.event_rows(results)

    def marked_rows(self, results: pa.RecordBatch, mark: str) -> pa.Array:
        """The rows where a query that counts several steps at once has reached one of them."""
        raise NotImplementedError

    def last_marked(
        self, results: Iterable[pa.RecordBatch], mark: str
    ) -> Iterator[tuple[int, int]]:
        """For the row of each result, the last row of the same key that was marked until then, if
        there is one."""
        raise NotImplementedError

    def span(self, schema: pa.Schema) -> Window | None:
        """The window that holds all events of a match and all that decide about it, if there is
        one: events outside of it may be left out."""
        return None

    def event_rows(self, results: pa.RecordBatch) -> pa.Array:
        """The rows of the events that each result is made of."""
        name = next((n for n in self.row_columns if n in results.schema.names), None)
        if name is None:
            raise CereusError(
                "these matches do not say which events they are made of", hint=self.rows_hint
            )
        rows = results.column(name)
        return rows if pa.types.is_list(rows.type) else as_lists(rows)

    def ending(self, column: str | None = None) -> CompiledQuery:
        """The same matches, for a caller that needs only their last rows and one column: some
        queries then write less."""
        return self

    def _repr_html_(self) -> str:
        """The query in a notebook: its picture, and how it runs."""
        shown = f"<pre>{html.escape(self.explain())}</pre>"
        with suppress(CereusError):  # a library for pictures is missing
            from cereus.pictures.diagram import Diagram

            shown = Diagram(self.diagram()).svg() + shown
        return shown

    def diagram(self) -> str:
        """A picture of what runs the query, in DOT."""
        raise CereusError(f"there is no picture of a query in {self.dialect}")


class EventwiseQuery(CompiledQuery):
    """A query with an executor of its own, behind tests of single events: events that pass no test
    do not matter to it."""

    def tests_text(self, schema: pa.Schema | None) -> list[str]:
        return [f"t{n}  {test_text(test)}" for n, test in enumerate(self.tests(schema))]

    @property
    @abstractmethod
    def result_columns(self) -> tuple[str, ...]:
        """The columns of a result, after the keys."""

    def split(self, schema: pa.Schema | None = None) -> Split:
        keys = self.keys
        return Split(keys, light=True) if keys else Split(why_not="there are no keys")

    def check(self, schema: pa.Schema | None) -> None:
        check_keys(self.keys, self.result_columns)
        if schema is not None:
            check_stream(self.stream, schema)

    @property
    def unshown(self) -> frozenset[str]:
        """Columns of a result that mean nothing where rows have no numbers, as on Spark."""
        return frozenset()

    def spread(self, schema: pa.Schema) -> EventwiseQuery:
        """The same query over more keys, if some columns split its stream implicitly; these are
        `unshown`."""
        return self

    @kept
    def columns(self, schema: pa.Schema) -> frozenset[Path]:
        return columns_read(self.tests(schema), self.stream)


def as_lists(values: pa.Array) -> pa.Array:
    """Each value as a list of one; NULL, as for a match without rows, as an empty list."""
    known = values.is_valid().to_numpy(zero_copy_only=False)
    offsets = np.append(0, np.cumsum(known)).astype(np.int32)
    return pa.ListArray.from_arrays(offsets, values.drop_null())


def sections(parts: Mapping[str, Iterable[str]]) -> str:
    """An explanation: titles with their lines indented. Titles without lines are left out."""
    bodies = {title: "\n".join(f"  {line}" for line in lines) for title, lines in parts.items()}
    return "\n\n".join(f"{title}\n{body}" for title, body in bodies.items() if body)
