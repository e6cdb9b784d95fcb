"""A compiled query of the event algebra: an expression and its bounds."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.engine.executor import Executor
from cereus.engine.ingest.clock import in_units_of
from cereus.errors import DataError, RefusedError
from cereus.language.anatomy import Anatomy
from cereus.language.compiled import EventwiseQuery
from cereus.language.kept import kept
from cereus.languages.algebra import tree as algebra
from cereus.languages.algebra.bounds import Bounds, bounds
from cereus.languages.algebra.detect.program import DetectorProgram, build
from cereus.languages.algebra.executor import DetectingExecutor
from cereus.languages.algebra.explaining.anatomy import anatomy
from cereus.languages.algebra.explaining.explanation import explanation
from cereus.languages.algebra.explaining.show import detection_dot
from cereus.languages.algebra.explaining.words import words
from cereus.languages.algebra.optimise import Optimised
from cereus.limits import Limits
from cereus.plan.atoms import event_test
from cereus.plan.tests import EventTest
from cereus.state.digest import digest_of
from cereus.stream import Stream
from cereus.syntax.tree import rebuild


class AlgebraQuery(EventwiseQuery):
    """An expression as it was written, and the one that is detected in its place."""

    dialect = "algebra"
    tree: algebra.EventExpression

    def __init__(
        self,
        tree: algebra.EventExpression,
        stream: Stream,
        limits: Limits,
        text: str | None = None,
        optimised: Optimised | None = None,
        *,
        values: bool = False,
        merge_ties: bool = False,
    ) -> None:
        super().__init__(tree, stream, limits, text)
        self.optimised, self.values, self.merge_ties = optimised, values, merge_ties

    def to_text(self) -> str:
        return str(self.tree)

    @property
    def expression(self) -> algebra.EventExpression:
        return self.tree if self.optimised is None else self.optimised.after

    @cached_property
    def bounds(self) -> Bounds:
        """The greatest cost of detection, for each key."""
        return bounds(self.expression, values=self.values)

    @property
    def fingerprint(self) -> str:
        options = (self.values, self.merge_ties)
        return digest_of(repr((DetectingExecutor.version, self.expression, self.stream, options)))

    @kept
    def program(self, schema: pa.Schema) -> DetectorProgram:
        """The program for times of the kind that this schema has."""
        return build(self._in_ticks(self.expression, schema), values=self.values)

    def _in_ticks(
        self, node: algebra.EventExpression, schema: pa.Schema
    ) -> algebra.EventExpression:
        """The expression with every duration in units of the time column."""
        node = rebuild(node, lambda child: self._in_ticks(child, schema))
        if not isinstance(node, algebra.TemporalRestriction) or isinstance(node.tau, int):
            return node
        kind = schema.field(self.stream.time).type
        length = in_units_of(kind, algebra.tau_length(node.tau), self.stream)
        return replace(node, tau=int(length))

    @kept
    def tests(self, schema: pa.Schema | None = None) -> tuple[EventTest, ...]:
        """The primitives, in the order of the program's bits."""
        return tuple(
            event_test(
                None if each.name == algebra.ANY_TYPE else each.name,
                each.condition,
                schema,
                self._text,
            )
            for each in algebra.primitives(self.expression)
        )

    @property
    def warnings(self) -> list[str]:
        if isinstance(self.expression, algebra.Empty):
            return ["the expression can never occur"]
        return []

    @property
    def counts_events(self) -> bool:
        return self.stream.time is None

    def executor(
        self,
        schema: pa.Schema,
        *,
        keep: tuple[str, ...] = (),
        row_numbers: npt.NDArray[np.int64] | None = None,
    ) -> Executor:
        self.check(schema)
        return DetectingExecutor(
            self.program(schema),
            self.tests(schema),
            self.stream,
            schema,
            fingerprint=self.fingerprint,
            merge_ties=self.merge_ties,
            keep=keep,
            row_numbers=row_numbers,
        )

    @property
    def row_columns(self) -> dict[str, str]:
        return {"constituents": "events"}

    @property
    def rows_hint(self) -> str:
        return "say values=True"

    def diagram(self) -> str:
        return detection_dot(self)

    def of(self, expression: algebra.EventExpression) -> AlgebraQuery:
        """The query of another expression, as it is written, with the rows of the constituents."""
        return AlgebraQuery(
            expression, self.stream, self.limits, values=True, merge_ties=self.merge_ties
        )

    def unkeyed(self) -> AlgebraQuery:
        stream = replace(self.stream, keys=())
        return AlgebraQuery(self.tree, stream, self.limits, values=True, merge_ties=self.merge_ties)

    def words(self) -> str:
        return words(self.tree, self.keys)

    @kept
    def anatomy(self, schema: pa.Schema | None = None) -> Anatomy:
        return anatomy(self, schema)

    # ------------------------------------------------------------ checking

    def check(self, schema: pa.Schema | None) -> None:
        super().check(schema)
        if schema is not None:
            for each in algebra.primitives(self.tree):  # also those that were optimised away
                event_test(each.name, each.condition, schema, self._text)
        self._check_time(schema)

    @property
    def result_columns(self) -> tuple[str, ...]:
        return ("start", "end", *(("constituents",) if self.values else ()))

    def _check_time(self, schema: pa.Schema | None) -> None:
        """Refuse times that do not fit: ticks need integers, durations need a time column."""
        restrictions = [
            n for n in self.tree.postorder() if isinstance(n, algebra.TemporalRestriction)
        ]
        in_durations = any(isinstance(node.tau, timedelta) for node in restrictions)
        if self.stream.time is None:
            if in_durations:
                raise self._refused(
                    restrictions[0],
                    "a restriction to a length of time needs a time column",
                    'say which one it is: Stream(time="…"), or count events: _2',
                )
            return
        kind = None if schema is None else schema.field(self.stream.time).type
        if kind is None or pa.types.is_null(kind):  # a file with only a header
            return
        if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
            raise DataError(
                f"the time column {self.stream.time!r} has the type {kind}, and the event algebra "
                "needs times that are counted: whole numbers, timestamps or dates",
                hint="cast it first",
            )
        if in_durations and pa.types.is_integer(kind) and self.stream.unit is None:
            raise self._refused(
                restrictions[0],
                f"the time column {self.stream.time!r} holds plain numbers: seconds or ticks?",
                f'say Stream(time="{self.stream.time}", unit="s"), or write ticks: _2',
            )
        if restrictions and not in_durations and not pa.types.is_integer(kind):
            raise self._refused(
                restrictions[0],
                f"the time column {self.stream.time!r} has the type {kind}, which has no ticks",
                "write a duration: _5s, _{1 hour 30 minutes}",
            )

    def _refused(self, node: algebra.EventExpression, message: str, hint: str) -> RefusedError:
        return RefusedError(message, text=self._text, span=node.span, hint=hint)

    def explain(self, schema: pa.Schema | None = None) -> str:
        self.check(schema)
        return explanation(self, schema)
