"""Reads and writes files on Spark: the options of its readers and writers, and their counts."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Observation

CSV: dict[str, Any] = {"header": True, "escape": '"'}
"""A quote inside a quoted text is doubled (RFC 4180); Spark's own way is a backslash."""

ELSEWHERE = "write somewhere else, or change its permissions"

COUNTED = ("parquet", "orc")
"""Formats whose files contain the number of their rows."""


def located(path: str) -> str:
    """A local path in full, since Spark may have started in another directory."""
    return path if "://" in path else str(Path(path).absolute())


def refused_directory(place: Path) -> tuple[str, str] | None:
    """Why a directory of this machine cannot be made or written to, and a hint; None if it can."""
    file = next((each for each in (place, *place.parents) if each.is_file()), None)
    if file is not None:
        message = f"a checkpoint is a directory, and {str(file)!r} is a file"
        return message, "name one that is not there yet"
    if unwritable(place):
        return f"cannot write to the directory {str(place.parent)!r}", ELSEWHERE
    return None


def unwritable(path: Path) -> bool:
    """Whether the nearest existing directory cannot be written to."""
    above = next((each for each in (path, *path.parents) if each.is_dir()), None)
    return above is not None and not os.access(above, os.W_OK | os.X_OK)


def flat(matches: DataFrame) -> DataFrame:
    """Arrays and structs, which CSV does not have, as JSON text."""
    from pyspark.sql import functions as f

    from cereus.spark.quoting import quoted

    columns = [
        f.to_json(quoted((each.name,))).alias(each.name)
        if each.dataType.typeName() in ("array", "struct", "map")
        else quoted((each.name,))
        for each in matches.schema
    ]
    return matches.select(*columns)


def observed(counts: Observation, name: str) -> int:
    """A count that Spark made while rows passed."""
    return int(observed_total(counts, name))


def observed_total(counts: Observation, name: str) -> float:
    """A sum that Spark made while rows passed. If Spark found that there are no rows, it removed
    the counting from the job, and there is no row of counts."""
    try:
        return float(counts.get.get(name) or 0)
    except Exception as error:
        if "assertion failed" not in str(error):  # of Java, that there is a row
            raise
        return 0
