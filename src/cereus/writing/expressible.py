"""Turns rows of Arrow into Python values. Python does not have all of them: its times end with the
year 9999, and its texts are UTF-8."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from cereus.errors import DataError, not_utf8

Rows = TypeVar("Rows", pa.Table, pa.RecordBatch)
Retyping = Callable[[pa.DataType], pa.DataType]
AS_ARROW = "read the Arrow table: matches.table"


@contextmanager
def expressing(what: str, hint: str = AS_ARROW) -> Iterator[None]:
    """Turn errors of Arrow or Python inside into errors about values that cannot be expressed."""
    try:
        yield
    except (MemoryError, pa.ArrowCancelled):
        raise  # nothing is wrong with the values
    except UnicodeDecodeError as error:
        raise not_utf8(error) from None
    except (pa.ArrowException, OverflowError, ValueError) as error:
        reason = str(error).partition("\n")[0]
        raise DataError(f"{what} cannot express: {reason}", hint=hint) from None


def python_rows(rows: pa.Table | pa.RecordBatch) -> list[dict[str, Any]]:
    with expressing("these matches have times that Python"):
        return rows.to_pylist()  # type: ignore[no-any-return]


def pandas_frame(table: pa.Table) -> Any:
    """The table as a DataFrame of pandas."""
    with expressing("these rows have values that pandas"):
        return table.to_pandas()


def shown_rows(rows: Rows) -> list[dict[str, Any]]:
    """Rows for people: times that Python does not have become numbers, texts that are not UTF-8
    become bytes."""
    return python_rows(expressible(rows))


def expressible(rows: Rows) -> Rows:
    """The same rows. Columns of times that Python does not have become numbers, and columns of
    texts that are not UTF-8 become bytes."""
    for place, column in enumerate(rows.columns):
        known = _known(column)
        if known.type != column.type:
            rows = rows.set_column(place, rows.schema.names[place], known)
    return rows


def _known(column: Any) -> Any:
    """A column whose values Python has. Texts are checked first, since checking times reads
    them."""
    for change, is_known in ((_bytes, _is_text), (_numbers, _is_time)):
        kind = _retyped(column.type, change)
        if kind != column.type and not is_known(column, kind):
            plain = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
            column = column.cast(plain).cast(kind)
    return column


def _bytes(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_string(kind):
        return pa.binary()
    return pa.large_binary() if pa.types.is_large_string(kind) else kind


def _numbers(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_timestamp(kind) or pa.types.is_duration(kind) or pa.types.is_date64(kind):
        return pa.int64()
    return pa.int32() if pa.types.is_date32(kind) else kind


def _retyped(kind: pa.DataType, change: Retyping) -> pa.DataType:
    """A type with others in place of the types of single values, wherever they are in it."""

    def of_field(field: pa.Field) -> pa.Field:
        return field.with_type(_retyped(field.type, change))

    if pa.types.is_list(kind):
        return pa.list_(of_field(kind.value_field))
    if pa.types.is_large_list(kind):
        return pa.large_list(of_field(kind.value_field))
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(of_field(kind.value_field), kind.list_size)
    if pa.types.is_map(kind):
        return pa.map_(of_field(kind.key_field), of_field(kind.item_field))
    if pa.types.is_struct(kind):
        return pa.struct([of_field(field) for field in kind])
    if pa.types.is_dictionary(kind):
        plain = _retyped(kind.value_type, change)
        return kind if plain == kind.value_type else plain
    return change(kind)


def _is_text(column: Any, _: pa.DataType) -> bool:
    """Whether all texts of a column are UTF-8."""
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _is_time(column: Any, numbers: pa.DataType) -> bool:
    """Whether Python has all times of a column."""
    try:
        if pa.types.is_integer(numbers) and not pa.types.is_dictionary(column.type):
            edges = pc.min_max(column.cast(numbers))
            pa.array(edges.as_py().values(), numbers).cast(column.type).to_pylist()
        else:
            column.to_pylist()
    except (OverflowError, ValueError):
        return False
    return True
