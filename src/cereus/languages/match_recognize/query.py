"""A compiled clause: how it is checked, run and explained."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.engine.executor import Executor
from cereus.engine.ingest.where import EventFilter
from cereus.engine.parallel.split import Split
from cereus.expr.tree import conjuncts
from cereus.language.anatomy import Anatomy
from cereus.language.compiled import EventwiseQuery, as_lists
from cereus.language.kept import kept
from cereus.languages.match_recognize import tree
from cereus.languages.match_recognize.binding import Bound, bound
from cereus.languages.match_recognize.explaining.anatomy import (
    EVERY,
    POSITIONS,
    anatomy,
    showing_last_row,
)
from cereus.languages.match_recognize.explaining.costs import SEARCHED, cost_warnings, is_searched
from cereus.languages.match_recognize.explaining.diagram import dot
from cereus.languages.match_recognize.explaining.explanation import explanation
from cereus.languages.match_recognize.explaining.words import words
from cereus.languages.match_recognize.match.finding import Path, path_of
from cereus.languages.match_recognize.match.needs import arguments_of, names_in
from cereus.languages.match_recognize.match.program import DONE, RowAutomaton, automaton
from cereus.languages.match_recognize.match.sorting import plain_type
from cereus.languages.match_recognize.match.times import length
from cereus.languages.match_recognize.print import to_text
from cereus.languages.match_recognize.run.executor import VERSION, RecognizingExecutor
from cereus.languages.match_recognize.tree import Clause
from cereus.limits import Limits
from cereus.plan.tests import EventTest
from cereus.state.digest import digest_of
from cereus.stream import Stream

MOST_SCHEMAS = 8
"""A clause keeps its bound form for this many schemas."""


class MatchRecognizeQuery(EventwiseQuery):
    """A clause, and what was made of it for the schemas it has met."""

    dialect = "match_recognize"
    tree: Clause

    def __init__(
        self, clause: Clause, stream: Stream, limits: Limits, text: str | None = None
    ) -> None:
        super().__init__(clause, _timed(stream, clause), limits, text)
        self._bounds: dict[pa.Schema, Bound] = {}

    def to_text(self) -> str:
        return to_text(self.tree)

    @cached_property
    def automaton(self) -> RowAutomaton:
        return automaton(self.tree.pattern)

    @property
    def keys(self) -> tuple[tuple[str, ...], ...]:
        return self.tree.partition

    @property
    def emits_late(self) -> bool:
        return True

    @property
    def returned(self) -> tuple[str, ...]:
        names = tuple(measure.name for measure in self.tree.measures)
        return (*names, *tree.TIMEOUTS) if self.tree.timeouts else names

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables whose rows a result has: only the form that `anatomy` makes has any."""
        return self.returned[1:] if self._shows_rows else ()

    @property
    def _shows_rows(self) -> bool:
        return any(each.name == EVERY for each in self.tree.subsets)

    @property
    def result_columns(self) -> tuple[str, ...]:
        return self.returned

    @property
    def may_be_empty(self) -> bool:
        """A match may have no row at all."""
        return any(DONE in moves for moves in self.automaton.begin)

    @property
    def has_several_rows(self) -> bool:
        return self.tree.rows is not tree.Rows.ONE

    @property
    def counts_events(self) -> bool:
        return True  # a row that satisfies no condition still ends a match

    @property
    def row_columns(self) -> dict[str, str]:
        return {}

    @property
    def rows_hint(self) -> str | None:
        return "write ALL ROWS PER MATCH for the rows of the matches"

    @cached_property
    def fingerprint(self) -> str:
        where = filter(None, [self.stream.where])
        return digest_of(repr((VERSION, self.tree, self.stream.unit, *where)))

    # ------------------------------------------------------------ checking

    def check(self, schema: pa.Schema | None) -> None:
        _ = self.automaton
        if schema is not None:
            self.path(self._checked(schema))

    def _checked(self, schema: pa.Schema) -> Bound:
        """The clause over a table, if its window can be measured there."""
        over = self.bound(schema)
        if self.tree.within is not None:
            length(over, self.stream.unit)
        return over

    def bound(self, schema: pa.Schema) -> Bound:
        if schema not in self._bounds:
            if len(self._bounds) > MOST_SCHEMAS:
                self._bounds.clear()
            self._bounds[schema] = bound(self.tree, schema)
        return self._bounds[schema]

    def path(self, over: Bound) -> Path:
        return path_of(over, self.automaton)

    def tests(self, schema: pa.Schema | None = None) -> tuple[EventTest, ...]:
        return ()

    most_parts = 300  # all conditions on single rows are evaluated together

    def part_count(self, schema: pa.Schema | None = None) -> int:
        variables = sum(isinstance(part, tree.Variable) for part in self.tree.pattern.walk())
        return variables + sum(len(conjuncts(each.condition)) for each in self.tree.define)

    @kept
    def columns(self, schema: pa.Schema) -> frozenset[tuple[str, ...]]:
        over = self.bound(schema)
        if self.tree.rows is not tree.Rows.ONE:
            return frozenset((name,) for name in schema.names)
        formulas = [*over.define.values(), *(formula for _, formula in over.measures)]
        read = {*over.partition, *(order.path[0] for order in over.order)}
        for formula in formulas:
            for leaf in formula.leaves:
                for argument in arguments_of(leaf):
                    read |= names_in(argument)
        read |= {path[0] for path in self.stream.where_columns}
        return frozenset((name,) for name in read if name in schema.names)

    def split(self, schema: pa.Schema | None = None) -> Split:
        if not self.tree.partition:
            return Split(ahead=False, why_not="without PARTITION BY all rows are one partition")
        return Split(pieces="partitions", ahead=False)

    def executor(
        self,
        schema: pa.Schema,
        *,
        keep: tuple[str, ...] = (),
        row_numbers: npt.NDArray[np.int64] | None = None,
    ) -> Executor:
        over, path = self._over(schema)
        return RecognizingExecutor(
            over,
            self.automaton,
            path,
            self.limits,
            fingerprint=self.fingerprint,
            unit=self.stream.unit,
            where=EventFilter(self.stream, schema),
        )

    @kept
    def _over(self, schema: pa.Schema) -> tuple[Bound, Path]:
        """The clause bound to the columns that it reads, and the way to match it."""
        over = self._checked(pa.schema([f.with_type(plain_type(f.type)) for f in schema]))
        needed = {path[0] for path in self.columns(schema)}
        fields = [field for field in over.schema if field.name in needed] or [over.schema.field(0)]
        over = replace(over, schema=pa.schema(fields))
        return over, self.path(over)

    def __getstate__(self) -> dict[str, Any]:
        """The state without the automaton and all that belongs to a schema; they are made again
        when needed."""
        state = {n: value for n, value in super().__getstate__().items() if n != "automaton"}
        return {**state, "_bounds": {}}

    # ------------------------------------------------------------ explaining

    @property
    def warnings(self) -> list[str]:
        if not any(DONE in moves or moves for moves in self.automaton.begin):
            return ["the pattern can never match"]
        searched = [SEARCHED] if self._is_searched else []
        return [*searched, *cost_warnings(self.tree)]

    @property
    def _is_searched(self) -> bool:
        """Whether runs are tried in Python. The answer is exact once the columns are known."""
        if self._bounds:
            return any(self.path(over) is Path.SEARCH for over in self._bounds.values())
        return is_searched(self.tree, self.automaton)

    @property
    def live_warnings(self) -> list[str]:
        warnings = []
        clause = self.tree
        loops = any(
            isinstance(n, tree.Quantified) and n.high is None for n in clause.pattern.walk()
        )
        if loops and clause.within is None:
            warnings.append(
                "live, a match may go on without end, and its rows are kept: WITHIN bounds that"
            )
        if clause.partition and tree.remembers_keys(clause):
            warnings.append(
                "live, something is kept of every key that ever came, because PREV, MATCH_NUMBER() "
                "or ^ ask for what came before: state grows with the number of keys"
            )
        if any(isinstance(node, tree.PartitionEnd) for node in clause.pattern.walk()):
            warnings.append("live, $ waits for the end of the stream")
        return warnings

    def explain(self, schema: pa.Schema | None = None) -> str:
        self.check(schema)
        return explanation(self, schema)

    def of(self, clause: Clause) -> MatchRecognizeQuery:
        """A copy with another clause."""
        return MatchRecognizeQuery(clause, self.stream, self.limits)

    def unkeyed(self) -> MatchRecognizeQuery:
        return self.of(replace(self.tree, partition=(), text=None))

    def words(self) -> str:
        return words(self.tree)

    @kept
    def anatomy(self, schema: pa.Schema | None = None) -> Anatomy:
        return anatomy(self, schema)

    def event_rows(self, results: pa.RecordBatch) -> pa.Array:
        """The rows in the measure that `anatomy` adds, if there is one."""
        if not self._shows_rows:
            return super().event_rows(results)
        rows = results.column(POSITIONS)
        return rows if pa.types.is_list(rows.type) else as_lists(rows)

    @kept
    def ending(self, column: str | None = None) -> MatchRecognizeQuery:
        return self.of(showing_last_row(self.tree, column)) if self._shows_rows else self

    def diagram(self) -> str:
        return dot(self.tree, self.automaton)


def _timed(stream: Stream, clause: tree.Clause) -> Stream:
    """The first column of ORDER BY is the time, unless the stream names another."""
    if stream.time is not None or not clause.order:
        return stream
    return replace(stream, time=clause.order[0].path[0])
