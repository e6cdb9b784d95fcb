"""Decimals as integers: in units of their last digit."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

EXACT_DIGITS = 15
"""Decimals of at most so many digits are ordered, and equal, as the doubles next to them are."""
MOST_DIGITS = 18
"""Decimals of at most so many digits are counted in 64 bits."""
DIGITS_OF_WORDS, WORDS = 38, 3
"""Decimals of at most so many digits are three words."""
UNCOUNTED = 1000
"""More digits than any decimal has."""
FEW_DIGITS = 12
"""The sum of a million of such decimals is counted in 64 bits."""
INTEGER_DIGITS = {8: 3, 16: 5, 32: 10, 64: 20}
"""The most decimal digits of integers, by their bits."""


def is_exact(type_: pa.DataType | None) -> bool:
    """Whether these are decimals, or integers."""
    return type_ is not None and bool(pa.types.is_decimal(type_) or pa.types.is_integer(type_))


def scale_and_digits(types: Sequence[pa.DataType]) -> tuple[int, int]:
    """The digits behind the point that all values of these types need, and the most digits that
    they have then."""
    scale = max(max(_scale(type_), 0) for type_ in types)
    return scale, max(digits_at(scale, type_) for type_ in types)


def digits_at(scale: int, type_: pa.DataType) -> int:
    """The most digits of values of a type with so many of them behind the point."""
    return _before_the_point(type_) + scale


def words_of(units: int) -> tuple[int, int, int]:
    """Units as words that are ordered as they are, one after the other: what is above 64 bits, the
    next 63, and the last one. So no word is the least number of 64 bits, which is NULL."""
    low = units & 2**64 - 1
    return units >> 64, low >> 1, low & 1


def digits(type_: pa.DataType) -> int:
    """The most digits of a decimal, as values of one event are."""
    if pa.types.is_dictionary(type_) or pa.types.is_run_end_encoded(type_):
        return digits(type_.value_type)
    return scale_and_digits([type_])[1]


def _scale(type_: pa.DataType) -> int:
    return type_.scale if pa.types.is_decimal(type_) else 0


def _before_the_point(type_: pa.DataType) -> int:
    if pa.types.is_decimal(type_):
        return int(type_.precision - type_.scale)
    return INTEGER_DIGITS[type_.bit_width]
