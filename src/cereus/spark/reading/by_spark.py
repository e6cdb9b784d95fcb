"""Reads files of text by Spark itself, live or in places that only Spark reaches: as texts, which
become values by the rules of `cereus.sources.reading.texts`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as st

from cereus.errors import CereusError, DataError
from cereus.expr.types import kind_of
from cereus.sources import Files
from cereus.sources.formats import one_format, suffixes_of
from cereus.sources.reading.texts import GROUPED, KINDS, NUMERIC, TIMES, Notation, TextKinds
from cereus.spark.files import CSV, located
from cereus.spark.quoting import map_in_arrow, quoted
from cereus.spark.reading.types import spark_type

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

STRICT: dict[str, Any] = {"mode": "FAILFAST", "columnPruning": False, "enforceSchema": False}
"""A line with fewer or more values than columns is an error, and so is another header."""
PATTERNS = {"Y": "yyyy", "y": "yy", "m": "MM", "d": "dd", "H": "HH", "I": "hh", "M": "mm",
            "S": "ss", "p": "a", "b": "MMM", "B": "MMMM", "z": "xx", "j": "DDD"}  # fmt: skip
"""The letters of strptime in Java's patterns."""
ZONE = r"(Z|[+-]\d\d:?\d\d)\s*$"
NO_TEXT = "\u0001"
"""Stands for values that are empty and not quoted, which Spark then takes for NULL; a quoted empty
text is a text."""
SEEN = "name string, possible array<int>, filled boolean"


def read_by_spark(
    session: SparkSession, files: Files, options: Mapping[str, Any] | None = None
) -> DataFrame:
    """Files of any format, by Spark's own readers; `options` are theirs."""
    kind = files.format or one_format(files.paths)
    reader = session.read.format(kind).options(**text_options(files, kind), **(options or {}))
    if kind == "arrow":
        raise DataError("Spark does not read Arrow files there", hint="write Parquet files")
    if kind not in ("csv", "json"):
        reader = reader.option("mergeSchema", True)
    rows: DataFrame = reader.load([located(path) for path in files.paths])
    return rows if kind not in ("csv", "json") else typed(rows, files, kind)


def text_options(files: Files, kind: str) -> dict[str, Any]:
    """Spark's reader options for a description; all columns of CSV come as texts."""
    if kind == "json":
        return {"mode": "FAILFAST"}
    if kind != "csv":
        return {}
    tabs = any(suffixes_of(path)[0] == ".tsv" for path in files.paths)
    options = {**CSV, **STRICT, "sep": files.delimiter or ("\t" if tabs else ",")}
    options |= {"nullValue": NO_TEXT, "emptyValue": ""}
    return {**options, "header": files.header is True, "multiLine": files.multiline}


def typed(rows: DataFrame, files: Files, kind: str) -> DataFrame:
    """Texts as values of the types that are given, or that all of them can be."""
    if kind == "csv" and not isinstance(files.header, bool):
        rows = rows.toDF(*files.header)
    texts = [f.name for f in rows.schema if isinstance(f.dataType, st.StringType)]
    open_ = [name for name in texts if files.infer and files.given_type(name) is None]
    kinds = TextKinds(KINDS if kind == "csv" else TIMES, files.notation)
    _see(rows.select(*(quoted((name,)) for name in open_)), kinds, files) if open_ else None
    columns = []
    for name in rows.columns:
        to = files.given_type(name) or (kinds.kind(name, pa.string()) if name in open_ else None)
        column = quoted((name,))
        if to is not None:
            column = (
                value_of(column, to, name, files)
                if name in texts
                else column.cast(spark_type(to, name))
            )
        columns.append(column.alias(name))
    return rows.select(*columns)


def _see(texts: DataFrame, kinds: TextKinds, files: Files) -> None:
    """Find which kinds the texts of all files can be, in the workers."""
    considered, notation, nulls = kinds.considered, kinds.notation, files.nulls

    def seen(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        here = TextKinds(considered, notation)
        for batch in batches:
            names = batch.schema.names
            here.see((n, _texts(c, nulls)) for n, c in zip(names, batch.columns, strict=True))
        rows = [
            {"name": n, "possible": [considered.index(k) for k in p], "filled": n in here.filled}
            for n, p in here.possible.items()
        ]
        schema = pa.schema({"name": pa.string(), "possible": pa.list_(pa.int32()),
                            "filled": pa.bool_()})  # fmt: skip
        yield pa.RecordBatch.from_pylist(rows, schema=schema)

    for row in map_in_arrow(texts, seen, SEEN).collect():
        possible = kinds.possible.get(row.name, considered)
        kinds.possible[row.name] = tuple(k for k in possible if considered.index(k) in row.possible)
        kinds.filled |= {row.name} if row.filled else set()


def _texts(texts: pa.Array, nulls: Sequence[str]) -> pa.ChunkedArray:
    others = pa.array([each for each in nulls if each], pa.string())
    kept = pc.if_else(pc.is_in(texts, others), pa.scalar(None, pa.string()), texts)
    return pa.chunked_array([kept if "" in nulls else pc.fill_null(kept, "")])


# ---------------------------------------------------------------- values


def value_of(text: Column, kind: pa.DataType, name: str, files: Files) -> Column:
    """A text as a value. A text that is not such a value is an error that shows it."""
    others = [each for each in files.nulls if each]
    text = text if "" in files.nulls else F.coalesce(text, F.lit(""))
    text = F.when(~text.isin(*others), text) if others else text
    if pa.types.is_string(kind):
        return text
    value = _value(text, kind, name, files.notation)
    refused = F.raise_error(
        F.concat(
            F.lit(f"cereus.errors.DataError: the column {name!r} cannot be read as {kind}: '"),
            text,
            F.lit("'"),
        )
    )
    return F.when(text.isNull() | value.isNotNull(), value).otherwise(
        refused.cast(spark_type(kind, name))
    )


def _value(text: Column, kind: pa.DataType, name: str, notation: Notation) -> Column:
    time_format = notation.time_format
    if notation.decimal == "," and kind_of(kind) in NUMERIC:
        bare = F.when(text.rlike(GROUPED), F.replace(text, F.lit("."))).otherwise(text)
        text = F.translate(bare, ".,", "_.")
    if not pa.types.is_timestamp(kind):
        return text.try_cast(spark_type(kind, name))
    time = text.try_cast("timestamp")
    if time_format is not None:
        time = F.coalesce(F.try_to_timestamp(text, F.lit(java_pattern(time_format))), time)
    if kind.tz is not None:
        return time
    in_utc = F.to_utc_timestamp(time, F.current_timezone())
    return F.when(text.rlike(ZONE), in_utc).otherwise(time).cast("timestamp_ntz")


def java_pattern(time_format: str) -> str:
    """A format of strptime as a pattern of Java's."""
    made, letters = [], iter(time_format)
    for letter in letters:
        if letter != "%":
            made.append(f"'{letter}'" if letter.isalpha() else letter)
            continue
        directive = next(letters, "")
        if directive not in PATTERNS:
            raise CereusError(
                f"Spark does not read times written as %{directive}",
                hint=f"known: {', '.join(f'%{each}' for each in PATTERNS)}",
            )
        made.append(PATTERNS[directive])
    return "".join(made)
