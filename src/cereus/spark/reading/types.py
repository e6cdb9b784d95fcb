"""Arrow's types as types of Spark."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import types as st
from pyspark.sql.pandas.types import from_arrow_type

from cereus.errors import DataError


def spark_schema(schema: pa.Schema) -> st.StructType:
    """The columns as Spark has them; its times are in microseconds."""
    return st.StructType([st.StructField(f.name, spark_type(f.type, f.name)) for f in schema])


def spark_type(kind: pa.DataType, name: str) -> st.DataType:
    if pa.types.is_timestamp(kind):
        return st.TimestampNTZType() if kind.tz is None else st.TimestampType()
    if pa.types.is_date(kind):
        return st.DateType()
    if pa.types.is_dictionary(kind):
        return spark_type(kind.value_type, name)
    try:
        return from_arrow_type(kind, prefer_timestamp_ntz=True)
    except Exception:  # Spark has several classes for it
        raise DataError(
            f"the column {name!r} has the type {kind}, which Spark does not have",
            hint="write the files with another one, or use the local engine",
        ) from None
