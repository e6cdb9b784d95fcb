"""Values ↔ bytes: one tag per value, lengths before contents, the same bytes for equal values.

Arrays and Arrow data are written as they lie in memory. Reading trusts nothing: every length is
compared with the bytes that are left before anything is made of it, nesting is bounded, and
anything that is not in the tables below is refused. So memory grows only with the bytes, and the
only error is a SnapshotError.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from datetime import date, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa

from cereus.errors import SnapshotError
from cereus.state import arrow
from cereus.state.classes import BY_CLASS, BY_NAME
from cereus.state.damage import damaged

DEEPEST = 300
"""The deepest nesting of values; the states of automata that run are not deeper either."""
MOST_DIMENSIONS = 4
TIMES = tuple(f"<{kind}8[{unit}]" for kind in "Mm" for unit in ("s", "ms", "us", "ns"))
DTYPES = tuple(
    map(np.dtype, ("|b1", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8", "<f2", "<f4",
                   "<f8", *TIMES))
)  # fmt: skip
"""The kinds of numbers in arrays; a snapshot knows them by their places here."""
DTYPE_NUMBERS = {dtype: number for number, dtype in enumerate(DTYPES)}
DAY = timedelta(days=1)
MICROSECOND = timedelta(microseconds=1)
EPOCH = datetime(1, 1, 1)

INT64 = struct.Struct("<q")
FLOAT64 = struct.Struct("<d")


def encode(value: Any) -> bytes:
    """The bytes of a value; a TypeError if a state cannot hold it."""
    parts: list[Any] = []
    _write(parts, value, 0)
    return b"".join(parts)


def decode(data: bytes | memoryview) -> Any:
    """The value that these bytes stand for, or a SnapshotError."""
    reader = _Reader(data)
    try:
        value = reader.value()
    except SnapshotError:
        raise
    except (ValueError, TypeError, ArithmeticError, LookupError, RecursionError, ImportError,
            OSError, MemoryError, struct.error, pa.ArrowException) as error:  # fmt: skip
        raise damaged(error) from None
    if reader.at != reader.end:
        raise damaged("there is more than its state")
    return value


# ---------------------------------------------------------------- writing


def _write(out: list[Any], value: Any, depth: int) -> None:
    writer = WRITERS.get(type(value))
    if writer is None:
        writer = _writer_for(value)
    if depth > DEEPEST:
        raise SnapshotError("the state is nested too deeply to be saved")
    writer(out, value, depth)


def _writer_for(value: Any) -> Callable[[list[Any], Any, int], None]:
    """The writer of a value whose class is not in the table itself."""
    if type(value) in BY_CLASS:
        return _write_instance
    if isinstance(value, pa.Array):
        return _write_arrow_array
    if isinstance(value, np.generic):
        return _write_scalar
    if type(value).__module__.startswith("pandas"):
        return _write_pandas
    raise TypeError(f"a {type(value).__module__}.{type(value).__qualname__} cannot be saved")


def size_of(count: int) -> bytes:
    """A length: seven bits a byte, low ones first, with a 1 before all except the last."""
    if count < 128:
        return bytes((count,))
    digits = bytearray()
    while count > 127:
        digits.append(count & 127 | 128)
        count >>= 7
    digits.append(count)
    return bytes(digits)


def _write_int(out: list[Any], value: int, depth: int) -> None:
    if -(2**63) <= value < 2**63:
        out.append(b"i" + INT64.pack(value))
    else:
        length = value.bit_length() // 8 + 1
        out += (b"I", size_of(length), value.to_bytes(length, "little", signed=True))


def _write_text(out: list[Any], value: str, depth: int) -> None:
    data = value.encode("utf-8", "surrogatepass")
    out += (b"s", size_of(len(data)), data)


def _write_bytes(out: list[Any], value: bytes, depth: int) -> None:
    out += (b"b", size_of(len(value)), value)


def _write_decimal(out: list[Any], value: Decimal, depth: int) -> None:
    data = str(value).encode()
    out += (b"D", size_of(len(data)), data)


def _write_many(tag: bytes) -> Callable[[list[Any], Any, int], None]:
    def write(out: list[Any], values: Any, depth: int) -> None:
        out += (tag, size_of(len(values)))
        for value in values:
            _write(out, value, depth + 1)

    return write


def _write_set(out: list[Any], values: frozenset[Any], depth: int) -> None:
    """Write the members in the order of their bytes, since a set has no order."""
    parts = []
    for value in values:
        part: list[Any] = []
        _write(part, value, depth + 1)
        parts.append(b"".join(part))
    out += (b"<", size_of(len(parts)), *sorted(parts))


def _write_dict(out: list[Any], values: dict[Any, Any], depth: int) -> None:
    out += (b"{", size_of(len(values)))
    for key, value in values.items():
        _write(out, key, depth + 1)
        _write(out, value, depth + 1)


def _write_instance(out: list[Any], value: Any, depth: int) -> None:
    entry = BY_CLASS[type(value)]
    name = entry.name.encode()
    out += (b"C", size_of(len(name)), name)
    for each in entry.fields_of(value):
        _write(out, each, depth + 1)


def _write_timedelta(out: list[Any], value: timedelta, depth: int) -> None:
    out.append(b"l")
    _write_int(out, value // MICROSECOND, depth)


def _write_datetime(out: list[Any], value: datetime, depth: int) -> None:
    since = value.replace(tzinfo=None, fold=0) - EPOCH
    out.append(b"t" + bytes((value.fold,)))
    _write_int(out, since // MICROSECOND, depth)
    _write_zone(out, value.tzinfo, value.utcoffset(), depth)


def _write_time(out: list[Any], value: time, depth: int) -> None:
    since = datetime.combine(EPOCH, value.replace(tzinfo=None, fold=0)) - EPOCH
    out.append(b"c" + bytes((value.fold,)))
    _write_int(out, since // MICROSECOND, depth)
    _write_zone(out, value.tzinfo, value.utcoffset(), depth)


def _write_zone(out: list[Any], zone: tzinfo | None, offset: timedelta | None, depth: int) -> None:
    """None, the name of a zone, or how far from UTC the time is."""
    name = zone.key if isinstance(zone, ZoneInfo) else None
    known = offset if name is None else name
    _write(out, known, depth + 1)


def _write_pandas(out: list[Any], value: Any, depth: int) -> None:
    kind = type(value).__name__
    if kind not in ("Timestamp", "Timedelta", "NaTType"):
        raise TypeError(f"a {type(value).__module__}.{kind} cannot be saved")
    out.append(b"q" if kind == "Timedelta" else b"p")
    _write_int(out, value.value if kind != "NaTType" else -(2**63), depth)
    if kind != "Timedelta":
        _write_zone(out, getattr(value, "tzinfo", None), value.utcoffset() if kind == "Timestamp"
                    and value.tzinfo else None, depth)  # fmt: skip


def _write_array(out: list[Any], value: np.ndarray[Any, Any], depth: int) -> None:
    number = DTYPE_NUMBERS.get(value.dtype)
    if number is None or value.ndim > MOST_DIMENSIONS:
        raise TypeError(f"an array of {value.dtype} in {value.ndim} dimensions cannot be saved")
    sizes = b"".join(size_of(each) for each in value.shape)
    out.append(b"a" + bytes((number, value.ndim)) + sizes)
    # a view of bytes: the array is copied once, when all parts are joined
    flat: Any = np.ascontiguousarray(value).reshape(-1)
    out.append(memoryview(flat.view(np.uint8)))


def _write_scalar(out: list[Any], value: np.generic, depth: int) -> None:
    if value.dtype not in DTYPE_NUMBERS:
        raise TypeError(f"a number of type {value.dtype} cannot be saved")
    out.append(b"n")
    _write_array(out, np.array(value), depth)


def _write_arrow_array(out: list[Any], value: pa.Array, depth: int) -> None:
    out.append(b"A")
    _sized(out, arrow.table_bytes(pa.table({"": value})))


def _write_table(out: list[Any], value: pa.Table, depth: int) -> None:
    out.append(b"B")
    _sized(out, arrow.table_bytes(value))


def _write_schema(out: list[Any], value: pa.Schema, depth: int) -> None:
    out.append(b"S")
    _sized(out, value.serialize())


def _sized(out: list[Any], data: pa.Buffer) -> None:
    out += (size_of(data.size), memoryview(data))


WRITERS: dict[type, Callable[[list[Any], Any, int], None]] = {
    type(None): lambda out, value, depth: out.append(b"N"),
    bool: lambda out, value, depth: out.append(b"T" if value else b"F"),
    int: _write_int,
    float: lambda out, value, depth: out.append(b"f" + FLOAT64.pack(value)),
    str: _write_text,
    bytes: _write_bytes,
    Decimal: _write_decimal,
    date: lambda out, value, depth: out.append(b"d" + INT64.pack(value.toordinal())),
    datetime: _write_datetime,
    time: _write_time,
    timedelta: _write_timedelta,
    tuple: _write_many(b"("),
    list: _write_many(b"["),
    frozenset: _write_set,
    dict: _write_dict,
    np.ndarray: _write_array,
    pa.Table: _write_table,
    pa.Schema: _write_schema,
}


# ---------------------------------------------------------------- reading


class Container(NamedTuple):
    """A value that is made of others: how many come, and how to make it from them."""

    size: int
    made_of: Callable[[list[Any]], Any]


class _Reader:
    """Reads values from the front to the end of some bytes."""

    def __init__(self, data: bytes | memoryview) -> None:
        self.data = memoryview(data).cast("B")
        self.end = len(self.data)
        self.at = 0

    def value(self) -> Any:
        """The next value, without recursion: `open` are the containers around it, each with its
        values so far."""
        open_: list[tuple[Container, list[Any]]] = []
        while True:
            item = self._item()
            while not isinstance(item, Container) or not item.size:
                if isinstance(item, Container):
                    item = item.made_of([])
                if not open_:
                    return item
                container, values = open_[-1]
                values.append(item)
                if len(values) < container.size:
                    break
                open_.pop()
                item = container.made_of(values)
            else:
                if len(open_) >= DEEPEST:
                    raise damaged("it is nested too deeply")
                open_.append((item, []))

    def _item(self) -> Any:
        """A value, or the beginning of a container."""
        tag = self.byte()
        read = READERS.get(tag)
        if read is None:
            raise damaged(f"it holds something unexpected, tag {tag}")
        return read(self)

    def passed(self, count: int) -> int:
        """Read the next `count` bytes, and return where they begin."""
        begin = self.at
        self.at = begin + count
        if self.at > self.end:
            raise damaged("it is cut short")
        return begin

    def byte(self) -> int:
        return self.data[self.passed(1)]

    def take(self, count: int) -> memoryview:
        begin = self.passed(count)
        return self.data[begin : self.at]

    def size(self) -> int:
        """A length: of bytes, or of values, each of which takes a byte at least."""
        digit = size = self.byte()
        shift = 0
        while digit > 127:
            shift += 7
            if shift > 56:
                raise damaged("a length has too many digits")
            digit = self.byte()
            size += (digit - 1) << shift  # the 1 before the digits so far is not part of them
        if size > self.end:
            raise damaged("a length is beyond its end")
        return size

    def bytes(self) -> memoryview:
        return self.take(self.size())

    def text(self) -> str:
        return str(self.bytes(), "utf-8", "surrogatepass")

    def int64(self) -> int:
        return int(INT64.unpack_from(self.data, self.passed(8))[0])

    def float64(self) -> float:
        """A number; NaN is always the same object, for comparisons of states
        (`automata.memory`)."""
        value: float = FLOAT64.unpack_from(self.data, self.passed(8))[0]
        return value if value == value else math.nan


def expect(kind: type, value: Any) -> Any:
    if type(value) is not kind:
        raise damaged(f"it holds a {type(value).__name__} where a {kind.__name__} belongs")
    return value


def _read_decimal(reader: _Reader) -> Decimal:
    value = Decimal(str(reader.bytes(), "ascii"))
    if value.is_snan():  # it raises an error wherever it is compared
        raise damaged("it holds a signalling NaN")
    return value


def _dict_of(items: list[Any]) -> dict[Any, Any]:
    return dict(zip(items[::2], items[1::2], strict=True))


def _read_instance(reader: _Reader) -> Container:
    name = reader.text()
    entry = BY_NAME.get(name)
    if entry is None:
        raise damaged(f"it holds a state class {name!r}")
    return Container(entry.size, lambda items: entry.made_of(*items))


def _since(value: Any) -> timedelta:
    return MICROSECOND * int(expect(int, value))


def _zone(known: Any) -> tzinfo | None:
    if known is None:
        return None
    return ZoneInfo(known) if isinstance(known, str) else timezone(expect(timedelta, known))


def _read_datetime(reader: _Reader) -> Container:
    fold = reader.byte()
    return Container(
        2, lambda items: (EPOCH + _since(items[0])).replace(tzinfo=_zone(items[1]), fold=fold)
    )


def _read_time(reader: _Reader) -> Container:
    fold = reader.byte()

    def made_of(items: list[Any]) -> time:
        since = _since(items[0])
        if not timedelta() <= since < DAY:
            raise damaged("it holds a time outside the day")
        return (EPOCH + since).time().replace(tzinfo=_zone(items[1]), fold=fold)

    return Container(2, made_of)


def _timestamp_of(items: list[Any]) -> Any:
    nanoseconds, zone = expect(int, items[0]), _zone(items[1])
    value = _pandas().Timestamp(nanoseconds)
    return value if zone is None else value.tz_localize("UTC").tz_convert(zone)


def _pandas() -> Any:
    try:
        import pandas
    except ImportError:
        raise SnapshotError(
            "the snapshot holds times with nanoseconds", hint="install pandas to restore it"
        ) from None
    return pandas


def _read_array(reader: _Reader) -> np.ndarray[Any, Any]:
    number, dimensions = reader.take(2)
    if number >= len(DTYPES) or dimensions > MOST_DIMENSIONS:
        raise damaged("it holds an array of another kind")
    shape = tuple(reader.size() for _ in range(dimensions))
    dtype = DTYPES[number]
    data = np.frombuffer(reader.take(math.prod(shape) * dtype.itemsize), dtype)
    if dtype == np.bool_ and data.view(np.uint8).max(initial=0) > 1:
        raise damaged("it holds a truth value that is neither true nor false")
    return data.reshape(shape).copy()


def _scalar_of(items: list[Any]) -> Any:
    (value,) = items
    if not isinstance(value, np.ndarray) or value.ndim:
        raise damaged("it holds several numbers where one belongs")
    return value[()]


def _read_arrow_array(reader: _Reader) -> pa.Array:
    table = arrow.table_from(reader.bytes())
    if table.num_columns != 1:
        raise damaged("it holds several columns where one belongs")
    return table.column(0).combine_chunks()


READERS: dict[int, Callable[[_Reader], Any]] = {
    ord(tag): read
    for tag, read in {
        "N": lambda reader: None,
        "T": lambda reader: True,
        "F": lambda reader: False,
        "i": lambda reader: reader.int64(),
        "I": lambda reader: int.from_bytes(reader.bytes(), "little", signed=True),
        "f": lambda reader: reader.float64(),
        "s": lambda reader: reader.text(),
        "b": lambda reader: bytes(reader.bytes()),
        "D": _read_decimal,
        "d": lambda reader: date.fromordinal(reader.int64()),
        "t": _read_datetime,
        "c": _read_time,
        "l": lambda reader: Container(1, lambda items: _since(items[0])),
        "p": lambda reader: Container(2, _timestamp_of),
        "q": lambda reader: Container(1, lambda it: _pandas().Timedelta(expect(int, it[0]))),
        "(": lambda reader: Container(reader.size(), tuple),
        "[": lambda reader: Container(reader.size(), list),
        "<": lambda reader: Container(reader.size(), frozenset),
        "{": lambda reader: Container(2 * reader.size(), _dict_of),
        "C": _read_instance,
        "a": _read_array,
        "n": lambda reader: Container(1, _scalar_of),
        "A": _read_arrow_array,
        "B": lambda reader: arrow.table_from(reader.bytes()),
        "S": lambda reader: arrow.schema_from(reader.bytes()),
    }.items()
}
