"""The substreams of many rules: one for each pair of a rule and a key of the stream.

To the kernel a pair is a key like any other. A pair has a number from when the rule first reads an
event of the key; the stream's keys are numbered apart, once for all rules.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.engine.ingest.clock import RowNumbers
from cereus.engine.ingest.keys import KeyIndex
from cereus.engine.ingest.substreams import Codes, Ints, Substreams
from cereus.engine.match.forgetting import NEVER, Progress
from cereus.engine.memory import taken
from cereus.state import checked

RULE = "\0rule"
"""The key that tells the rules apart."""
RULE_FIELD = pa.field(RULE, pa.int32())
PAIR_FIELD = pa.field("pair", pa.int64())
RULE_BITS = 24
"""A pair is one integer: the number of the key, then these bits for the rule."""
MOST_RULES = 1 << RULE_BITS
MOST_CELLS = 1 << 22
"""Up to this many pairs are looked up in a table; more are hashed."""
NO_TABLE: Codes = np.zeros((0, 0), np.int32)


class PairIndex:
    """Numbers pairs of a rule and a key; `keys` numbers the keys, and `names` names the rules."""

    def __init__(self, keys: KeyIndex, names: Mapping[int, str]) -> None:
        self.keys, self.names = keys, names
        self.fields = [RULE_FIELD, *keys.fields]
        self._pairs = KeyIndex([PAIR_FIELD])
        self._parts: tuple[Ints, Codes] | None = None
        self._table: Codes = NO_TABLE

    def __len__(self) -> int:
        return len(self._pairs)

    def numbers(self, rules: Codes, keys: Codes) -> Codes:
        """The numbers of pairs; a new pair gets the next number."""
        rows, columns = max(1, len(self.keys)), int(rules.max(initial=0)) + 1
        if rows > self._table.shape[0] or columns > self._table.shape[1]:
            self._make_table(2 * rows, columns + columns // 4)
        if not self._table.size:
            return self._numbered(rules, keys)
        at = keys * np.int64(self._table.shape[1]) + rules
        numbers: Codes = taken(self._table.reshape(-1), at)
        fresh = np.flatnonzero(numbers < 0)
        if len(fresh):
            self._table.reshape(-1)[at[fresh]] = self._numbered(rules[fresh], keys[fresh])
            numbers = taken(self._table.reshape(-1), at)
        return numbers

    def _numbered(self, rules: Codes, keys: Codes) -> Codes:
        before = len(self)
        numbers = self._pairs.encode([pa.array(_pairs(rules, keys))])
        self._parts = self._parts if len(self) == before else None
        return numbers

    def _make_table(self, keys: int, rules: int) -> None:
        """Make a table with the number of every possible pair, -1 for one that was not seen. There
        is no table if there are too many."""
        of_rules, of_keys = self.parts()
        rules = max(rules, int(of_rules.max(initial=0)) + 1)
        if keys * rules > MOST_CELLS:
            self._table = NO_TABLE
            return
        self._table = np.full((keys, rules), -1, np.int32)
        self._table[of_keys, of_rules] = np.arange(len(of_keys), dtype=np.int32)

    def parts(self) -> tuple[Ints, Codes]:
        """The rule and the key of every pair."""
        if self._parts is None:
            pairs = self._pairs.values()[0].to_numpy(zero_copy_only=False)
            self._parts = pairs & (MOST_RULES - 1), (pairs >> RULE_BITS).astype(np.int32)
        return self._parts

    def columns(self, codes: npt.NDArray[np.int32]) -> list[pa.Array]:
        """The rule and the key columns of rows with these pairs."""
        rules, keys = self.parts()
        return [pa.array(rules[codes].astype(np.int32)), *self.keys.columns(keys[codes])]

    def describe(self, code: int) -> str:
        """A pair in words, for messages."""
        if not 0 <= code < len(self):
            return "the stream"
        rules, keys = self.parts()
        rule = f"the rule {self.names.get(int(rules[code]), '?')!r}"
        return f"{rule}, {self.keys.describe(int(keys[code]))}" if self.keys.fields else rule

    def keep(self, kept: Ints) -> Ints:
        """Forget all pairs except these, and the keys that are in none of them. Returns the keys
        that stay."""
        rules, keys = (part[kept] for part in self.parts())
        if not self.keys.fields:
            self._restore(_pairs(rules, keys))
            return np.zeros(1, np.int64)
        alive, numbers = np.unique(keys, return_inverse=True)
        self.keys.keep(alive.astype(np.int64))
        self._restore(_pairs(rules, numbers))
        return alive.astype(np.int64)

    def save(self) -> dict[str, Any]:
        return {"pairs": self._pairs.values()[0], "keys": self.keys.save()}

    def restore(self, saved: dict[str, Any]) -> None:
        self.keys.restore(saved["keys"])
        self._restore(checked.column(saved["pairs"], "the pairs of rules and keys", pa.int64()))
        checked.within(self.parts()[1], 0, max(1, len(self.keys)), "the key of a rule")

    def _restore(self, pairs: pa.Array | Ints) -> None:
        column = pairs if isinstance(pairs, pa.Array) else pa.array(pairs)
        self._pairs.restore({"0": column})
        self._parts, self._table = None, NO_TABLE


def _pairs(rules: npt.NDArray[Any], keys: npt.NDArray[Any]) -> Ints:
    pairs: Ints = keys.astype(np.int64) << RULE_BITS | rules
    return pairs


class RuleSubstreams(Substreams):
    """The substreams of rules. Time passes for all rules of a key together, so it is watched by
    key; `latest` shows it by pair, as the kernel counts."""

    index: PairIndex  # type: ignore[assignment]

    def __init__(
        self,
        paths: tuple[tuple[str, ...], ...],
        schema: pa.Schema,
        watched: tuple[str, ...],
        names: Mapping[int, str],
    ) -> None:
        self.names, self.paths, self.watched = names, paths, watched
        self.of_keys = Substreams(paths[1:], schema, watched)
        self.index = PairIndex(self.of_keys.index, names)
        self.fields = self.index.fields

    def forget(self) -> None:
        self.of_keys.forget()
        self.index = PairIndex(self.of_keys.index, self.names)

    @property
    def latest(self) -> dict[str, Ints]:  # type: ignore[override]
        _, keys = self.index.parts()
        if not len(keys):
            return {what: np.full(1, NEVER) for what in self.watched}
        return {what: values[keys] for what, values in self.of_keys.latest.items()}

    @property
    def progress(self) -> Progress:  # type: ignore[override]
        return self.of_keys.progress

    def keep(self, codes: Ints) -> None:
        alive = self.index.keep(codes)
        latest = self.of_keys.latest
        self.of_keys.latest = {what: values[alive] for what, values in latest.items()}

    def undo(self) -> Callable[[], None]:
        return self.of_keys.undo()

    def codes(self, batch: pa.RecordBatch, places: Ints | None = None) -> Codes:
        """The numbers of keys, not of pairs."""
        return self.of_keys.codes(batch, places)

    def check_order(
        self,
        what: str,
        column: str | None,
        values: Ints,
        keys: Codes,
        places: Ints | None,
        rows: RowNumbers,
    ) -> None:
        self.of_keys.check_order(what, column, values, keys, places, rows)

    def save(self) -> dict[str, Any]:
        return {**self.of_keys.save(), "keys": self.index.save()}

    def restore(self, saved: dict[str, Any]) -> None:
        self.index.restore(saved["keys"])
        self.of_keys.restore({**saved, "keys": saved["keys"]["keys"]})
