"""The keys of a live run whose searches go on, instead of starting again with every push."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.languages.match_recognize.match.finding import Finder
from cereus.languages.match_recognize.match.runs.carrying import LONG, WaitingSearch, can_wait
from cereus.languages.match_recognize.match.slots.tables import NotForSlots
from cereus.languages.match_recognize.match.sorting import SortedRows, in_order
from cereus.languages.match_recognize.run.keys import Ints, Keys


class WaitingKeys:
    """The waiting searches, by the numbers of their keys. Their rows are not among those of `keys`
    while they wait."""

    def __init__(self, finder: Finder, keys: Keys, before: int, behind: int) -> None:
        self.finder, self.keys = finder, keys
        self.before, self.behind = before, behind
        self.searches: dict[int, WaitingSearch] = {}
        self.possible = can_wait(finder)

    def still(
        self, rows: pa.Table, codes: npt.NDArray[np.int32], horizon: int
    ) -> npt.NDArray[np.bool_] | None:
        """Which of the rows went to a search that still waits; they are kept there. None if no
        search waits."""
        met = [key for key in self.searches if (codes == key).any()]
        if not met:
            return None
        undecided = np.zeros(len(codes), np.bool_)
        for key in met:
            of_key = codes == key
            if self._waits(key, rows.filter(pa.array(of_key)), horizon):
                undecided |= of_key
            else:
                self._end(key)
        return undecided

    def _waits(self, key: int, rows: pa.Table, horizon: int) -> bool:
        search = self.searches[key]
        known = search.tables[-1]
        met = pa.concat_tables([known.slice(known.num_rows - 1), rows]).combine_chunks()
        if in_order(met, self.finder.bound.order) is not None:
            return False  # refused where all rows are
        try:
            waits = search.waits(rows, horizon)
        except NotForSlots:
            waits = False
        if not waits:
            search.tables.pop()
        return waits

    def begin(self, rows: SortedRows, back: Ints, horizon: int) -> None:
        """Let keys wait whose match has many rows and still begins where it did."""
        if not self.possible:
            return
        keys = self.keys
        stays = (keys.back[keys.active] == back) & (keys.dropped == 0)
        for place in np.flatnonzero(stays & (np.diff(rows.bounds) >= LONG)):
            self._begin(int(keys.active[place]), horizon)

    def _begin(self, key: int, horizon: int) -> None:
        keys, none = self.keys, np.zeros(2, np.int64)
        rows = keys.taken_out(key)
        streams = keys.streams(np.array([key]), none, 0, horizon, ends_open=True)
        try:
            search = WaitingSearch(self.finder, rows, streams, self.before, self.behind)
        except NotForSlots:
            keys.put_back(key, rows)
            return
        if search.possible:
            self.searches[key] = search
        else:
            keys.put_back(key, rows)

    def renumber(self, numbers: Ints) -> None:
        self.searches = {int(numbers[key]): search for key, search in self.searches.items()}

    def end(self, horizon: int | None = None) -> None:
        """Give the rows back: of all keys, or of those that the time so far may decide."""
        for key, search in list(self.searches.items()):
            if horizon is None or search.over(horizon):
                self._end(key)

    def _end(self, key: int) -> None:
        self.keys.put_back(key, self.searches.pop(key).rows())
