"""Checks values that are read from a state: the right kind and size, numbers within their bounds.

A digest detects damage, but whoever writes the bytes writes the digest too. So before compiled code
sees an array, everything that it relies on is checked here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.state.damage import damaged

LOWEST, HIGHEST = -(2**63), 2**63 - 1
LARGEST_COUNT = 2**62
"""Rows, positions and ordinals stay below this, so that sums and differences of them fit."""


def refuse_unless(true: object, what: str) -> None:
    if not true:
        raise damaged(what)


def array(value: Any, what: str, dtype: Any, *shape: int | None) -> npt.NDArray[Any]:
    """An array of one kind; None is a dimension of any length."""
    fits = (
        isinstance(value, np.ndarray)
        and value.dtype == dtype
        and value.ndim == len(shape)
        and all(want in (None, have) for want, have in zip(shape, value.shape, strict=True))
    )
    refuse_unless(fits, f"{what} is not an array of {np.dtype(dtype)} of the right shape")
    result: npt.NDArray[Any] = value
    return result


def integers(value: Any, what: str, length: int | None = None) -> npt.NDArray[np.int64]:
    return array(value, what, np.int64, length)


def codes(value: Any, what: str, length: int | None = None) -> npt.NDArray[np.int32]:
    return array(value, what, np.int32, length)


def within(values: npt.NDArray[Any], low: int, end: int, what: str) -> None:
    """Check that low ≤ every value < end."""
    if values.size:
        inside = int(values.min()) >= low and int(values.max()) < end
        refuse_unless(inside, f"{what} is out of range")


def ascending(values: npt.NDArray[Any], what: str) -> None:
    refuse_unless(bool(np.all(values[1:] >= values[:-1])), f"{what} is out of order")


def integer(value: Any, what: str, low: int = LOWEST, end: int = HIGHEST + 1) -> int:
    refuse_unless(type(value) is int and low <= value < end, f"{what} is not a number in its range")
    result: int = value
    return result


def count(value: Any, what: str) -> int:
    return integer(value, what, 0, LARGEST_COUNT)


def number(value: Any, what: str) -> int | float:
    """A whole number or a float, and not NaN."""
    refuse_unless(type(value) in (int, float) and value == value, f"{what} is not a number")
    result: int | float = value
    return result


def flag(value: Any, what: str) -> bool:
    return bool(of_type(value, bool, what))


def of_type(value: Any, kind: type, what: str) -> Any:
    refuse_unless(type(value) is kind, f"{what} is not a {kind.__name__}")
    return value


def column(value: Any, what: str, kind: pa.DataType, length: int | None = None) -> pa.Array:
    """An Arrow array of a type."""
    fits = isinstance(value, pa.Array) and value.type == kind and length in (None, len(value))
    refuse_unless(fits, f"{what} is not a column of {kind}")
    return value


def table(value: Any, what: str, schema: pa.Schema, length: int | None = None) -> pa.Table:
    fits = (
        isinstance(value, pa.Table)
        and [*zip(value.column_names, value.schema.types, strict=True)]
        == [*zip(schema.names, schema.types, strict=True)]
        and length in (None, value.num_rows)
    )
    refuse_unless(fits, f"{what} does not have the columns of this query")
    if value.schema.equals(schema):
        return value
    return pa.Table.from_arrays(value.columns, schema=schema)  # which columns may have nulls


def without_nulls(values: pa.Array | pa.ChunkedArray, what: str) -> None:
    """Check that a column, and its lists, have no nulls."""
    refuse_unless(not values.null_count, f"{what} is not known")
    if pa.types.is_list(values.type):
        for chunk in values.chunks if isinstance(values, pa.ChunkedArray) else [values]:
            without_nulls(chunk.flatten(), what)
