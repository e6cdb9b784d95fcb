"""Aggregates of matches. If one value is emitted for each match, its rows are reduced in place;
else the rows are ranges of an array. The ranges of one match begin at the same place, and those of
different matches do not overlap, so a running aggregate is a scan."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cereus.engine.memory import empty
from cereus.engine.ranges import ranges
from cereus.expr.arrow.operators import as_float
from cereus.expr.arrow.vector import from_arrow
from cereus.expr.python.aggregates import percentile
from cereus.expr.types import Kind
from cereus.languages.match_recognize.lists import (
    COLLECTED,
    collected,
    collected_type,
    taken,
    taken_type,
)
from cereus.languages.match_recognize.match.matching import RowMatches
from cereus.languages.match_recognize.output import functions
from cereus.languages.match_recognize.output import scan_kernel as scan
from cereus.languages.match_recognize.values import Then

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


SPREADS = ("stddev_samp", "stddev_pop", "var_samp", "var_pop")
ONE_VALUE = frozenset(
    ("count", "count_if", "bool_and", "bool_or", "sum", "avg", "min", "max", *SPREADS)
)
"""Aggregates that one pass over the rows of a match computes."""
EVERY_ROW = np.zeros(0, np.uint8)
"""The kernel's mark for a column without nulls."""


class Reducer(Protocol):
    """Reduces a column to one value for each cell of the output. `valid` is None where no value
    is null."""

    def counts(self, valid: Bools | None) -> Ints:
        """How many values there are."""

    def sums(self, numbers: Ints) -> Ints:
        """Sums of whole numbers, modulo 2**64."""

    def ints(self, numbers: Ints, valid: Bools | None, how: int) -> Ints:
        """One of `functions` over whole numbers."""

    def floats(self, numbers: Floats, valid: Bools | None, how: int) -> Floats:
        """One of `functions` over floats."""


@dataclass(frozen=True)
class WholeMatches:
    """One value for each match, over its rows in the states that are `chosen`; columns have an
    entry for every row of the table."""

    matches: RowMatches
    offsets: Ints
    moves: Ints
    chosen: npt.NDArray[np.uint8]

    def counts(self, valid: Bools | None) -> Ints:
        out = empty(len(self.matches), np.int64)
        rows = (self.matches.states, self.offsets, self.moves, self.chosen)
        scan.counted(*rows, _marks(valid), out)
        return out

    def sums(self, numbers: Ints) -> Ints:
        return self.ints(numbers, None, functions.SUM)

    def ints(self, numbers: Ints, valid: Bools | None, how: int) -> Ints:
        out = empty(len(self.matches), np.int64)
        rows = (self.matches.states, self.offsets, self.moves, self.chosen)
        scan.reduced_ints(numbers, _marks(valid), *rows, how, out)
        return out

    def floats(self, numbers: Floats, valid: Bools | None, how: int) -> Floats:
        out = empty(len(self.matches), np.float64)
        rows = (self.matches.states, self.offsets, self.moves, self.chosen)
        scan.reduced_floats(numbers, _marks(valid), *rows, how, out)
        return out


@dataclass(frozen=True)
class Segments:
    """Range i goes from low[i] to high[i]; `first` marks where a match's rows begin."""

    low: Ints
    high: Ints
    first: npt.NDArray[np.uint8]

    @cached_property
    def empty(self) -> Bools:
        return self.high <= self.low

    @cached_property
    def last(self) -> Ints:
        return np.where(self.empty, 0, self.high - 1)

    def ends(self, running: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """A scan's value at the end of each range."""
        if not len(running):
            return np.zeros(len(self.low), running.dtype)
        return running[self.last]

    def counts(self, valid: Bools | None) -> Ints:
        if valid is None:
            return np.where(self.empty, 0, self.high - self.low)
        return self.sums(valid.astype(np.int64))

    def sums(self, numbers: Ints) -> Ints:
        """Sums of whole numbers as differences of one running sum."""
        total = np.zeros(len(numbers) + 1, np.int64)
        np.cumsum(numbers, out=total[1:])
        return np.where(self.empty, 0, total[self.high] - total[self.low])

    def ints(self, numbers: Ints, valid: Bools | None, how: int) -> Ints:
        out = empty(len(numbers), np.int64)
        scan.running_ints(numbers, _marks(valid), self.first, how, out)
        return self.ends(out)

    def floats(self, numbers: Floats, valid: Bools | None, how: int) -> Floats:
        out = empty(len(numbers), np.float64)
        scan.running_floats(numbers, _marks(valid), self.first, how, out)
        return self.ends(out)


def _marks(valid: Bools | None) -> npt.NDArray[np.uint8]:
    return EVERY_ROW if valid is None else valid.view(np.uint8)


def aggregated(
    function: str,
    arguments: Sequence[pa.Array],
    segments: Segments,
    then: Sequence[Then] = (),
) -> pa.Array:
    """The aggregate of each range; null for a range without values."""
    data, *more = map(_decoded, arguments)
    if function in ONE_VALUE:
        return reduced(function, data, segments)
    if function == "array_agg" and not then:
        return _lists(data, segments)
    if function in COLLECTED:
        return _collections(function, (data, *more), segments, then)
    if function in ("max_by", "min_by"):
        return _by(data, more[0], segments, function)
    if function == "string_agg":
        return _texts(data, more, segments)
    if function == "percentile":
        return _percentiles(data, more[0], segments)
    assert function == "arbitrary", function
    return _first_known(data, segments)


def reduced(function: str, data: pa.Array, by: Reducer) -> pa.Array:
    """One of `ONE_VALUE`; null without values."""
    data = _decoded(data)
    valid = _valid(data) if data.null_count else None
    match function:
        case "count_if":
            return pa.array(by.sums(_booleans(data)))
        case "min" | "max":
            return _extremes(data, valid, by, function)
    counts = by.counts(valid)
    match function:
        case "count":
            return pa.array(counts)
        case "bool_and":
            return _masked(by.sums(_booleans(data)) == counts, counts)
        case "bool_or":
            return _masked(by.sums(_booleans(data)) > 0, counts)
        case "sum":
            return _sums(data, valid, counts, by)
        case "avg":
            return _averages(data, valid, counts, by)
    return _spread(data, valid, counts, by, function)


def _valid(data: pa.Array) -> Bools:
    return np.asarray(pc.is_valid(data)).astype(np.bool_)


def _decoded(data: pa.Array) -> pa.Array:
    return data.dictionary_decode() if isinstance(data, pa.DictionaryArray) else data


def _booleans(data: pa.Array) -> Ints:
    """1 where true, else 0."""
    return np.asarray(pc.fill_null(data.cast(pa.bool_()), False)).astype(np.int64)


def _masked(values: npt.NDArray[Any], counts: Ints) -> pa.Array:
    """The values; null where nothing was counted."""
    none = counts == 0
    return pa.array(values, mask=none if none.any() else None)


def _as_ints(data: pa.Array) -> Ints | None:
    """The values as whole numbers of 64 bits, 0 for null; None where they are not such."""
    kind = data.type
    if pa.types.is_integer(kind) and kind != pa.uint64():
        return np.asarray(pc.fill_null(data, 0)).astype(np.int64, copy=False)
    if pa.types.is_null(kind):
        return np.zeros(len(data), np.int64)
    return None


def _floats(data: pa.Array) -> npt.NDArray[np.float64]:
    vector = from_arrow(data)
    if vector.kind is Kind.NULL:
        return np.zeros(len(data))
    return np.ascontiguousarray(as_float(vector).values, np.float64)


def _integers(data: pa.Array) -> npt.NDArray[Any] | None:
    """The values as whole numbers of 64 bits, with a sign or without; None where they are not."""
    return np.asarray(pc.fill_null(data, 0)) if data.type == pa.uint64() else _as_ints(data)


def _sums(data: pa.Array, valid: Bools | None, counts: Ints, by: Reducer) -> pa.Array:
    numbers = _integers(data)
    if numbers is None:
        return _masked(by.floats(_floats(data), valid, functions.SUM), counts)
    sums = by.sums(numbers.view(np.int64))
    if _all_fit(numbers, counts):
        return _masked(sums, counts)
    return _masked(sums, np.where(_overflows(data, sums, valid, by) == 0, counts, 0))


def _all_fit(numbers: npt.NDArray[Any], counts: Ints) -> bool:
    """Whether 64 bits hold the sum of any of the values, at most as many as there are."""
    largest = max(abs(int(numbers.max(initial=0))), abs(int(numbers.min(initial=0))))
    return largest * int(counts.max(initial=0)) < 2**63


def _overflows(data: pa.Array, sums: Ints, valid: Bools | None, by: Reducer) -> Floats:
    """How many times 2**64 is missing in sums modulo 2**64. Sums of floats tell, since their error
    is less than half of that."""
    return np.rint((by.floats(_floats(data), valid, functions.SUM) - sums) / 2.0**64)


def _averages(data: pa.Array, valid: Bools | None, counts: Ints, by: Reducer) -> pa.Array:
    """Averages; those of whole numbers are computed from exact sums."""
    numbers = _integers(data)
    if numbers is None:
        total = by.floats(_floats(data), valid, functions.SUM)
    else:
        sums = by.sums(numbers.view(np.int64))
        total = sums.astype(np.float64)
        if not _all_fit(numbers, counts):
            total += 2.0**64 * _overflows(data, sums, valid, by)
    return _masked(total / np.maximum(counts, 1), counts)


def _extremes(data: pa.Array, valid: Bools | None, by: Reducer, function: str) -> pa.Array:
    how = functions.MINIMUM if function == "min" else functions.MAXIMUM
    counts = by.counts(valid)
    kind = data.type
    if pa.types.is_null(kind):
        return pa.nulls(len(counts))
    if pa.types.is_floating(kind):
        return _masked(by.floats(_floats(data), valid, how), counts).cast(kind)
    numbers = _as_ints(data)
    if numbers is not None:
        return _masked(by.ints(numbers, valid, how), counts).cast(kind)
    if pa.types.is_temporal(kind) and kind.bit_width == 64:
        numbers = np.asarray(pc.fill_null(data.view(pa.int64()), 0))
        return _masked(by.ints(numbers, valid, how), counts).view(kind)
    # Anything else that has an order: by ranks, and back.
    ordered, ranks = _ranks(data)
    best = by.ints(ranks, valid, how)
    none = counts == 0
    return ordered.take(pa.array(np.where(none, 0, best), mask=none))


def _ranks(data: pa.Array) -> tuple[pa.Array, Ints]:
    """The distinct values in order, and the rank of each value."""
    if pa.types.is_floating(data.type):
        data = pc.add(data, pa.scalar(0, data.type))  # -0.0 is 0.0
    distinct = pc.unique(data.drop_null())
    ordered = distinct.take(pc.sort_indices(distinct))
    ranks = pc.fill_null(pc.index_in(data, value_set=ordered), 0)
    return ordered, np.asarray(ranks).astype(np.int64)


def _by(data: pa.Array, compared: pa.Array, segments: Segments, function: str) -> pa.Array:
    """The value of the row where another value is greatest or least; of several rows, the first."""
    _, ranks = _ranks(compared)
    size, rows = len(ranks), np.arange(len(ranks))
    highest = function == "max_by"
    numbers = ranks * size + (size - 1 - rows if highest else rows)
    how = functions.MAXIMUM if highest else functions.MINIMUM
    valid = _valid(compared)
    if pa.types.is_floating(compared.type):
        valid &= ~np.asarray(pc.fill_null(pc.is_nan(compared), True)).astype(np.bool_)
    none = segments.sums(valid.astype(np.int64)) == 0
    best = np.where(none, 0, segments.ints(numbers, valid, how) % max(size, 1))
    return data.take(pa.array(size - 1 - best if highest else best, mask=none))


def _texts(data: pa.Array, more: Sequence[pa.Array], segments: Segments) -> pa.Array:
    """Texts joined, those that are null left out."""
    separator = more[0][0] if more and len(more[0]) else pa.scalar("")
    known = np.zeros(len(data) + 1, np.int64)
    np.cumsum(np.asarray(pc.is_valid(data)), out=known[1:])
    inside = Segments(known[segments.low], known[segments.high], segments.first)
    lists = _lists(data.drop_null(), inside)
    return pc.binary_join(lists.cast(pa.list_(pa.string())), separator.cast(pa.string()))


def _spread(
    data: pa.Array, valid: Bools | None, counts: Ints, by: Reducer, function: str
) -> pa.Array:
    """Variances, and their roots; those of a sample need two values."""
    squares = by.floats(_floats(data), valid, functions.SQUARES)
    sample = int(function.endswith("samp"))
    variances = squares / np.maximum(counts - sample, 1)
    known = np.where(counts > sample, counts, 0)
    return _masked(np.sqrt(variances) if function.startswith("stddev") else variances, known)


def _first_known(data: pa.Array, segments: Segments) -> pa.Array:
    valid = _valid(data)
    known = np.flatnonzero(valid)
    none = segments.counts(valid) == 0
    if not len(known):
        return pa.nulls(len(none), data.type)
    at = np.minimum(np.searchsorted(known, segments.low), len(known) - 1)
    return data.take(pa.array(known[at], mask=none))


def _percentiles(data: pa.Array, part: pa.Array, segments: Segments) -> pa.Array:
    """The percentile of each range: the value below which a part of the values lies, between two of
    them in proportion."""
    share = part[0].as_py() if len(part) else 0.0
    stretches = _lists(data, segments)
    shares = [None if each is None else percentile(each, share) for each in _known(stretches)]
    return pa.array(shares, pa.float64())


def _known(stretches: pa.Array) -> Iterator[list[Any] | None]:
    for each in stretches.to_pylist():
        yield None if each is None else [value for value in each if value is not None]


def _collections(
    function: str, columns: Sequence[pa.Array], segments: Segments, then: Sequence[Then]
) -> pa.Array:
    """Lists and maps of the ranges, or what is taken out of them."""
    kind = collected_type(function, [column.type for column in columns])
    for each in then:
        kind = taken_type(each.function, kind, each.given)
    cells = [column.to_pylist() for column in columns]
    emitted = []
    for low, high in zip(segments.low.tolist(), segments.high.tolist(), strict=True):
        value = collected(function, [each[low:high] for each in cells])
        for each in then:
            value = taken(each.function, value, each.given)
        emitted.append(list(value.items()) if isinstance(value, dict) else value)
    return pa.array(emitted, kind)


def _lists(data: pa.Array, segments: Segments) -> pa.Array:
    """The values of each range, nulls among them; null for a range without rows."""
    lengths = np.where(segments.empty, 0, segments.high - segments.low)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    flat = data.take(pa.array(ranges(segments.low, lengths)))
    limits = pa.array(offsets.astype(np.int32), mask=np.append(segments.empty, False))
    return pa.ListArray.from_arrays(limits, flat)
