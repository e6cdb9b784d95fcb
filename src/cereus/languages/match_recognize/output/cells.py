"""Matches → the cells that MEASURES are computed for, all at once.

A cell is one row of the output. Matched rows are numbered through all matches: the rows of match m
have the numbers offsets[m] to offsets[m + 1], and number f is the position f + moves[m].
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from cereus.engine.memory import empty
from cereus.languages.match_recognize import tree
from cereus.languages.match_recognize.match.matching import RowMatches
from cereus.languages.match_recognize.match.program import RowAutomaton
from cereus.languages.match_recognize.output import scan_kernel as scan

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


class Matched:
    """The rows of all matches, and which variable each is mapped to."""

    def __init__(
        self,
        clause: tree.Clause,
        automaton: RowAutomaton,
        matches: RowMatches,
        bounds: Ints,
        before: Ints | None = None,
    ) -> None:
        """`before` counts the matches that each partition had earlier."""
        self.clause, self.automaton, self.matches, self.bounds = clause, automaton, matches, bounds
        self.offsets = matches.offsets
        self.moves = matches.starts - self.offsets[:-1]
        self._before = before
        self._members: dict[frozenset[str], tuple[Ints, Ints]] = {}

    @cached_property
    def partition(self) -> Ints:
        """The partition of each match."""
        return np.repeat(np.arange(len(self.counts)), self.counts)

    @cached_property
    def counts(self) -> Ints:
        """How many matches each partition has."""
        return np.diff(self._firsts, append=len(self.matches))

    @property
    def numbered(self) -> Ints:
        """How many matches of each partition have numbers: those that did not time out."""
        if self.matches.timed_out is None:
            return self.counts
        late = np.concatenate([[0], np.cumsum(self.matches.timed_out)])
        timed_out: Ints = late[self._firsts + self.counts] - late[self._firsts]
        return self.counts - timed_out

    def count_shown(self, of: Cells) -> int:
        """How many matches have some of the rows that are emitted: not those that timed out, nor
        those whose rows are all left out."""
        shown = np.zeros(len(self.matches), np.bool_)
        shown[of.match[of.match >= 0]] = True
        if self.matches.timed_out is not None:
            shown &= ~self.matches.timed_out
        return int(np.count_nonzero(shown))

    @cached_property
    def _firsts(self) -> Ints:
        """The first match of each partition; if it has none, the first of a later one."""
        return np.searchsorted(self.matches.starts, self.bounds[:-1])

    @cached_property
    def numbers(self) -> Ints:
        """The number of each match in its partition, from 1."""
        if not len(self.matches):
            return np.zeros(0, np.int64)
        first = self._firsts
        numbers = np.arange(1, len(self.matches) + 1) - first[self.partition]
        if self.matches.timed_out is not None:  # they have no numbers
            late = np.concatenate([[0], np.cumsum(self.matches.timed_out)])
            numbers = numbers - (late[1:] - late[first[self.partition]])
        return numbers if self._before is None else numbers + self._before[self.partition]

    @cached_property
    def excluded(self) -> Bools | None:
        """Which matched rows stand inside `{- -}`; None for none."""
        if not any(self.automaton.excluded):
            return None
        return np.array(self.automaton.excluded, np.bool_)[self.matches.states]

    def chosen(self, members: frozenset[str] | None) -> npt.NDArray[np.uint8]:
        """Which states are of these variables (None: of all)."""
        labels = self.automaton.labels
        marks = [members is None or each in members for each in labels]
        return np.array(marks or [False], np.uint8)

    def nth(self, members: frozenset[str], first: bool, offset: int) -> Ints:
        """For each match, the row that is `offset` from the front or from the back among those of
        these variables; -1 if there is none."""
        out = empty(len(self.matches), np.int64)
        chosen = self.chosen(members)
        scan.nth_rows(self.matches.states, self.offsets, chosen, first, offset, out)
        return out

    def mapped(self, members: frozenset[str]) -> tuple[Ints, Ints]:
        """The numbers of the matched rows that are mapped to one of these variables, and how many
        of them come before each number."""
        if members not in self._members:
            of_state = np.array([label in members for label in self.automaton.labels], np.bool_)
            mapped = of_state[self.matches.states] if len(of_state) else np.zeros(0, np.bool_)
            before = np.zeros(len(mapped) + 1, np.int64)
            np.cumsum(mapped, out=before[1:])
            self._members[members] = np.flatnonzero(mapped), before
        return self._members[members]

    def placed(self, rows: Ints | None) -> tuple[Ints, Ints, npt.NDArray[np.uint8]]:
        """For some matched rows (None: all of them) their matches, their positions, and whether
        each is the first of its match among them."""
        rows = np.arange(int(self.offsets[-1])) if rows is None else rows
        match, position = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
        first = np.empty(len(rows), np.uint8)
        scan.placed(rows, self.offsets, self.moves, match, position, first)
        return match, position, first

    @cached_property
    def label_codes(self) -> npt.NDArray[np.int32]:
        """The variable of each matched row, by its place among the variables."""
        places = {name: place for place, name in enumerate(self.clause.variables())}
        codes = np.array([places[label] for label in self.automaton.labels] or [0], np.int32)
        return codes[self.matches.states]


@dataclass(frozen=True)
class Cells:
    """The rows of the output, each with its match. `match` is -1 for rows of no match; `row` is the
    matched row's number, -1 where there is none; `position` is the row whose columns are
    emitted."""

    match: Ints
    row: Ints
    position: Ints

    def __len__(self) -> int:
        return len(self.match)


def cells(matched: Matched, rows: tree.Rows, unmatched: Ints | None = None) -> Cells:
    """The cells, in the order of the starts. `unmatched` are positions outside all matches."""
    if rows is tree.Rows.ONE:
        return _one_row(matched)
    if matched.excluded is None and unmatched is None and _all_have_rows(matched):
        return _all_rows(matched)
    return _mixed(matched, rows, unmatched)


def _one_row(matched: Matched) -> Cells:
    matches = matched.matches
    last = matched.offsets[1:] - 1
    if _all_have_rows(matched):
        return Cells(np.arange(len(matches)), last, matches.ends - 1)
    row = np.where(matches.ends > matches.starts, last, -1)
    position = np.maximum(matches.ends - 1, matches.starts)
    return Cells(np.arange(len(matches)), row, position)


def _all_have_rows(matched: Matched) -> bool:
    return bool((matched.matches.ends > matched.matches.starts).all())


def _all_rows(matched: Matched) -> Cells:
    lengths = np.diff(matched.offsets)
    match = np.repeat(np.arange(len(lengths)), lengths)
    row = np.arange(len(match))
    return Cells(match, row, row + matched.moves[match])


def _mixed(matched: Matched, rows: tree.Rows, unmatched: Ints | None) -> Cells:
    every = _all_rows(matched)
    if matched.excluded is not None:
        shown = ~matched.excluded
        every = Cells(every.match[shown], every.row[shown], every.position[shown])
    parts = [(every, matched.matches.starts[every.match])]
    if rows is not tree.Rows.OMIT:
        empty = np.flatnonzero(matched.matches.ends == matched.matches.starts)
        starts = matched.matches.starts[empty]
        parts.append((Cells(empty, np.full(len(empty), -1), starts), starts))
    if unmatched is not None:
        nothing = np.full(len(unmatched), -1)
        parts.append((Cells(nothing, nothing, unmatched), unmatched))
    order = np.argsort(np.concatenate([starts for _, starts in parts]), kind="stable")
    columns = (
        np.concatenate([getattr(part, name) for part, _ in parts])[order]
        for name in ("match", "row", "position")
    )
    return Cells(*columns)


def uncovered(matches: RowMatches, length: int) -> Ints:
    """The positions that no match covers: neither its rows nor an empty match."""
    depth = np.zeros(length + 1, np.int64)
    ends = np.maximum(matches.ends, matches.starts + 1)
    np.add.at(depth, matches.starts, 1)
    np.add.at(depth, ends, -1)
    return np.flatnonzero(np.cumsum(depth[:-1]) == 0)
