"""`engine = "local"`: a pipeline in this process, without Spark."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.csv as csv
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from cereus.cli import main
from cereus.errors import CereusError
from cereus.sources import to_table
from cereus.spark.pipeline import Pipeline, PipelineError

from .conftest import ALERTS, MARKET, ORDERS, Write, changed, found, orders

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOCAL = ('mode = "batch"', 'mode = "batch"\nengine = "local"')
PAIRS = '\n[sinks.pairs]\nfrom = "pair"\nformat = "json"\npath = "pairs"\n'


def test_a_pipeline_without_spark(write: Write, tmp_path: Path) -> None:
    last = Pipeline.load(write(changed(MARKET, LOCAL))).run()
    assert found(pq.read_table(tmp_path / "alerts").to_pylist()) == ALERTS
    assert [(each.name, each.events, each.matches) for each in last] == [
        ("pair", 6, 3),
        ("again", 3, 3),
    ]


def test_pyspark_is_not_needed(write: Write, tmp_path: Path) -> None:
    """In a process where it cannot be imported."""
    path = write(changed(MARKET, LOCAL))
    program = f"""
import sys
sys.modules["pyspark"] = sys.modules["py4j"] = None
from cereus.spark import Pipeline
Pipeline.load({str(path)!r}).run()
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)
    assert found(pq.read_table(tmp_path / "alerts").to_pylist()) == ALERTS


def test_the_command_line_chooses_the_engine(write: Write, tmp_path: Path) -> None:
    done = CliRunner().invoke(main.app, ["run", str(write(MARKET)), "--engine", "local"])
    assert done.exit_code == 0, done.output
    assert found(pq.read_table(tmp_path / "alerts").to_pylist()) == ALERTS


def test_streams_put_together_without_spark(write: Write, tmp_path: Path) -> None:
    """A query reads events beside the matches of another, from CSV files."""
    (tmp_path / "csv").mkdir()
    csv.write_csv(orders(ORDERS), tmp_path / "csv" / "1.csv")
    both = """
[queries.both]
from = ["market", "pair"]
text = "SELECT * FROM market, pair WHERE pair ; SELL WITHIN 1 minute"
where = "size(events) = 2"
select = ["end_time", "events[0].name AS first", "events[5].name AS none"]
[sinks.both]
from = "both"
format = "csv"
path = "both"
"""
    text = changed(
        MARKET,
        LOCAL,
        ('format = "parquet"\npath = "orders"', 'format = "csv"\npath = "csv"'),
        ('time = "ts"', 'time = "ts"\nwhere = "price > 0"'),
    )
    Pipeline.load(write(text + both)).run()
    rows = ds.dataset(tmp_path / "both", format="csv").to_table().to_pylist()
    assert sorted((row["type"], row["first"]) for row in rows) == [
        ("both", "INTC"),
        ("both", "INTC"),
        ("both", "MSFT"),
    ]


@pytest.mark.spark
def test_both_engines_write_the_same(write: Write, spark: SparkSession, tmp_path: Path) -> None:
    path = write(MARKET + PAIRS)
    Pipeline.load(path, engine="local").run()
    here = {name: to_table(tmp_path / name) for name in OUTPUTS}
    for name in OUTPUTS:
        (tmp_path / name).rename(tmp_path / f"{name}_here")
    Pipeline.load(path).run(spark)
    for name in OUTPUTS:
        there = to_table(tmp_path / name)
        assert there.column_names == here[name].column_names
        assert _rows(there.to_pylist()) == _rows(here[name].to_pylist())


OUTPUTS = ("alerts", "pairs")


def _rows(rows: list[dict[str, object]]) -> list[str]:
    return sorted(repr({n: v for n, v in row.items() if n != "end_time"}) for row in rows)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('mode = "batch"', 'mode = "live"'), "a live pipeline needs Spark"),
        (('format = "parquet"\npath = "orders"', 'format = "rate"'), "'orders' is read by Spark"),
        (
            ('format = "parquet"\npath = "alerts"', 'format = "memory"\ntable = "x"'),
            "'alerts' is written by Spark",
        ),
    ],
)
def test_what_needs_spark_is_refused(change: tuple[str, str], message: str, write: Write) -> None:
    with pytest.raises(PipelineError, match=message):
        Pipeline.load(write(changed(MARKET, change)), engine="local")


@pytest.mark.parametrize(
    ("select", "message"),
    [
        ("b[0].prize AS gain", "there is no 'prize'"),
        ("c[0].price AS gain", "no column 'c'"),
        ("b[0].price + AS gain", "in 'b\\[0\\].price \\+'"),
        ("b[0].price + 1", "what is .* to be called"),
        ("size(name) AS gain", "is no list"),
    ],
)
def test_a_wrong_select_names_its_place(select: str, message: str, write: Write) -> None:
    text = changed(MARKET, LOCAL, ("b[0].price - a[0].price AS gain", select))
    with pytest.raises(CereusError, match=message) as raised:
        Pipeline.load(write(text)).run()
    assert "queries.pair" in str(raised.value)
