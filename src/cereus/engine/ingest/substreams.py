"""The substreams of a stream, one for each key: their numbers, and the order of time in each."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import astuple, replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.engine.ingest import codes
from cereus.engine.ingest.clock import RowNumbers, as_times, read
from cereus.engine.ingest.first_look import FirstLookError, LocalSubstreams
from cereus.engine.ingest.keys import KeyIndex, local_keys
from cereus.engine.match.forgetting import NEVER, Progress
from cereus.engine.memory import empty, taken
from cereus.errors import DataError, did_you_mean
from cereus.expr.paths import type_at
from cereus.state import checked

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Number = TypeVar("Number", np.int32, np.int64)
ZEROS = re.compile(r"(?:\.|(\.\d*[1-9]))0+(?=Z?$)")
"""Zeros at the end of a fraction of a second, which messages leave out."""
OR_SORT = ", or run with sort=True"
"""The part of a hint that is for runs over a whole table."""


class Substreams:
    """Numbers the keys of rows, and watches the columns in `watched`, each under a name, in
    each substream."""

    def __init__(
        self, paths: tuple[tuple[str, ...], ...], schema: pa.Schema, watched: tuple[str, ...]
    ) -> None:
        self.paths, self.schema = paths, schema
        self.fields = [key_field(schema, path) for path in paths]
        self.watched = watched
        self.forget()

    def forget(self) -> None:
        """Forget all keys."""
        self.index = KeyIndex(self.fields)
        self.latest = {what: np.array([NEVER]) for what in self.watched}
        self.progress = Progress()

    def keep(self, codes: Ints) -> None:
        """Forget all keys except these, which are renumbered in their order."""
        self.index.keep(codes)
        self.latest = {what: latest[codes] for what, latest in self.latest.items()}

    def __len__(self) -> int:
        return len(self.index)

    def undo(self) -> Callable[[], None]:
        """A function that takes back how far time comes from now on. Keys that were seen stay
        known."""
        progress = replace(self.progress)
        before = {what: latest.copy() for what, latest in self.latest.items()}

        def undo() -> None:
            self.progress = progress
            for what, values in before.items():
                self.latest[what][: len(values)] = values
                self.latest[what][len(values) :] = NEVER

        return undo

    def codes(self, batch: pa.RecordBatch, places: Ints | None = None) -> Codes:
        """Key codes of the given rows, or of all."""
        if not self.paths:
            return np.zeros(batch.num_rows if places is None else len(places), np.int32)
        return self._known(self.index.encode(self._columns(batch, places)))

    def _columns(self, batch: pa.RecordBatch, places: Ints | None) -> list[pa.Array]:
        """The key columns of the given rows, or of all."""
        columns = [read(batch, path, "the key column") for path in self.paths]
        if places is not None and len(places) < batch.num_rows:
            columns = [column.take(pa.array(places)) for column in columns]
        return [*map(_numbered, columns, self.fields)]

    def _known(self, keys: Codes) -> Codes:
        """The key codes, after making room to watch each of these keys."""
        for what, latest in self.latest.items():
            self.latest[what] = room_for(latest, len(self.index), NEVER)
        return keys

    def look(
        self, batch: pa.RecordBatch, places: Ints | None, times: Ints
    ) -> tuple[Codes, LocalSubstreams]:
        """The substreams of the given rows, or of all, numbered among themselves. It depends on
        nothing that was read before, so any thread may do it."""
        if not self.paths:
            rows = batch.num_rows if places is None else len(places)
            self._refuse_backwards(not ascending(times))
            counts = np.array([batch.num_rows])
            local = LocalSubstreams(None, counts, times[:1], times[-1:])
            return np.zeros(rows, np.int32), local
        keys = local_keys(self._columns(batch, places))
        size = keys.distinct.num_rows
        counts = codes.counts_of_keys(keys.numbers, size)
        first = last = np.zeros(0, np.int64)
        if len(times):
            of_rows = times if places is None else taken(times, places)
            first, last, backward = codes.times_of_keys(keys.numbers, of_rows, size)
            self._refuse_backwards(backward >= 0)
        return keys.numbers, LocalSubstreams(keys.distinct, counts, first, last)

    def go_on(self, local: LocalSubstreams) -> Codes:
        """The numbers of substreams that were looked at. Their times are checked and noted."""
        keys = np.zeros(1, np.int32)
        if local.distinct is not None:
            keys = self._known(self.index.encode_distinct(local.distinct))
        latest = self.latest.get("time")
        if latest is not None and len(local.first):
            late = (local.first < latest[keys]) | (local.first < self.progress.closed)
            self._refuse_backwards(bool(late.any()))
            latest[keys] = local.last
        return keys

    @staticmethod
    def _refuse_backwards(goes: bool) -> None:
        """Raise an error without a place; reading the rows one after the other finds the place."""
        if goes:
            raise FirstLookError("time goes backwards")

    def check_order(
        self,
        what: str,
        column: str | None,
        values: Ints,
        keys: Codes,
        places: Ints | None,
        rows: RowNumbers,
    ) -> None:
        """Refuse a time that goes backwards inside a key: it would multiply matches silently.

        `values` are those of all rows, or, like `keys`, of the rows in `places`.
        """
        if not len(values):
            return
        latest = self.latest[what]
        checked_values = values
        if not self.paths:
            row, before = _first_backward(values, int(latest[0]))
            latest[0] = values[-1]
        else:
            if len(values) != len(keys):
                assert places is not None
                checked_values = taken(values, places)
            if what == "time":
                self._refuse_closed(column, checked_values, keys, places, rows)
                self.progress.see(values, ascending(values))
            row = codes.first_backward(keys, checked_values, latest)
            before = int(latest[keys[row]]) if row >= 0 else NEVER
        if row >= 0:
            of_all = not self.paths or len(keys) == len(values)
            place = row if places is None or of_all else int(places[row])
            where = f" in {self.index.describe(int(keys[row]))}" if self.paths else ""
            raise DataError(
                f"{column!r} goes backwards at row {rows.of_selected(place)}{where}: "
                + " after ".join(self._texts(str(column), [int(checked_values[row]), before])),
                hint=f"sort the events by {column!r} first{OR_SORT}",
            )

    def _texts(self, column: str, values: list[int]) -> list[str]:
        """Values of a watched column as they are written in the events."""
        kind = type_at(self.schema, tuple(column.split(".")))
        texts: list[str] = as_times(np.array(values), kind).cast(pa.string()).to_pylist()
        return [ZEROS.sub(r"\1", text) for text in texts]

    def _refuse_closed(
        self, column: str | None, times: Ints, keys: Codes, places: Ints | None, rows: RowNumbers
    ) -> None:
        """Refuse an event from before the time up to which keys were forgotten: its matches would
        be missing."""
        if self.progress.closed == NEVER:
            return
        late = np.flatnonzero(times < self.progress.closed)
        if len(late):
            row = int(late[0])
            place = row if places is None or len(places) != len(times) else int(places[row])
            raise DataError(
                f"{column!r} goes back too far at row {rows.of_selected(place)} in "
                f"{self.index.describe(int(keys[row]))}: keys that were idle until then have been "
                "forgotten",
                hint="push events in the order of time over all keys, or start with "
                "recognizer(forget_idle=False)",
            )

    def save(self) -> dict[str, Any]:
        size = len(self)
        latest = {what: values[: max(1, size)] for what, values in self.latest.items()}
        progress = astuple(self.progress)
        return {"keys": self.index.save(), "latest": latest, "progress": progress}

    def restore(self, saved: dict[str, Any]) -> None:
        self.index.restore(saved["keys"])
        self.latest = {
            what: per_key(saved["latest"][what], "the latest times of keys", len(self))
            for what in self.watched
        }
        latest, in_order, promised, closed = saved["progress"]
        for each in (latest, promised, closed):
            checked.integer(each, "the progress of time")
        checked.flag(in_order, "the order of time")
        self.progress = Progress(latest, in_order, promised, closed)


def ascending(values: Ints) -> bool:
    """Whether no value is below the one before it. NumPy compares several at a time, without the
    interpreter's lock."""
    return bool(np.all(values[1:] >= values[:-1]))


def _first_backward(values: Ints, latest: int) -> tuple[int, int]:
    """The first value that is smaller than the one before it, or -1; and the one before it."""
    if values[0] < latest:
        return 0, latest
    if ascending(values):
        return -1, NEVER
    row = int(np.flatnonzero(values[1:] < values[:-1])[0])
    return row + 1, int(values[row])


def per_key(saved: Any, what: str, keys: int) -> Ints:
    """One number for each key; at least one."""
    values = checked.integers(saved, what)
    checked.refuse_unless(len(values) == keys or len(values) == 1 > keys, f"{what} are missing")
    return values


def room_for(array: npt.NDArray[Number], size: int, fill: int) -> npt.NDArray[Number]:
    """The array with room for `size` values, at least twice as many where it has to grow."""
    if size <= len(array):
        return array
    more = max(size, 2 * len(array)) - len(array)
    return np.concatenate([array, np.full(more, fill, array.dtype)])


def moved(values: npt.NDArray[Number], to: Codes) -> npt.NDArray[Number]:
    """The values, each where `to` says (`codes.group_rows`)."""
    result = empty(len(values), values.dtype)
    codes.move(values, to, result)
    return result


def _numbered(column: pa.Array, field: pa.Field) -> pa.Array:
    """The values of a key in a form that Arrow can number, where equal keys are equal."""
    if pa.types.is_dictionary(column.type) and pa.types.is_floating(column.type.value_type):
        words = _numbered(column.dictionary, field)
        return pa.DictionaryArray.from_arrays(column.indices, words)
    if pa.types.is_floating(column.type):
        nulls = column.is_null().to_numpy(zero_copy_only=False)
        values = column.to_numpy(zero_copy_only=False) + 0  # there is one zero,
        values[np.isnan(values)] = np.nan  # and one NaN
        return pa.array(values, column.type, mask=nulls)
    return column.cast(field.type) if pa.types.is_decimal(column.type) else column


def key_field(schema: pa.Schema, path: tuple[str, ...]) -> pa.Field:
    """The name and the type of a key column, or an error if the events do not have it."""
    if path[0] not in schema.names:
        raise DataError(
            f"the key column {'.'.join(path)!r} is not in the events",
            hint=did_you_mean(path[0], schema.names),
        )
    field = schema.field(path[0])
    for step in path[1:]:
        field = field.type.field(step)
    kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    if pa.types.is_nested(kind):
        raise DataError(
            f"the key column {'.'.join(path)!r} has the type {kind}, which cannot be a key",
            hint=f"name one of its fields: {'.'.join(path)}.…"
            if pa.types.is_struct(kind)
            else "keys are numbers, texts, booleans or times",
        )
    if pa.types.is_decimal32(kind) or pa.types.is_decimal64(kind):
        kind = pa.decimal128(kind.precision, kind.scale)  # Arrow numbers the values of no smaller
    return pa.field(".".join(path), kind)
