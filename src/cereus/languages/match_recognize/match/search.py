"""The last way to match, for conditions that neither letters nor slots can hold.

Runs are tried one after another in order of preference, and every condition is computed for its run
alone. A run that comes to a state at a row with the same memory as an earlier one is not tried
again: later conditions read the same from it, and the earlier one led to no match. Where memories
always differ this takes long: it stops at a limit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from cereus.engine.interrupts import look_up
from cereus.errors import LimitError
from cereus.expr.arrow import operators
from cereus.languages.match_recognize.match import codes
from cereus.languages.match_recognize.match.matching import (
    RowMatches,
    Skipping,
    refuse_skip,
)
from cereus.languages.match_recognize.match.needs import Part, parts
from cereus.languages.match_recognize.match.program import DONE
from cereus.languages.match_recognize.match.run_values import RunValues, TriedRun
from cereus.languages.match_recognize.match.searched import RunStreams, Searched
from cereus.limits import Limits

PENDING = "pending"
LOOK_EVERY = 1 << 10
"""Check for interrupts after this many rows of tried runs, or evaluated conditions: about as much
work as the compiled kernels do in between."""
AT_ONCE = 128
"""The number of matches that are searched for at once."""


class Searcher:
    """Tries the runs of one clause over its rows."""

    def __init__(self, searched: Searched, limits: Limits) -> None:
        clause, automaton = searched.bound.clause, searched.automaton
        self.searched, self.automaton, self.limits = searched, automaton, limits
        self.letters, self.alive = searched.letters.numbers, searched.readable
        self.times, self.skip = searched.times, searched.skip
        self.values = RunValues(clause, searched.rows)
        self.tried = self.earlier = self.read = self.kept = 0
        self.waiting: list[int] = []
        self._parts: dict[str, list[Part]] = {
            variable: [part for part in parts(searched.bound, variable) if not part.of_row]
            for variable in clause.variables()
        }
        conditions = [part for of in self._parts.values() for part in of]
        self._leaves = list(
            dict.fromkeys(leaf for part in conditions for leaf in part.leaves.values())
        )

    def find(self, streams: RunStreams) -> Iterator[RowMatches]:
        """The matches of all partitions, some at a time: the reader may soon have seen enough."""
        every = (
            match for part in range(len(streams.lows)) for match in self.partition(streams, part)
        )
        yield self._row_matches(list(islice(every, AT_ONCE)))
        while matches := list(islice(every, AT_ONCE)):
            yield self._row_matches(matches)

    def _row_matches(self, matches: Sequence[tuple[int, list[int], bool]]) -> RowMatches:
        return RowMatches(
            np.array([start for start, _, _ in matches], np.int64),
            np.array([start + len(path) for start, path, _ in matches], np.int64),
            np.array([state for _, path, _ in matches for state in path], np.int16),
            np.array([late for _, _, late in matches], np.bool_)
            if self.searched.timeouts
            else None,
        )

    def partition(self, streams: RunStreams, part: int) -> Iterator[tuple[int, list[int], bool]]:
        """The matches of one partition, and whether each timed out; its place in `streams` is
        updated."""
        while streams.resume[part] < streams.highs[part]:
            row = int(streams.resume[part])
            path = self.attempt(streams, part, row)
            if path == PENDING:
                return
            if path is None:
                streams.resume[part] = row + 1
                again = self.skip.kind == codes.NEXT_ROW
                if self.waiting and (again or row >= streams.reported[part]):
                    streams.reported[part] = row + len(self.waiting)
                    yield row, self.waiting, True
                continue
            assert isinstance(path, list)
            streams.numbers[part] += 1
            streams.resume[part] = _skipped(self.skip, row, path)
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
            run = TriedRun([self.automaton.labels[each] for each in path], start, number)
            if not self.holds(run):
                continue
            memory = (depth, state, rounds, self.memory(run))
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
        if self.searched.timeouts and not self.waiting:
            self.waiting = list(path)

    def late(self, start: int, row: int) -> bool:
        if self.times is None:
            return False
        return int(self.times[row]) - int(self.times[start]) >= self.searched.length

    def over(self, streams: RunStreams, part: int, start: int) -> bool:
        """Whether no later row can be in the window of a start."""
        if self.times is None or streams.horizon - int(self.times[start]) < self.searched.length:
            return False
        high = int(streams.highs[part])
        return high == streams.tails[part] or self.late(start, high)

    # ------------------------------------------------------------ conditions

    def holds(self, run: TriedRun) -> bool:
        """Whether the conditions on the last row of a run hold."""
        self.tried += 1
        self.read += max(len(run.labels), len(self._parts[run.labels[-1]]))
        if self.read >= LOOK_EVERY:
            self.read = 0
            look_up()
        self._check_tries("configurations", self.tried, self.limits.configurations)
        self._check_tries("steps_per_event", self.tried - self.earlier, self.limits.steps_per_event)
        return all(
            bool(operators.truth(self.values.value(part, run)).values)
            for part in self._parts[run.labels[-1]]
        )

    def _check_tries(self, limit: str, tries: int, most: int | None) -> None:
        if most is not None and tries > most:
            raise LimitError(
                f"more than {most:,} runs were tried (limit {limit})",
                hint="aggregate columns in DEFINE, not CLASSIFIER(), or raise the limit: "
                f"Limits({limit}=…)",
            )

    def memory(self, run: TriedRun) -> str:
        """The part of a run that conditions on later rows can read."""
        return repr([self.values.remembered(leaf, run) for leaf in self._leaves])


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
