"""The page of errors on Spark: every example raises what it says, and its mended form runs."""

from __future__ import annotations

from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cereus.spark.raised import spark_errors
from tests.golden import Golden
from tests.reference.mistakes.model import lines_of
from tests.reference.pages import FOLDER
from tests.reference.provoking import block, of_lines

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

INTRODUCTION = """\
# Errors on Spark

What is refused where DataFrames are matched, beside what is an [error everywhere](errors.md). It \
is said when `cs.match` is called, before Spark reads anything; what goes wrong later, or in \
a statement of SQL, Spark shows inside an error of its own. `spark` is a session."""
BEFORE, *MISTAKES = lines_of("spark.txt")
TYPES = "type,price\nSELL,21.0\n"


@pytest.mark.long
def test_the_page_is_what_is_raised(
    spark: SparkSession, golden: Golden, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("events.csv").write_text(TYPES)
    Path("cases.csv").write_text(TYPES.replace("price", "Type"))
    nanoseconds = pa.array([1, 2], pa.timestamp("ns"))
    pq.write_table(pa.table({"type": ["SELL", "BUY"], "ts": nanoseconds}), "nanoseconds.parquet")
    before = f"Before every example stands\n\n{block('py', BEFORE.wrong)}"
    shown = of_lines(MISTAKES, "py", partial(run, spark))
    golden.text(FOLDER / "errors_spark.md", "\n\n".join([INTRODUCTION, before, *shown]))


@cache  # several mistakes have one mended form
def run(spark: SparkSession, lines: str) -> None:
    with spark_errors():
        exec(compile(f"{BEFORE.wrong}\n{lines}", "<example>", "exec"), {"spark": spark})
