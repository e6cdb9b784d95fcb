"""What is searched for matches: rows, and where the search goes on in each partition."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from cereus.languages.match_recognize.binding import Bound
from cereus.languages.match_recognize.match.alternatives import Alternatives, alternatives
from cereus.languages.match_recognize.match.letters import RowLetters
from cereus.languages.match_recognize.match.matching import Ints, Skipping, readable, state_masks
from cereus.languages.match_recognize.match.program import RowAutomaton
from cereus.languages.match_recognize.match.sorting import SortedRows

NEVER = np.iinfo(np.int64).min


@dataclass
class RunStreams:
    """The partitions: rows `lows` to `highs`, and where the search goes on in each. One that has
    `begun` had rows before. `numbers` counts the matches so far; partial matches that timed out
    have been emitted for the rows before `reported`. While `ends_open`, rows at or after the time
    `horizon` may come, and those up to `tails` wait for the rows behind them."""

    lows: Ints
    highs: Ints
    tails: Ints
    begun: npt.NDArray[np.uint8]
    resume: Ints
    numbers: Ints
    reported: Ints
    ends_open: bool = False
    horizon: int = NEVER

    @classmethod
    def complete(cls, bounds: Ints) -> RunStreams:
        """Partitions whose rows are all known."""
        size = len(bounds) - 1
        lows, highs = bounds[:-1].copy(), bounds[1:].copy()
        none = np.zeros(size, np.int64)
        begun = np.zeros(size, np.uint8)
        return cls(lows, highs, highs, begun, lows.copy(), none, none.copy())


@dataclass(frozen=True)
class Searched:
    """Rows with their letters and times, and the automaton that reads them. A match is shorter than
    `length`, if there are `times`. `ways` are alternatives that are one state."""

    bound: Bound
    automaton: RowAutomaton
    rows: SortedRows
    letters: RowLetters
    skip: Skipping
    times: Ints | None
    length: int
    ways: Alternatives | None = None

    @property
    def timeouts(self) -> bool:
        return self.bound.clause.timeouts

    @cached_property
    def masks(self) -> list[int]:
        """For each letter the states that can read a row of it."""
        variables = self.bound.clause.variables() if self.ways is None else self.ways.variables
        return state_masks(self.automaton, variables, self.letters)

    @cached_property
    def readable(self) -> npt.NDArray[np.uint8]:
        """The same as an array of letters and states."""
        return readable(self.masks, len(self.automaton))

    def joint(self) -> Searched | None:
        """The same search, where alternatives that no row can both be are one state; None if there
        are none."""
        if self.timeouts:
            return None
        ways = alternatives(self.bound, self.automaton, self.letters, self.skip)
        if ways is None:
            return None
        same = replace(self, automaton=ways.automaton, letters=ways.letters)
        return replace(same, skip=ways.skip, ways=ways)
