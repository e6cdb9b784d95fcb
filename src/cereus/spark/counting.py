"""Counts the rows of a DataFrame of results on Spark, while the rows pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cereus.clauses.tree import TIMEOUTS
from cereus.engine.results.counts import exact_count
from cereus.engine.results.timeout_rows import has_timeouts
from cereus.language.compiled import CompiledQuery
from cereus.language.result_counts import ResultCounts
from cereus.spark.files import observed, observed_total

if TYPE_CHECKING:
    from pyspark.sql import Column, Observation


def count_columns(
    columns: Sequence[str], query: CompiledQuery, name: str = "", belongs: Column | bool = True
) -> list[Column]:
    """The columns to observe, which `counts_of` reads. `columns` are the columns of the result. If
    a DataFrame has the results of several queries, each query has a `name`, and `belongs` selects
    its rows."""
    from pyspark.sql import functions as f

    rows = f.count_if(f.lit(belongs))
    late = f.lit(belongs) & f.col(TIMEOUTS[0]) if has_timeouts(columns) else f.lit(False)
    silent = f.lit(belongs) & (f.size("outputs") == 0) if query.notifies else f.lit(False)
    numbers = {"rows": rows, "timeouts": f.count_if(late), "completions": f.count_if(silent)}
    if query.counts:
        numbers["counted"] = f.sum(f.when(f.lit(belongs), f.col("count")))
    return [number.alias(f"{name} {of}") for of, number in numbers.items()]


def counts_of(observation: Observation, query: CompiledQuery, name: str = "") -> ResultCounts:
    """The observed counts. If a match has several rows, the number of matches is not known."""
    rows, timeouts, completions = (
        observed(observation, f"{name} {of}") for of in ("rows", "timeouts", "completions")
    )
    matches: int | float | None = rows - timeouts - completions
    if query.counts:
        matches = exact_count(observed_total(observation, f"{name} counted"))
    elif query.has_several_rows:
        matches = None if rows else 0
    return ResultCounts(rows, matches, timeouts, completions, query.counts, query.has_several_rows)
