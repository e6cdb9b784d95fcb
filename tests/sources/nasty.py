"""A folder of files that people really have, written where a test wants it.

Each is described by `Files`, and read by both engines: here, and in tests/spark/test_reading.py.
"""

from __future__ import annotations

import bz2
import gzip
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.orc as orc
import pyarrow.parquet as pq

from cereus import Files

Rows = list[dict[str, Any]]
LATE = 120_000
"""Rows before the one that changes a column's type: beyond the first block that Arrow looks at."""


def at(second: int, micro: int = 0) -> datetime:
    return datetime(2025, 3, 3, 9, 30, second, micro)


def text(path: Path, content: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    return path


def reordered(root: Path) -> tuple[Files, Rows]:
    """The second file has its columns in another order, and one more."""
    text(root / "1.csv", "ts,type,price\n1,A,10\n")
    text(root / "2.csv", "price,note,type,ts\n20,new,B,2\n")
    return Files(root), [
        {"ts": 1, "type": "A", "price": 10, "note": None},
        {"ts": 2, "type": "B", "price": 20, "note": "new"},
    ]


def header_only(root: Path) -> tuple[Files, Rows]:
    return Files(text(root / "1.csv", "ts,type,price\n")), []


def header_only_beside_others(root: Path) -> tuple[Files, Rows]:
    text(root / "1.csv", "ts,type,price\n")
    text(root / "2.csv", "ts,type,price\n1,A,1.5\n")
    text(root / "3.csv", "")
    return Files(root), [{"ts": 1, "type": "A", "price": 1.5}]


def partitions(root: Path) -> tuple[Files, Rows]:
    """Directories tell a day, which is a number, and a country, which may be NULL."""
    text(root / "day=1/country=CH/a.csv", "ts,type\n1,A\n")
    text(root / "day=2/country=a%2Fb/a.csv", "ts,type\n2,B\n")
    text(root / "day=2/country=__HIVE_DEFAULT_PARTITION__/a.csv", "ts,type\n3,B\n")
    return Files(root), [
        {"ts": 1, "type": "A", "day": 1, "country": "CH"},
        {"ts": 3, "type": "B", "day": 2, "country": None},
        {"ts": 2, "type": "B", "day": 2, "country": "a/b"},
    ]


def parquet_partitions(root: Path) -> tuple[Files, Rows]:
    for day, kind in (("2025-03-03", "A"), ("2025-03-04", "B")):
        (root / f"day={day}").mkdir(parents=True)
        pq.write_table(pa.table({"ts": [1], "type": [kind]}), root / f"day={day}" / "a b.parquet")
    return Files(root), [
        {"ts": 1, "type": "A", "day": date(2025, 3, 3)},
        {"ts": 1, "type": "B", "day": date(2025, 3, 4)},
    ]


def decimal_late(root: Path) -> tuple[Files, Rows]:
    """A column turns from whole to decimal far into the file."""
    lines = "".join(f"{row},A,{row % 7}\n" for row in range(LATE))
    text(root / "1.csv", f"ts,type,price\n{lines}{LATE},B,0.5\n")
    rows: Rows = [{"ts": r, "type": "A", "price": float(r % 7)} for r in range(LATE)]
    return Files(root), [*rows, {"ts": LATE, "type": "B", "price": 0.5}]


def decimal_in_another_file(root: Path) -> tuple[Files, Rows]:
    text(root / "1.json", '{"ts": 1, "price": 1}\n')
    text(root / "2.json", '{"ts": 2, "price": 1.5, "more": {"a": 1}}\n')
    return Files(root), [
        {"ts": 1, "price": 1.0, "more": None},
        {"ts": 2, "price": 1.5, "more": {"a": 1}},
    ]


def whole_numbers_beyond_64_bits(root: Path) -> tuple[Files, Rows]:
    """They are exact, also inside structs and lists, and beside files whose numbers are smaller."""
    text(root / "1.json", '{"id": 1, "user": {"id": 2, "x": 0.5}, "seen": [3], "x": 7}\n')
    text(
        root / "2.json",
        '{"id": 9223372036854775813, "user": {"id": 18446744073709551615, "x": 1e300},'
        ' "seen": [4, -9223372036854775809], "x": 9223372036854775813}\n'
        '{"id": 9223372036854775814, "user": {"id": 5, "x": 1}, "seen": [], "x": 0.5}\n',
    )
    return Files(root), [
        {"id": Decimal(1), "user": {"id": Decimal(2), "x": 0.5}, "seen": [Decimal(3)], "x": 7.0},
        {
            "id": Decimal(9223372036854775813),
            "user": {"id": Decimal(18446744073709551615), "x": 1e300},
            "seen": [Decimal(4), Decimal(-9223372036854775809)],
            "x": 9223372036854775813.0,
        },
        {
            "id": Decimal(9223372036854775814),
            "user": {"id": Decimal(5), "x": 1.0},
            "seen": [],
            "x": 0.5,
        },
    ]


def decimals_of_json(root: Path) -> tuple[Files, Rows]:
    """A column with a decimal type is not read as doubles first."""
    text(root / "1.json", '{"a": 0.1, "b": 9223372036854775813}\n{"a": 2, "b": null}\n')
    return Files(root, types={"a": "decimal(30, 20)", "b": "decimal(20, 0)"}), [
        {"a": Decimal("0.1").quantize(Decimal("1e-20")), "b": Decimal(9223372036854775813)},
        {"a": Decimal(2).quantize(Decimal("1e-20")), "b": None},
    ]


def parquet_of_different_types(root: Path) -> tuple[Files, Rows]:
    root.mkdir(parents=True)
    pq.write_table(pa.table({"n": pa.array([1], pa.int32()), "a": ["x"]}), root / "1.parquet")
    pq.write_table(pa.table({"b": [True], "n": [1.5]}), root / "2.parquet")
    return Files(root), [
        {"n": 1.0, "a": "x", "b": None},
        {"n": 1.5, "a": None, "b": True},
    ]


def text_times(root: Path) -> tuple[Files, Rows]:
    """Times are text in JSON; the first ones have no fraction."""
    text(
        root / "1.jsonl",
        '{"ts": "2025-03-03T09:30:00", "z": "2025-03-03T09:30:00Z", "day": "2025-03-03"}\n'
        '{"ts": "2025-03-03 09:30:01.5", "z": "2025-03-03T10:30:00+01:00", "day": "2025-03-04"}\n',
    )
    zoned = datetime(2025, 3, 3, 9, 30, tzinfo=UTC)
    return Files(root), [
        {"ts": at(0), "z": zoned, "day": date(2025, 3, 3)},
        {"ts": at(1, 500_000), "z": zoned, "day": date(2025, 3, 4)},
    ]


def nanoseconds(root: Path) -> tuple[Files, Rows]:
    """What pandas writes: Spark refuses such times, if it is not told how to read them."""
    root.mkdir(parents=True)
    times = pd.to_datetime(
        ["2025-03-03 09:30:00", None, "1960-01-01 00:00:00.000001"], format="ISO8601"
    )
    pd.DataFrame({"ts": times.astype("datetime64[ns]"), "n": [1, 2, 3]}).to_parquet(
        root / "1.parquet"
    )
    return Files(root), [
        {"ts": at(0), "n": 1},
        {"ts": None, "n": 2},
        {"ts": datetime(1960, 1, 1, 0, 0, 0, 1), "n": 3},
    ]


def kinds_of_text(root: Path) -> tuple[Files, Rows]:
    """Numbers too long for 64 bits, hexadecimal ones and mixtures stay text; blanks do not matter
    to numbers; NULL is an empty value, and a quoted empty text is one."""
    text(
        root / "1.csv",
        "id,hex,mixed,n,f,yes,empty,none,day,t\n"
        '12345678901234567890,0x1A,1, 7,1e3,true,"",,2025-03-03,2025-03-03\n'
        '1,0x2B,x,+8,-0.5,FALSE,"a ""b"", c",,2025-03-04,2025-03-03 09:30:01\n',
    )
    first = {"id": "12345678901234567890", "hex": "0x1A", "mixed": "1", "n": 7, "f": 1000.0}
    second = {"id": "1", "hex": "0x2B", "mixed": "x", "n": 8, "f": -0.5}
    return Files(root), [
        {**first, "yes": True, "empty": "", "none": None, "day": date(2025, 3, 3),
         "t": datetime(2025, 3, 3)},
        {**second, "yes": False, "empty": 'a "b", c', "none": None, "day": date(2025, 3, 4),
         "t": at(1)},
    ]  # fmt: skip


def described(root: Path) -> tuple[Files, Rows]:
    """Semicolons, no header, texts that stand for NULL, times and types of one's own."""
    text(root / "1.csv", "03.03.2025 09:30:00;A;1;007\n03.03.2025 09:30:01;B;n/a;008\n")
    return Files(
        root,
        header=["ts", "type", "price", "zip"],
        delimiter=";",
        nulls=["", "n/a"],
        time_format="%d.%m.%Y %H:%M:%S",
        types={"price": "decimal(10, 2)", "zip": "string"},
    ), [
        {"ts": at(0), "type": "A", "price": Decimal("1.00"), "zip": "007"},
        {"ts": at(1), "type": "B", "price": None, "zip": "008"},
    ]


def decimal_comma(root: Path) -> tuple[Files, Rows]:
    """Numbers with a comma before the decimals, and times in two formats in one column."""
    text(root / "1.csv", "ts;type;price;n\n2025-03-03 09:30:00;A;1.234,50;1.000\n")
    text(root / "2.csv", "ts;type;price;n\n03.03.2025 09:30:01;B;2,5;2\n"
         "2025-03-03 09:30:02;B;;3\n")  # fmt: skip
    return Files(root, delimiter=";", decimal=",", time_format="%d.%m.%Y %H:%M:%S"), [
        {"ts": at(0), "type": "A", "price": 1234.5, "n": 1000},
        {"ts": at(1), "type": "B", "price": 2.5, "n": 2},
        {"ts": at(2), "type": "B", "price": None, "n": 3},
    ]


def as_text(root: Path) -> tuple[Files, Rows]:
    text(root / "1.csv", "ts,type\n1,A\n")
    return Files(root, infer=False), [{"ts": "1", "type": "A"}]


def tabs(root: Path) -> tuple[Files, Rows]:
    return Files(text(root / "1.tsv", "ts\ttype\n1\tA,B\n")), [{"ts": 1, "type": "A,B"}]


def multiline(root: Path) -> tuple[Files, Rows]:
    text(root / "1.csv", 'ts,note\n1,"two\nlines"\n2,one\n')
    return Files(root, multiline=True), [{"ts": 1, "note": "two\nlines"}, {"ts": 2, "note": "one"}]


def compressed(root: Path) -> tuple[Files, Rows]:
    root.mkdir(parents=True)
    (root / "1.csv.gz").write_bytes(gzip.compress(b"ts,type\n1,A\n"))
    (root / "2.csv.bz2").write_bytes(bz2.compress(b"ts,type\n2,B\n"))
    (root / "3.csv.zst").write_bytes(pa.compress(b"ts,type\n3,C\n", codec="zstd", asbytes=True))
    return Files(root), [{"ts": n, "type": k} for n, k in ((1, "A"), (2, "B"), (3, "C"))]


def compressed_json(root: Path) -> tuple[Files, Rows]:
    root.mkdir(parents=True)
    (root / "1.jsonl.gz").write_bytes(gzip.compress(b'{"ts": 1}\n{"ts": 2}\n'))
    return Files(root), [{"ts": 1}, {"ts": 2}]


def pattern(root: Path) -> tuple[Files, Rows]:
    text(root / "a1.csv", "ts\n1\n")
    text(root / "a2.csv", "ts\n2\n")
    text(root / "b1.csv", "ts\n3\n")
    return Files(root / "a*.csv"), [{"ts": 1}, {"ts": 2}]


def arrow_files(root: Path) -> tuple[Files, Rows]:
    root.mkdir(parents=True)
    feather.write_feather(pa.table({"ts": [1], "type": ["A"]}), root / "1.arrow")
    return Files(root), [{"ts": 1, "type": "A"}]


def orc_files(root: Path) -> tuple[Files, Rows]:
    root.mkdir(parents=True)
    orc.write_table(pa.table({"ts": [1, 2], "type": ["A", "B"]}), root / "1.orc")
    return Files(root), [{"ts": 1, "type": "A"}, {"ts": 2, "type": "B"}]


def with_a_byte_order_mark(root: Path) -> tuple[Files, Rows]:
    return Files(text(root / "1.csv", "\ufeffts,type\r\n1,A\r\n")), [{"ts": 1, "type": "A"}]


Nasty = Callable[[Path], tuple[Files, Rows]]
NASTY: tuple[Nasty, ...] = (
    reordered, header_only, header_only_beside_others, partitions, parquet_partitions,
    decimal_late, decimal_in_another_file,
    whole_numbers_beyond_64_bits, decimals_of_json,
    parquet_of_different_types, text_times, nanoseconds,
    kinds_of_text, described, decimal_comma, as_text, tabs, multiline, compressed,
    compressed_json, pattern,
    arrow_files, orc_files, with_a_byte_order_mark,
)  # fmt: skip


# ---------------------------------------------------------------- what is refused


def duplicate_columns(root: Path) -> tuple[Files, str]:
    return Files(text(root / "1.csv", "ts,type,ts\n1,A,2\n")), "1.csv' has two columns 'ts'"


def short_row(root: Path) -> tuple[Files, str]:
    made = Files(text(root / "1.csv", "ts,type\n1,A\n2\n"))
    return made, "line 3: there are 1 values and 2 columns"


def long_row(root: Path) -> tuple[Files, str]:
    made = Files(text(root / "1.csv", "ts,type\n1,A\n2,B,C\n"))
    return made, "line 3: there are 3 values and 2 columns"


def missing_column(root: Path) -> tuple[Files, str]:
    made = text(root / "1.csv", "ts,type\n1,A\n")
    declared = {"ts": "int", "type": "string", "price": "double"}
    return Files(made, schema=declared), "1.csv' lacks the column 'price'"


def extra_column(root: Path) -> tuple[Files, str]:
    made = text(root / "1.csv", "ts,type,price\n1,A,2\n")
    return Files(made, schema={"ts": "int", "type": "string"}), "has one more column, 'price'"


def text_and_number(root: Path) -> tuple[Files, str]:
    text(root / "1.json", '{"n": 1}\n')
    text(root / "2.json", '{"n": "x"}\n')
    return Files(root), "the column 'n' of '.*1.json' has the type int64, but string in '.*2.json'"


def not_of_the_given_type(root: Path) -> tuple[Files, str]:
    made = text(root / "1.csv", "ts,price\n1,2\n2,x\n")
    return Files(made, types={"price": "double"}), "'price' cannot be read as double: .*'x'"


def type_of_no_column(root: Path) -> tuple[Files, str]:
    made = text(root / "1.csv", "ts,price\n1,2\n")
    return Files(made, types={"prise": "double"}), "no column 'prise', whose type is given"


def an_array(root: Path) -> tuple[Files, str]:
    return Files(text(root / "1.json", '[{"ts": 1}]')), "cannot read .* as json"


def nothing_like_it(root: Path) -> tuple[Files, str]:
    return Files(root / "*.csv"), "no file is called like"


def not_parquet(root: Path) -> tuple[Files, str]:
    return Files(text(root / "1.parquet", "ts,type\n")), "cannot read .* as parquet"


Refused = Callable[[Path], tuple[Files, str]]
REFUSED: tuple[Refused, ...] = (
    duplicate_columns, short_row, long_row, missing_column, extra_column, text_and_number,
    not_of_the_given_type, type_of_no_column, an_array, nothing_like_it, not_parquet,
)  # fmt: skip


def plain(table: pa.Table) -> Rows:
    """The rows of a table as Python values; NaN and infinities aside, they compare."""
    fields = [
        field.with_type(pa.timestamp("us", field.type.tz))
        if pa.types.is_timestamp(field.type)
        else field
        for field in table.schema
    ]
    return table.cast(pa.schema(fields)).to_pylist()


def sorted_rows(rows: Rows) -> list[str]:
    return sorted(
        repr(sorted((name, _in_utc(value)) for name, value in row.items())) for row in rows
    )


def _in_utc(value: Any) -> Any:
    return value.astimezone(UTC) if getattr(value, "tzinfo", None) else value
