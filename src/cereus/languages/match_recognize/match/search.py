"""The last way to match, for conditions that neither letters nor slots can hold.

Runs are tried one after another in order of preference, and every condition is computed for its run
alone. A run that comes to a state at a row with the same memory as an earlier one is not tried
again: later conditions read the same from it, and the earlier one led to no match. Where memories
always differ this takes long: it stops at a limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from cereus.engine.interrupts import look_up
from cereus.errors import LimitError
from cereus.expr import tree as ex
from cereus.expr.arrow import operators
from cereus.expr.arrow.evaluate import value_of
from cereus.expr.arrow.vector import Vector, event_value, to_arrow
from cereus.expr.python.aggregates import percentile
from cereus.expr.python.arithmetic import fits
from cereus.languages.match_recognize import values
from cereus.languages.match_recognize.binding import LABEL, NUMBER, Bound, Leaf
from cereus.languages.match_recognize.lists import COLLECTED, collected, taken
from cereus.languages.match_recognize.match import codes
from cereus.languages.match_recognize.match.letters import RowColumns, RowLetters
from cereus.languages.match_recognize.match.matching import (
    Ints,
    RowMatches,
    Skipping,
    readable,
    refuse_skip,
)
from cereus.languages.match_recognize.match.needs import Part, names_in, parts
from cereus.languages.match_recognize.match.program import DONE, RowAutomaton
from cereus.languages.match_recognize.match.runs.find import RunStreams
from cereus.languages.match_recognize.match.sorting import SortedRows, one_array
from cereus.limits import Limits

PENDING = "pending"
LOOK_EVERY = 1 << 10
"""Check for interrupts after this many rows of tried runs, or evaluated conditions: about as much
work as the compiled kernels do in between."""
AT_ONCE = 128
"""The number of matches that are searched for at once."""
DECIDING = frozenset(("count", "count_if", "min", "max", "bool_and", "bool_or", "arbitrary"))
"""Aggregates whose later values follow from their value so far and the later rows."""


class Searcher:
    """Tries the runs of one clause over its rows."""

    def __init__(
        self,
        bound: Bound,
        automaton: RowAutomaton,
        rows: SortedRows,
        letters: RowLetters,
        masks: list[int],
        times: Ints | None,
        length: int,
        limits: Limits,
    ) -> None:
        self.bound, self.automaton, self.rows = bound, automaton, rows
        self.columns = RowColumns(rows)
        self.letters, self.alive = letters.numbers, readable(masks, len(automaton))
        self.times, self.length, self.limits = times, length, limits
        self.tried = self.earlier = self.read = self.kept = 0
        within = bound.clause.within
        self.timeouts = within is not None and within.timeouts
        self.waiting: list[int] = []
        self._cells: dict[ex.Expression, list[Any]] = {}
        self._parts: dict[str, list[Part]] = {
            variable: [part for part in parts(bound, variable) if not part.of_row]
            for variable in bound.clause.variables()
        }

        conditions = [part for of in self._parts.values() for part in of]
        self._leaves = list(
            dict.fromkeys(leaf for part in conditions for leaf in part.leaves.values())
        )

    def find(self, streams: RunStreams, skip: Skipping) -> Iterator[RowMatches]:
        """The matches of all partitions, some at a time: the reader may soon have seen enough."""
        every = (
            match
            for part in range(len(streams.lows))
            for match in self.partition(streams, part, skip)
        )
        yield self._row_matches(list(islice(every, AT_ONCE)))
        while matches := list(islice(every, AT_ONCE)):
            yield self._row_matches(matches)

    def _row_matches(self, matches: Sequence[tuple[int, list[int], bool]]) -> RowMatches:
        return RowMatches(
            np.array([start for start, _, _ in matches], np.int64),
            np.array([start + len(path) for start, path, _ in matches], np.int64),
            np.array([state for _, path, _ in matches for state in path], np.int16),
            np.array([late for _, _, late in matches], np.bool_) if self.timeouts else None,
        )

    def partition(
        self, streams: RunStreams, part: int, skip: Skipping
    ) -> Iterator[tuple[int, list[int], bool]]:
        """The matches of one partition, and whether each timed out; its place in `streams` is
        updated."""
        while streams.resume[part] < streams.highs[part]:
            row = int(streams.resume[part])
            path = self.attempt(streams, part, row)
            if path == PENDING:
                return
            if path is None:
                streams.resume[part] = row + 1
                if self.waiting and (row >= streams.reported[part] or skip.kind == codes.NEXT_ROW):
                    streams.reported[part] = row + len(self.waiting)
                    yield row, self.waiting, True
                continue
            assert isinstance(path, list)
            streams.numbers[part] += 1
            streams.resume[part] = _skipped(skip, row, path)
            yield row, path, False

    def attempt(self, streams: RunStreams, part: int, start: int) -> list[int] | str | None:
        """The states of the preferred match at a row. PENDING if later rows decide."""
        high = int(streams.highs[part])
        first = start == streams.lows[part] and not streams.begun[part]
        number = int(streams.numbers[part]) + 1
        path: list[int] = []
        tried: set[tuple[int, int, int, str]] = set()
        self.earlier = self.tried
        self.waiting = []
        pending = [(0, move, 1) for move in reversed(self.automaton.begin[int(first)])]
        while pending:
            depth, state, rounds = pending.pop()
            del path[depth:]
            if state == DONE:
                return path
            row = start + depth
            if row == high:
                if streams.ends_open and not self.over(streams, part, start):
                    return PENDING
                self.wait(path)
                continue
            if self.late(start, row):
                self.wait(path)
                continue
            if not self.alive[self.letters[row], state]:
                continue
            path.append(state)
            if not self.holds(path, start, number):
                continue
            memory = (depth, state, rounds, self.memory(path, start, number))
            if memory in tried:
                continue
            tried.add(memory)
            self.kept += 1
            at_end = row == high - 1
            moves = self.moves(state, rounds)
            ends = self.automaton.ends[state] and self.may_leave(state, rounds)
            if at_end and not streams.ends_open:
                if ends:
                    return path
                if moves:
                    self.wait(path)
                continue
            if at_end and ends and all(move != DONE for move, _ in moves):
                return PENDING
            pending += [(depth + 1, *move) for move in reversed(moves)]
        return None

    def moves(self, state: int, rounds: int) -> list[tuple[int, int]]:
        """What may follow a round of a state, and which round that is."""
        moves, counted = self.automaton.moves[state], self.automaton.rounds[state]
        if counted is None:
            return [(move, 1) for move in moves]
        again = self.automaton.again(state)
        return [
            (move, counted.next(rounds) if at == again else 1)
            for at, move in enumerate(moves)
            if counted.may_follow(rounds, again=at == again)
        ]

    def may_leave(self, state: int, rounds: int) -> bool:
        counted = self.automaton.rounds[state]
        return counted is None or counted.may_follow(rounds, again=False)

    def wait(self, path: list[int]) -> None:
        """Remember a run that waits for a row when its window ends, if it is the most preferred
        one."""
        if self.timeouts and not self.waiting:
            self.waiting = list(path)

    def late(self, start: int, row: int) -> bool:
        if self.times is None:
            return False
        return int(self.times[row]) - int(self.times[start]) >= self.length

    def over(self, streams: RunStreams, part: int, start: int) -> bool:
        """Whether no later row can be in the window of a start."""
        if self.times is None or streams.horizon - int(self.times[start]) < self.length:
            return False
        high = int(streams.highs[part])
        return high == streams.tails[part] or self.late(start, high)

    # ------------------------------------------------------------ conditions

    def holds(self, path: list[int], start: int, number: int) -> bool:
        self.tried += 1
        self.read += max(len(path), len(self._parts[self.automaton.labels[path[-1]]]))
        if self.read >= LOOK_EVERY:
            self.read = 0
            look_up()
        self._check_tries("configurations", self.tried, self.limits.configurations)
        self._check_tries("steps_per_event", self.tried - self.earlier, self.limits.steps_per_event)
        labels = [self.automaton.labels[state] for state in path]
        return all(
            bool(operators.truth(self.value(part, labels, start, number)).values)
            for part in self._parts[labels[-1]]
        )

    def _check_tries(self, limit: str, tries: int, most: int | None) -> None:
        if most is not None and tries > most:
            raise LimitError(
                f"more than {most:,} runs were tried (limit {limit})",
                hint="aggregate columns in DEFINE, not CLASSIFIER(), or raise the limit: "
                f"Limits({limit}=…)",
            )

    def memory(self, path: list[int], start: int, number: int) -> str:
        """The part of a run that conditions on later rows can read."""
        labels = [self.automaton.labels[state] for state in path]
        return repr([self.remembered(leaf, labels, start, number) for leaf in self._leaves])

    def remembered(self, leaf: Leaf, labels: list[str], start: int, number: int) -> Any:
        """What a leaf reads from a run, now and later: two runs that agree in it always agree if
        the same rows follow."""
        if isinstance(leaf, values.Number):
            return None
        if isinstance(leaf, values.Over):
            if leaf.function in DECIDING or leaf.argument is None:
                return self.leaf(leaf, labels, start, number)
            rows = self.rows_of(leaf.variable, labels, start)
            cells = [
                [self.cell(each, row, labels, start, number) for row in rows]
                for each in leaf.arguments
            ]
            if leaf.function in ("sum", "avg"):
                known = [each for each in cells[0] if each is not None]
                return sum(known), len(known)
            return cells
        place = leaf.place
        if LABEL in names_in(leaf.argument):
            if place.variable is not None or place.first:
                return tuple(labels)
            return tuple(labels[-1 - place.offset - abs(place.shift) :])
        rows = self.rows_of(place.variable, labels, start)
        return rows[: place.offset + 1] if place.first else rows[-1 - place.offset :]

    def rows_of(self, variable: str | None, labels: list[str], start: int) -> list[int]:
        members = self.bound.clause.members(variable)
        return [start + at for at, label in enumerate(labels) if label in members]

    def value(self, part: Part, labels: list[str], start: int, number: int) -> Vector:
        columns: dict[ex.Attribute, Any] = {
            ex.Attribute((name,)): event_value(_compared(self.leaf(leaf, labels, start, number)))
            for name, leaf in part.leaves.items()
        }
        return value_of(part.expression, columns)

    def leaf(self, leaf: Leaf, labels: list[str], start: int, number: int) -> Any:
        if isinstance(leaf, values.Number):
            return number
        variable = leaf.variable if isinstance(leaf, values.Over) else leaf.place.variable
        rows = self.rows_of(variable, labels, start)

        def at(row: int) -> Any:
            assert not isinstance(leaf, values.Number) and leaf.argument is not None
            return self.cell(leaf.argument, row, labels, start, number)

        if isinstance(leaf, values.Over):
            more = [
                [self.cell(each, row, labels, start, number) for row in rows] for each in leaf.more
            ]
            return _aggregate(leaf, [at(row) for row in rows] if leaf.argument else rows, more)
        place = leaf.place
        if place.offset >= len(rows):
            return None
        row = rows[place.offset if place.first else -1 - place.offset] + place.shift
        part = int(np.searchsorted(self.rows.bounds, start, side="right")) - 1
        return at(row) if self.rows.bounds[part] <= row < self.rows.bounds[part + 1] else None

    def cell(
        self, argument: ex.Expression, row: int, labels: list[str], start: int, number: int
    ) -> Any:
        """The value of an expression of one row at a row."""
        if not {LABEL, NUMBER} & names_in(argument):
            return self.column_cells(argument)[row]
        inside = 0 <= row - start < len(labels)
        special = {LABEL: labels[row - start] if inside else None, NUMBER: number}
        columns: dict[ex.Attribute, Any] = {}
        for node in argument.walk():
            if isinstance(node, ex.Attribute):
                name = node.path[0]
                value = special[name] if name in special else self.column_cells(node)[row]
                columns[node] = event_value(value)
        result = to_arrow(value_of(argument, columns), 1)
        return result.as_py() if hasattr(result, "as_py") else result[0].as_py()

    def column_cells(self, argument: ex.Expression) -> list[Any]:
        if argument not in self._cells:
            data = self.columns.argument(argument)
            if isinstance(data, Vector):
                column = to_arrow(data, len(self.rows))
                constants = hasattr(column, "as_py")
                cells = [column.as_py()] * len(self.rows) if constants else column.to_pylist()
            else:
                cells = one_array(data).to_pylist()
            self._cells[argument] = cells
        return self._cells[argument]


def _compared(value: Any) -> Any:
    """A value for comparison. Conditions only test whether lists and maps are null."""
    return True if isinstance(value, list | dict) else value


def _skipped(skip: Skipping, start: int, path: list[int]) -> int:
    if not path or skip.kind == codes.NEXT_ROW:
        return start + 1
    if skip.kind == codes.PAST_LAST_ROW:
        return start + len(path)
    places = [at for at, state in enumerate(path) if skip.targets[state]]
    if not places:
        refuse_skip(codes.NOT_MAPPED, skip.variable)
    place = places[0 if skip.kind == codes.TO_FIRST else -1]
    if place == 0:
        refuse_skip(codes.FIRST_ROW, skip.variable)
    return start + place


def _sum(numbers: list[Any]) -> Any:
    """The sum; NULL for integers if it does not fit 64 bits, as everywhere."""
    total = sum(numbers)
    return total if not isinstance(total, int) or fits(total) else None


def _aggregate(over: values.Over, cells: list[Any], more: list[list[Any]]) -> Any:
    """An aggregate of the rows' values; `more` are the values of its further arguments."""
    if over.argument is None:
        return len(cells)
    if over.function in COLLECTED:
        return _taken(over, [cells, *more])
    if over.function in ("max_by", "min_by"):
        return _by(over.function, cells, more[0])
    known = [cell for cell in cells if cell is not None]
    if over.function == "count":
        return len(known)
    if over.function == "count_if":
        return sum(known)
    if not known:
        return None
    numbers = [each for each in known if each == each] or known
    functions: dict[str, Callable[[], Any]] = {
        "sum": lambda: _sum(known),
        "avg": lambda: sum(known) / len(known),
        "min": lambda: min(numbers),
        "max": lambda: max(numbers),
        "bool_and": lambda: all(known),
        "bool_or": lambda: any(known),
        "arbitrary": lambda: known[0],
        "string_agg": lambda: (more[0][0] if more else "").join(known),
        "percentile": lambda: percentile(known, more[0][0]),
        "var_pop": lambda: float(np.var(known)),
        "stddev_pop": lambda: float(np.std(known)),
        "var_samp": lambda: float(np.var(known, ddof=1)) if len(known) > 1 else None,
        "stddev_samp": lambda: float(np.std(known, ddof=1)) if len(known) > 1 else None,
    }
    return functions[over.function]()


def _taken(over: values.Over, columns: list[list[Any]]) -> Any:
    """A list or a map, or what is taken out of it."""
    value = collected(over.function, columns)
    for each in over.then:
        value = taken(each.function, value, each.given)
    return value


def _by(function: str, cells: list[Any], compared: list[Any]) -> Any:
    """The value of the row where another value is greatest or least; of several rows, the first."""
    rows = [row for row, other in enumerate(compared) if other is not None and other == other]
    if not rows:
        return None
    best = max if function == "max_by" else min
    return cells[best(rows, key=compared.__getitem__)]
