"""Turns conditions that know the match so far into slots, updates and code for `slots_kernel`.

A subexpression that reads one place only is a column: it is computed ahead for every row, and once
more for "no such row", and the kernel looks it up at the place. An expression that combines places
or aggregates becomes code. Anything else raises `NotForSlots`; such clauses are searched by
`search`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.expr import tree as ex
from cereus.expr.arrow.evaluate import value_of
from cereus.expr.arrow.vector import Vector, constant
from cereus.expr.types import Kind
from cereus.languages.match_recognize import values
from cereus.languages.match_recognize.binding import LABEL, NUMBER, Bound, Leaf
from cereus.languages.match_recognize.match import codes
from cereus.languages.match_recognize.match.alternatives import Alternatives
from cereus.languages.match_recognize.match.matching import Moves
from cereus.languages.match_recognize.match.needs import Part, names_in, parts
from cereus.languages.match_recognize.match.program import Rounds, RowAutomaton
from cereus.languages.match_recognize.match.rewriting import is_distinct, is_text
from cereus.languages.match_recognize.match.slots.code import Code
from cereus.languages.match_recognize.match.slots.columns import SlotColumns, ranks_of
from cereus.languages.match_recognize.match.slots.groups import SlotGroups
from cereus.languages.match_recognize.match.slots.places import SlotPlaces
from cereus.languages.match_recognize.match.slots.ranks import SlotRanks
from cereus.languages.match_recognize.match.slots.tables import (
    HERE,
    Base,
    Loaded,
    NotForSlots,
    SlotTables,
)
from cereus.languages.match_recognize.match.slots.texts import MOST_PLACES, SlotTexts, text_test
from cereus.languages.match_recognize.match.slots.totals import SlotTotals
from cereus.languages.match_recognize.match.sorting import SortedRows

NO_ROUNDS = Rounds(0, None, False)
"""The rounds of states that are not counted."""


class Lowering:
    """Makes the tables of a clause over its rows, with room for `room` rows (None: for these). A
    match may have `most_rows`, if that is more. With `ways`, the automaton is that of the
    alternatives."""

    def __init__(
        self,
        bound: Bound,
        automaton: RowAutomaton,
        rows: SortedRows,
        room: int | None = None,
        most_rows: int = 0,
        ways: Alternatives | None = None,
    ) -> None:
        self.bound, self.automaton = bound, automaton
        self.variables = bound.clause.variables() if ways is None else ways.variables
        self.code = Code()
        self.columns = SlotColumns(rows, self.variables, room, most_rows, _least_places(bound))
        self.groups = SlotGroups(
            self.variables,
            self.columns.width - 1,
            {} if ways is None else ways.joint,
            lambda column, members: self.columns.masked(column, members, ways),
        )
        self.places = SlotPlaces(
            bound, automaton, self.variables, self.columns, self.groups, self.code
        )
        self.ranks = SlotRanks(self.places)
        self.totals = SlotTotals(self.code, self.columns, self.groups)
        self.texts = SlotTexts(self.code, self.columns, self.groups)

    def tables(self) -> tuple[SlotTables, tuple[Any, Any, Any]]:
        """The tables, and the columns that rows are read from."""
        starts = [0]
        for variable in self.variables:
            self.condition(variable)
            starts.append(len(self.code.operations))
        moves = Moves.of(self.automaton)
        places = {name: place for place, name in enumerate(self.variables)}
        labels = np.array([places[label] for label in self.automaton.labels], np.int32)
        updates = [self.groups.updates[variable] for variable in self.variables]
        live, live_floats = self.groups.liveness(self.automaton)
        rounds = np.array([each is not None for each in self.automaton.rounds], np.uint8)
        if rounds.any():
            # the round of a run is its last slot, which is live where rounds are counted
            self.groups.initial.append(0)
            live = np.column_stack([live[:, : len(self.groups.initial) - 1], rounds])
        tables = SlotTables(
            labels,
            moves.starts,
            moves.moves,
            moves.begin_starts,
            moves.begins,
            moves.last,
            np.array(self.code.constants or [0], np.int64),
            np.array(self.code.real_constants or [0.0], np.float64),
            np.cumsum([0, *map(len, updates)]).astype(np.int32),
            _rows([each for of in updates for each in of]),
            np.array(starts, np.int32),
            _rows(self.code.operations),
            live,
            live_floats,
            np.array(self.groups.initial or [0], np.int64),
            *_counted(self.automaton, moves),
        )
        return tables, self.columns.arrays()

    # ------------------------------------------------------------ conditions

    def condition(self, variable: str) -> None:
        """Write code that leaves the truth of the condition in register 0, without the parts that
        are of the row."""
        conditions = [part for part in parts(self.bound, variable) if not part.of_row]
        self.groups.variable = variable
        self.code.begin()
        truths = [self.load(part.expression, part) for part in conditions]
        if not truths:
            return
        every = truths[0]
        for each in truths[1:]:
            every = self.code.emit(codes.AND, Kind.BOOLEAN, every, each)
        self.code.add(codes.AND, 0, every.register, every.register)

    def load(self, node: ex.Expression, part: Part) -> Loaded:
        """Code for the value of an expression."""
        leaves = [part.leaves[name] for name in sorted(names_in(node))]
        if not leaves:
            return self.code.literal(value_of(node, {}))
        tested = text_test(node, part)
        if tested is not None:
            test, wanted = tested
            truth = self.texts.truth(test, self.bound.clause.members(test.variable))
            return truth if wanted else self.code.emit(codes.NOT, Kind.BOOLEAN, truth)
        bases = {self.places.base(leaf) for leaf in leaves}
        if len(bases) == 1:
            (base,) = bases
            if isinstance(base, Base):
                return self.places.column(node, part, base)
        match node:
            case ex.Attribute((name,)):
                return self.leaf(part.leaves[name])
            case ex.And(operands):
                return self.joined(codes.AND, operands, part)
            case ex.Or(operands):
                return self.joined(codes.OR, operands, part)
            case ex.Not(operand):
                return self.code.emit(codes.NOT, Kind.BOOLEAN, self.load(operand, part))
            case ex.IsNull(operand):
                return self.code.emit(codes.IS_NULL, Kind.BOOLEAN, self.load(operand, part))
            case ex.Comparison(op, left, right):
                mean = self.mean_compared(op, left, right, part)
                return mean or self.code.compared(op, *self.sides(left, right, part))
            case ex.Between(operand, low, high):
                bounds = [(">=", low), ("<=", high)]
                tests = tuple(ex.Comparison(op, operand, b) for op, b in bounds if b is not None)
                return self.joined(codes.AND, tests, part)
            case ex.In(operand, items):
                tests = tuple(ex.Comparison("=", operand, item) for item in items)
                return self.joined(codes.OR, tests, part)
            case ex.Negate(operand):
                return self.load(ex.Arithmetic("-", ex.Literal(0), operand), part)
            case ex.Arithmetic(op, left, right):
                return self.code.calculated(op, self.number(left, part), self.number(right, part))
            case ex.Case(branches, default):
                return self.case(branches, default or ex.Literal(None), part)
            case ex.Call(name, arguments):
                return self.code.called(name, [self.number(each, part) for each in arguments])
        raise NotForSlots

    def case(
        self,
        branches: Sequence[tuple[ex.Expression, ex.Expression]],
        default: ex.Expression,
        part: Part,
    ) -> Loaded:
        whens = [self.load(when, part) for when, _ in branches]
        thens = [self.load(then, part) for _, then in branches]
        return self.code.chosen(whens, [*thens, self.load(default, part)])

    def joined(self, op: int, operands: Sequence[ex.Expression], part: Part) -> Loaded:
        truth = self.load(operands[0], part)
        for each in operands[1:]:
            truth = self.code.emit(op, Kind.BOOLEAN, truth, self.load(each, part))
        return truth

    def mean_compared(
        self, op: str, left: ex.Expression, right: ex.Expression, part: Part
    ) -> Loaded | None:
        """A comparison of a mean of whole numbers with a whole number, as a comparison of the sum
        of the distances from that number with 0. The result is the same, and blocks of rows have
        narrow bounds for a sum; the bounds of a sum and of a count are wide for their quotient."""
        match left, right:
            case ex.Attribute((name,)), ex.Literal(int(level)) if abs(level) < 1 << 31:
                leaf = part.leaves[name]
            case _:
                return None
        if not isinstance(leaf, values.Over) or leaf.function != "avg" or leaf.argument is None:
            return None
        if {LABEL, NUMBER} & names_in(leaf.argument):
            return None
        vector = self.columns.argument(leaf.argument)
        if vector.kind is not Kind.INTEGER:
            return None
        self.columns.refuse_large_sums(self.columns.argument_column(leaf.argument, vector)[0])
        apart = ex.Arithmetic("-", leaf.argument, ex.Literal(level))
        total = self.leaf(replace(leaf, function="sum", argument=apart))
        return self.code.compared(op, total, self.code.literal(constant(0)))

    def sides(self, left: ex.Expression, right: ex.Expression, part: Part) -> tuple[Loaded, Loaded]:
        """The two sides of a comparison. Strings and decimals of two places are compared by their
        ranks. Decimals are compared with doubles as doubles."""
        ranked = self.ranked(left, right, part)
        if ranked is not None:
            return ranked
        exact = [self.is_decimal(side, part) for side in (left, right)]
        loaded = self.number(left, part), self.number(right, part)
        doubles = [one.kind is Kind.FLOAT for one in loaded]
        if any(exact) and exact == doubles:  # decimals and what is no double are compared exactly
            raise NotForSlots
        return loaded

    def is_decimal(self, node: ex.Expression, part: Part) -> bool:
        """Whether the values of an expression are decimals of one place."""
        bases = {self.places.base(part.leaves[name]) for name in names_in(node)}
        if len(bases) != 1:
            return False
        (base,) = bases
        if not isinstance(base, Base):
            return False
        read = [self.columns.data(part.leaves[name], base) for name in names_in(node)]
        if not any(map(_has_decimals, read)):
            return False
        return self.columns.vector(node, part, base).kind is Kind.DECIMAL

    def number(self, node: ex.Expression, part: Part) -> Loaded:
        """A number to compute with: decimals are compared exactly, but computed with as doubles."""
        if self.is_decimal(node, part):
            node = ex.Arithmetic("*", node, ex.Literal(1.0))
        return self.load(node, part)

    def ranked(
        self, left: ex.Expression, right: ex.Expression, part: Part
    ) -> tuple[Loaded, Loaded] | None:
        """Two sides that are strings or decimals, each of one place, as the ranks of their
        values among both."""
        sides = []
        for node in (left, right):
            leaves = [part.leaves[name] for name in sorted(names_in(node))]
            bases = {self.places.base(leaf) for leaf in leaves}
            if len(bases) > 1 or not all(isinstance(base, Base) for base in bases):
                return None
            base = next(iter(bases), HERE)
            assert isinstance(base, Base)
            sides.append(
                (base, self.columns.vector(node, part, base) if leaves else value_of(node, {}))
            )
        kinds = {vector.kind for _, vector in sides}
        if not kinds & {Kind.STRING, Kind.DECIMAL} or kinds & {Kind.NULL, Kind.FLOAT}:
            return None
        self.columns.ranked = True
        ranks = ranks_of([vector for _, vector in sides], self.columns.width)
        loaded = []
        for (base, _), vector in zip(sides, ranks, strict=True):
            number, kind = self.columns.add(vector)
            loaded.append(self.places.at(number, base, kind))
        return loaded[0], loaded[1]

    def leaf(self, leaf: Leaf) -> Loaded:
        if isinstance(leaf, values.Number):
            to = self.code.register()
            self.code.add(codes.MATCH_NUMBER, to, 0, 0)
            return Loaded(to, Kind.INTEGER)
        assert isinstance(leaf, values.Over)
        members = self.bound.clause.members(leaf.variable)
        if leaf.argument is None:
            return self.totals.counted(leaf, members)
        if NUMBER in names_in(leaf.argument):
            raise NotForSlots
        if leaf.function == "percentile":
            return self.ranks.percentile(leaf, leaf.argument, members)
        if is_distinct(leaf):
            return self.ranks.distinct(leaf.argument, members)
        return self.totals.aggregated(leaf, leaf.argument, members)


def _least_places(bound: Bound) -> int:
    """The room that columns need for values that are looked up by places."""
    every = (part for name in bound.define for part in parts(bound, name))
    texts = any(is_text(leaf) for part in every for leaf in part.leaves.values())
    return MOST_PLACES if texts else 0


def _counted(
    automaton: RowAutomaton, moves: Moves
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """The least and the most rounds of each state, and the number of the move that is another."""
    counted = [each or NO_ROUNDS for each in automaton.rounds]
    again = [
        -1 if each is None else int(moves.starts[q]) + automaton.again(q)
        for q, each in enumerate(automaton.rounds)
    ]
    return (
        np.array([each.low for each in counted], np.int64),
        np.array([each.high or 0 for each in counted], np.int64),
        np.array(again, np.int32),
    )


def _rows(rows: Sequence[tuple[int, int, int, int]]) -> npt.NDArray[np.int32]:
    return np.array(list(rows) or [(0, 0, 0, 0)], np.int32)


def _has_decimals(data: pa.Array | Vector) -> bool:
    return data.kind is Kind.DECIMAL if isinstance(data, Vector) else pa.types.is_decimal(data.type)
