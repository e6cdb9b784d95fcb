"""Texts → values: finds the types that the texts of a column can have, and converts them.

A column has the first of `KINDS` that all of its texts can have. The result does not depend on how
a file is cut into blocks, nor on which engine reads it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from cereus.errors import DataError, shortened
from cereus.expr.types import Kind, kind_of
from cereus.sources.reading.time_formats import likely_formats

UTC = pa.timestamp("us", "UTC")
LOCAL = pa.timestamp("us")
NUMBERS = (pa.int64(), pa.float64(), pa.bool_())
TIMES = (pa.date32(), LOCAL, UTC)
KINDS = (*NUMBERS, *TIMES)
"""The types that texts may have, the narrowest first; a text that fits none of them stays text. A
whole number can be a decimal, and a date a time, so the later types serve for mixed values."""
NUMERIC = (Kind.INTEGER, Kind.FLOAT, Kind.DECIMAL)
FEW = 16
LONG = 19
LONG_NUMBER = rf"^[+-]?\d{{{LONG},}}$"
"""Whole numbers beyond 64 bits stay text: as decimals they would lose digits."""
HEXADECIMAL = "x"
GROUPED = r"^\s*[+-]?\d{1,3}(\.\d{3})+(,\d*)?\s*$"
"""A number whose thousands are separated by points, because its decimals come after a comma."""
THOUSANDS = r"[+-]?\d{1,3}(,\d{3})+\.\d*|[+-]?\d{1,3}(,\d{3}){2,}"
"""A number whose thousands are separated by commas."""


@dataclass(frozen=True)
class Notation:
    """How the texts of files write times and numbers.

    time_format  one more way in which times are written, beside ISO 8601
    decimal      the sign before the decimals of a number: a point or a comma
    """

    time_format: str | None = None
    decimal: str = "."


PLAIN = Notation()


@dataclass
class TextKinds:
    """The types that columns of texts can have, as far as they have been read.

    considered  the types that a text may become
    notation    how their values are written
    """

    considered: tuple[pa.DataType, ...]
    notation: Notation = PLAIN
    possible: dict[str, tuple[pa.DataType, ...]] = field(default_factory=dict)
    filled: set[str] = field(default_factory=set)
    """The columns that have a value somewhere."""
    first: dict[str, str] = field(default_factory=dict)
    """The first text of a column, for messages."""

    def see(self, columns: Iterable[tuple[str, pa.ChunkedArray]]) -> None:
        for name, texts in columns:
            before = self.possible.get(name, self.considered)
            if texts.null_count < len(texts):
                if name not in self.filled:
                    self.first[name] = texts.drop_null()[0].as_py()
                self.filled.add(name)
                before = tuple(self._remaining(texts, before))
            self.possible[name] = before

    def _remaining(
        self, texts: pa.ChunkedArray, kinds: Iterable[pa.DataType]
    ) -> Iterator[pa.DataType]:
        """The types that all texts can have. Whole numbers need not be tried as decimals."""
        integers = False
        for kind in kinds:
            if integers and pa.types.is_floating(kind):
                passes = not _has_long_numbers(_with_points(texts, kind, self.notation))
            else:
                passes = self.can_be(texts, kind)
            integers = integers or (passes and pa.types.is_integer(kind))
            if passes:
                yield kind

    def can_be(self, texts: pa.ChunkedArray, kind: pa.DataType) -> bool:
        """Whether texts can have a type. A few texts are tried first: Arrow writes an error for
        every text that does not fit, which takes a hundred times as long as converting it."""
        if len(texts) > FEW and not self.can_be(texts.drop_null().slice(0, FEW), kind):
            return False
        try:
            converted(texts, kind, self.notation)
        except pa.ArrowInvalid:
            return False
        if pa.types.is_integer(kind):
            return not _any(pc.match_substring(texts, HEXADECIMAL))
        numbers = _with_points(texts, kind, self.notation)
        return not (pa.types.is_floating(kind) and _has_long_numbers(numbers))

    def kind(self, name: str, empty: pa.DataType) -> pa.DataType:
        """The type of a column; `empty` if it has no value at all."""
        if name not in self.filled:
            return empty
        possible = self.possible.get(name, ())
        return possible[0] if possible else pa.string()


def _has_long_numbers(texts: pa.ChunkedArray) -> bool:
    longest = pc.max(pc.binary_length(texts)).as_py()
    return longest >= LONG and _any(pc.match_substring_regex(texts, LONG_NUMBER))


def _any(flags: pa.ChunkedArray) -> bool:
    return bool(pc.any(flags).as_py())


def converted(
    texts: pa.ChunkedArray, kind: pa.DataType, notation: Notation = PLAIN
) -> pa.ChunkedArray:
    """Texts as values of a type. `ArrowInvalid` names the first that does not fit."""
    if pa.types.is_null(kind):  # inferred for a column without values
        return pa.chunked_array([pa.nulls(len(texts))])
    if pa.types.is_timestamp(kind) and notation.time_format is not None:
        return _times(texts, kind, notation.time_format)
    texts = _with_points(texts, kind, notation)
    return _cast(texts, kind)


def _times(texts: pa.ChunkedArray, kind: pa.DataType, time_format: str) -> pa.ChunkedArray:
    """Times that are written in the given format or in ISO 8601, each text on its own."""
    times = pc.strptime(texts, format=time_format, unit=kind.unit, error_is_null=True).cast(kind)
    others = pc.if_else(pc.is_null(times), texts, pa.scalar(None, texts.type))
    if others.null_count == len(others):
        return times
    return pc.coalesce(times, _cast(others, kind))


def _with_points(texts: pa.ChunkedArray, kind: pa.DataType, notation: Notation) -> pa.ChunkedArray:
    """Texts for numbers with a point before the decimals, and without signs between thousands. A
    text with a point elsewhere is no number any more."""
    if notation.decimal == "." or kind_of(kind) not in NUMERIC:
        return texts
    together = pc.replace_substring(texts, ".", "")
    bare = pc.if_else(pc.match_substring_regex(texts, GROUPED), together, texts)
    return pc.replace_substring(pc.replace_substring(bare, ".", "_"), ",", ".")


def _cast(texts: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    try:
        return texts.cast(kind)
    except pa.ArrowInvalid:
        return _leniently(texts, kind)


def _leniently(texts: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """The values, ignoring blanks around them and a plus before them; a time with a zone, where one
    without is needed, is taken in UTC."""
    bare = pc.utf8_trim_whitespace(texts)
    if kind_of(kind) in NUMERIC:
        bare = pc.replace_substring_regex(bare, r"^\+(\d|\.)", r"\1")
    return bare.cast(kind)


def column_of_type(
    column: pa.ChunkedArray, kind: pa.DataType, name: str, notation: Notation
) -> pa.ChunkedArray:
    """A column in a given type; a value that does not fit is an error that shows it."""
    try:
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            return _given(column, kind, notation)
        return column.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        wrong = _first_wrong(column, kind, notation)
        reason = str(error).splitlines()[0] if wrong is None else f"{shortened(wrong)!r} is not one"
        raise DataError(
            f"the column {name!r} cannot be read as {kind}: {reason}",
            hint=f'give it another type: types={{"{name}": "string"}}{_other_way(wrong, kind)}',
        ) from None


def _first_wrong(column: pa.ChunkedArray, kind: pa.DataType, notation: Notation) -> str | None:
    """The first text that cannot be read as the type. The error of Arrow may name another one: it
    tries several ways to read a column, and names what failed in the last."""
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return None

    def fails(count: int) -> bool:
        try:
            _given(column.slice(0, count), kind, notation)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            return True
        return False

    bad = 1
    while bad < len(column) and not fails(bad):
        bad *= 2
    good, bad = bad // 2, min(bad, len(column))
    while bad - good > 1:
        middle = (good + bad) // 2
        good, bad = (good, middle) if fails(middle) else (middle, bad)
    wrong: str | None = column[bad - 1].as_py() if bad else None
    return wrong


def _other_way(wrong: str | None, kind: pa.DataType) -> str:
    """A hint besides the type of the column."""
    nulls = wrong is not None and len(wrong) < 10 and not re.search(r"[\s\"]", wrong)
    null = f', or let it stand for NULL: nulls=["{wrong}"]' if nulls else ""
    if kind_of(kind) in NUMERIC and wrong and re.fullmatch(r"[+-]?[\d.]*,\d+", wrong):
        return ', or say how decimals are written: decimal=","'
    if kind_of(kind) in NUMERIC and wrong and re.fullmatch(THOUSANDS, wrong):
        return ", and take the commas out in the query: CAST(replace(x, ',', '') AS double)"
    if pa.types.is_timestamp(kind) and wrong:
        ways = ", or ".join(f'time_format="{each}"' for each in likely_formats(wrong))
        return f", or say how times are written: {ways}{null}"
    return null


def _given(texts: pa.ChunkedArray, kind: pa.DataType, notation: Notation) -> pa.ChunkedArray:
    """Times that have a zone are read with it, whether their type has one or not."""
    try:
        return converted(texts, kind, notation)
    except pa.ArrowInvalid:
        if not pa.types.is_timestamp(kind):
            raise
        other = pa.timestamp(kind.unit, "UTC" if kind.tz is None else None)
        return converted(texts, other, notation).cast(kind)
