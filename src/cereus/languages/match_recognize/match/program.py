"""A pattern as an automaton whose moves are ordered by preference.

A state reads one row as one variable. `moves[q]` lists what may follow it, the preferred first: a
state, or DONE. Rounds of a quantifier are copied; `x+` is its body followed by the fork. No point
of the pattern is passed twice at one row, so that rounds which read nothing end.

Many rounds of one variable, `x{2,1000}`, may be counted instead (`counting`): they are one state,
and what may follow it depends on how many rows it has read.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from itertools import combinations, permutations

from cereus.errors import LimitError
from cereus.languages.match_recognize import tree

DONE = -2
MOST_POINTS = 30_000
"""The most points of a pattern with all rounds copied; states are numbered in 16 bits."""
MOST_STEPS = 2_000_000
"""The most points that are passed between one row and the next, over all rows: many optional parts
in a row may each be followed by all later ones."""
MOST_COPIES = 12
"""Up to this many rounds of a variable are copied where they could be counted."""


@dataclass(frozen=True)
class Rounds:
    """Rows that a state reads one after the other: at least `low`, at most `high` (None: any
    number). Another round is its first move; with `reluctant`, its last one."""

    low: int
    high: int | None
    reluctant: bool

    def next(self, rounds: int) -> int:
        """The number of the next round. Without an upper bound, all rounds after the lower bound
        have one number."""
        return min(rounds, self.low) + 1 if self.high is None else rounds + 1

    def may_follow(self, rounds: int, *, again: bool) -> bool:
        """Whether another round (`again`), or the next part of the pattern, may follow a round."""
        if again:
            return self.high is None or rounds < self.high
        return rounds >= self.low


@dataclass(frozen=True)
class RowAutomaton:
    """The automaton of a row pattern: each state reads one row.

    `labels[q]` is the variable of state q, `excluded[q]` whether it stands inside `{- -}`.
    `begin[0]` lists the first moves at a row inside the partition, `begin[1]` at its first row;
    `moves[q]` those behind a row that is not the last, and `ends[q]` says whether the match may end
    behind the last row of the partition. `rounds[q]` is how often a state is read, if that is
    counted.
    """

    labels: tuple[str, ...]
    excluded: tuple[bool, ...]
    begin: tuple[tuple[int, ...], tuple[int, ...]]
    moves: tuple[tuple[int, ...], ...]
    ends: tuple[bool, ...]
    rounds: tuple[Rounds | None, ...]

    def __len__(self) -> int:
        return len(self.labels)

    def again(self, state: int) -> int:
        """Which move of a counted state is another round."""
        rounds = self.rounds[state]
        assert rounds is not None
        return len(self.moves[state]) - 1 if rounds.reluctant else 0

    def lie_together(self, states: Set[int]) -> bool:
        """Whether the rows of these states are consecutive: a run does not come back to them after
        it has left them."""
        behind = {move for q in states for move in self.moves[q]} - states - {DONE}
        pending = list(behind)
        while pending:
            new = set(self.moves[pending.pop()]) - behind - {DONE}
            behind |= new
            pending += new
        return not behind & states


@dataclass(frozen=True)
class _Row:
    label: str
    excluded: bool
    rounds: Rounds | None = None


@dataclass(frozen=True)
class _Fork:
    targets: tuple[int, ...]


@dataclass(frozen=True)
class _Anchor:
    at_start: bool


_Point = _Row | _Fork | _Anchor


def automaton(pattern: tree.Pattern) -> RowAutomaton:
    """The automaton of a pattern with all rounds copied."""
    return _automaton(_Points(counts=False).built(pattern))


def counting(pattern: tree.Pattern) -> RowAutomaton:
    """The automaton of a pattern in which many rounds of one variable are counted."""
    return _automaton(_Points(counts=True).built(pattern))


def _automaton(points: list[_Point]) -> RowAutomaton:
    rows = [at for at, point in enumerate(points) if isinstance(point, _Row)]
    numbers = {at: q for q, at in enumerate(rows)}
    walk = _Walk(points)

    def moves(at: int, *, first: bool = False, last: bool = False) -> tuple[int, ...]:
        reached = walk.reached(at, first, last)
        return tuple(DONE if each == len(points) else numbers[each] for each in reached)

    def behind(at: int) -> tuple[int, ...]:
        """The moves after the row at a point."""
        point = points[at]
        assert isinstance(point, _Row)
        if point.rounds is None:
            return moves(at + 1)
        again = (numbers[at],)
        return moves(at + 1) + again if point.rounds.reluctant else again + moves(at + 1)

    labelled = [point for point in points if isinstance(point, _Row)]
    return RowAutomaton(
        tuple(point.label for point in labelled),
        tuple(point.excluded for point in labelled),
        (moves(0), moves(0, first=True)),
        tuple(behind(at) for at in rows),
        tuple(DONE in moves(at + 1, last=True) for at in rows),
        tuple(point.rounds for point in labelled),
    )


class _Walk:
    """Finds what follows points, in a limited number of steps."""

    def __init__(self, points: Sequence[_Point]) -> None:
        self.points = points
        self.steps = 0

    def reached(self, at: int, first: bool, last: bool) -> list[int]:
        """The rows (and the end, `len(points)`) that can come next, the preferred first. After the
        end of the pattern nothing less preferred counts."""
        reached: list[int] = []
        entered: set[int] = set()
        pending = [at]
        while pending:
            here = pending.pop()
            if here in entered:
                continue
            entered.add(here)
            point = self.points[here] if here < len(self.points) else None
            match point:
                case _Fork(targets):
                    pending.extend(reversed(targets))
                case _Anchor(at_start):
                    if first if at_start else last:
                        pending.append(here + 1)
                case _:
                    reached.append(here)
                    if point is None:
                        break
        self.count(len(entered))
        return reached

    def count(self, steps: int) -> None:
        self.steps += steps
        if self.steps > MOST_STEPS:
            raise LimitError(
                f"the pattern has more than {MOST_STEPS:,} ways from one row to the next",
                hint="write fewer optional parts in a row",
            )


class _Points:
    """The points of a pattern, in the order of the text."""

    def __init__(self, *, counts: bool) -> None:
        self.counts = counts
        self.points: list[_Point] = []
        self.excluded = False

    def built(self, pattern: tree.Pattern) -> list[_Point]:
        self.add(pattern)
        return self.points

    def point(self, point: _Point) -> int:
        if len(self.points) >= MOST_POINTS:
            raise LimitError(
                f"the pattern has more than {MOST_POINTS:,} parts when its rounds are written out",
                hint="use smaller bounds in {n,m}, or fewer parts in PERMUTE",
            )
        self.points.append(point)
        return len(self.points) - 1

    def add(self, node: tree.Pattern) -> None:
        match node:
            case tree.Variable(name):
                self.point(_Row(name, self.excluded))
            case tree.PartitionStart():
                self.point(_Anchor(True))
            case tree.PartitionEnd():
                self.point(_Anchor(False))
            case tree.Concatenation(parts):
                for part in parts:
                    self.add(part)
            case tree.Alternation(parts):
                self.choice(parts)
            case tree.Permutation(parts) if all(map(_goes_one_way, parts)):
                self.permuted(parts)
            case tree.Permutation(parts):
                self.choice([tree.Concatenation(order) for order in permutations(parts)])
            case tree.Exclusion(part):
                outside, self.excluded = self.excluded, True
                self.add(part)
                self.excluded = outside
            case tree.Quantified(tree.Variable(name)) if self.counts and _has_many_rounds(node):
                self.counted(node, name)
            case tree.Quantified():
                self.rounds(node)

    def choice(self, parts: Sequence[tree.Pattern]) -> None:
        fork = self.point(_Fork(()))
        begins, jumps = [], []
        for part in parts:
            begins.append(len(self.points))
            self.add(part)
            jumps.append(self.point(_Fork(())))
        self.points[fork] = _Fork(tuple(begins))
        for jump in jumps:
            self.points[jump] = _Fork((len(self.points),))

    def permuted(self, parts: Sequence[tree.Pattern]) -> None:
        """Each part once, in any order; orders are preferred as in a dictionary.

        What may follow depends on which parts have been read, not on their order. So a fork for
        each set of them, and a copy of each part after each fork that lacks it, are enough. No part
        may have choices of its own: all of them, in one order, come before the next order.
        """
        every = range(len(parts))
        forks: dict[frozenset[int], int] = {}
        jumps: list[tuple[int, frozenset[int]]] = []
        for size in every:
            for read in map(frozenset, combinations(every, size)):
                forks[read] = self.point(_Fork(()))
                begins = []
                for part in every:
                    if part not in read:
                        begins.append(len(self.points))
                        self.add(parts[part])
                        jumps.append((self.point(_Fork(())), read | {part}))
                self.points[forks[read]] = _Fork(tuple(begins))
        forks[frozenset(every)] = len(self.points)
        for jump, read in jumps:
            self.points[jump] = _Fork((forks[read],))

    def rounds(self, node: tree.Quantified) -> None:
        begin = len(self.points)
        for _ in range(node.low):
            begin = len(self.points)
            self.add(node.part)
        if node.high is None:
            self.loop(node, begin)
            return
        forks = []
        for _ in range(node.high - node.low):
            forks.append(self.point(_Fork(())))
            self.add(node.part)
        for fork in forks:
            self.fork(fork, fork + 1, node.reluctant)

    def counted(self, node: tree.Quantified, name: str) -> None:
        entry = self.point(_Fork(())) if node.low == 0 else None
        rounds = Rounds(max(node.low, 1), node.high, node.reluctant)
        self.point(_Row(name, self.excluded, rounds))
        if entry is not None:
            self.fork(entry, entry + 1, node.reluctant)

    def loop(self, node: tree.Quantified, begin: int) -> None:
        entry = None
        if node.low == 0:
            entry = self.point(_Fork(()))
            begin = len(self.points)
            self.add(node.part)
        again = self.point(_Fork(()))
        self.fork(again, begin, node.reluctant)
        if entry is not None:
            self.fork(entry, begin, node.reluctant)

    def fork(self, at: int, into: int, reluctant: bool) -> None:
        """Fork to another round, or past everything so far."""
        past = len(self.points)
        self.points[at] = _Fork((past, into) if reluctant else (into, past))


def _has_many_rounds(node: tree.Quantified) -> bool:
    return max(node.low, node.high or 0) > MOST_COPIES


def _goes_one_way(pattern: tree.Pattern) -> bool:
    """Whether a part of a pattern has no choices."""
    return not any(
        isinstance(node, tree.Alternation | tree.Permutation)
        or (isinstance(node, tree.Quantified) and node.low != node.high)
        for node in pattern.walk()
    )
