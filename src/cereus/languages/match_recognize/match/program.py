"""A pattern as an automaton whose moves are ordered by preference.

A state reads one row as one variable. `moves[q]` lists what may follow it, the preferred first: a
state, or DONE. Rounds of a quantifier are copied, `x+` is its body and then the fork, and no point
of the pattern is passed twice at one row, so that rounds which read nothing end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

from cereus.errors import LimitError
from cereus.languages.match_recognize import tree

DONE = -2
MOST_POINTS = 30_000
"""Points of a pattern with all rounds copied; states are numbered in 16 bits."""


@dataclass(frozen=True)
class RowAutomaton:
    """`labels[q]` is the variable of state q, `excluded[q]` whether it stands inside `{- -}`.

    `begin[0]` lists the first moves at a row inside the partition, `begin[1]` at its first row;
    `moves[q]` those behind a row that is not the last, and `ends[q]` says whether the match may
    end behind the last row of the partition.
    """

    labels: tuple[str, ...]
    excluded: tuple[bool, ...]
    begin: tuple[tuple[int, ...], tuple[int, ...]]
    moves: tuple[tuple[int, ...], ...]
    ends: tuple[bool, ...]

    def __len__(self) -> int:
        return len(self.labels)


@dataclass(frozen=True)
class _Row:
    label: str
    excluded: bool


@dataclass(frozen=True)
class _Fork:
    targets: tuple[int, ...]


@dataclass(frozen=True)
class _Anchor:
    at_start: bool


_Point = _Row | _Fork | _Anchor


def automaton(pattern: tree.Pattern) -> RowAutomaton:
    points = _Points().built(pattern)
    rows = [at for at, point in enumerate(points) if isinstance(point, _Row)]
    numbers = {at: q for q, at in enumerate(rows)}

    def moves(at: int, *, first: bool = False, last: bool = False) -> tuple[int, ...]:
        found = _reached(points, at, first, last)
        return tuple(DONE if each == len(points) else numbers[each] for each in found)

    labelled = [point for point in points if isinstance(point, _Row)]
    return RowAutomaton(
        tuple(point.label for point in labelled),
        tuple(point.excluded for point in labelled),
        (moves(0), moves(0, first=True)),
        tuple(moves(at + 1) for at in rows),
        tuple(DONE in moves(at + 1, last=True) for at in rows),
    )


def _reached(points: Sequence[_Point], at: int, first: bool, last: bool) -> list[int]:
    """The rows (and the end, `len(points)`) that can come next, the preferred first. Behind the
    end of the pattern nothing less preferred counts."""
    found: list[int] = []
    entered: set[int] = set()
    pending = [at]
    while pending:
        here = pending.pop()
        if here in entered:
            continue
        entered.add(here)
        point = points[here] if here < len(points) else None
        match point:
            case _Fork(targets):
                pending.extend(reversed(targets))
            case _Anchor(at_start):
                if first if at_start else last:
                    pending.append(here + 1)
            case _:
                found.append(here)
                if point is None:
                    break
    return found


class _Points:
    """The points of a pattern, in the order of the text."""

    def __init__(self) -> None:
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
        """Each part once, in any order, orders preferred as they would stand in a dictionary.

        What may follow depends on which parts have been read, not on their order: a fork for each
        set of them, and a copy of each part behind each fork that lacks it, are enough. No part may
        have choices of its own: all of them, in one order, come before the next order.
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
        """At a fork: another round, or past everything so far."""
        past = len(self.points)
        self.points[at] = _Fork((past, into) if reluctant else (into, past))


def _goes_one_way(pattern: tree.Pattern) -> bool:
    """Whether a part of a pattern has no choices."""
    return not any(
        isinstance(node, tree.Alternation | tree.Permutation)
        or (isinstance(node, tree.Quantified) and node.low != node.high)
        for node in pattern.walk()
    )
