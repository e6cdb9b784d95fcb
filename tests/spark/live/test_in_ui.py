"""Spark's UI shows the metrics of live queries."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import cereus
from cereus import spark as cs
from cereus.spark.in_ui import line, statement
from cereus.spark.pipeline.run.metrics import Metrics

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SEEN = Metrics(
    "pairs",
    "2025-03-03T09:30:00Z",
    sink="alerts",
    batch=7,
    events=250_000,
    matches=29_000,
    late=3,
    state_rows=14,
    state_bytes=2_345_678,
    kernel_seconds=0.0517,
)
LINE = (
    "cereus pairs → alerts, micro-batch 7: 250,000 events, 3 late, 29,000 matches, "
    "0.052 kernel seconds, 14 state rows, 2,345,678 state bytes"
)
SCRIPT = """
import json, os, sys, urllib.request
from pathlib import Path
import cereus
from cereus import spark as cs
from cereus.demo import market_events
import pyarrow.parquet as pq

place = Path(sys.argv[1])
(place / "events").mkdir()
events = market_events(2_000)
pq.write_table(events.slice(0, 1_500), place / "events" / "a.parquet")
pq.write_table(events.slice(0, 700), place / "events" / "b.parquet")
pq.write_table(events.slice(1_500), place / "events" / "c.parquet")
for second, name in enumerate("acb"):  # Spark reads the oldest file first; b is late
    os.utime(place / "events" / f"{name}.parquet", (1_700_000_000 + second,) * 2)
spark = cs.session("local[2]", **{"spark.ui.enabled": True, "spark.ui.port": 0})
if sys.argv[2] == "match":
    cs.show_metrics(spark)
    frame = spark.readStream.schema(spark.read.parquet(str(place / "events")).schema)
    frame = frame.option("maxFilesPerTrigger", 1).parquet(str(place / "events"))
    frame = frame.selectExpr("* EXCEPT (ts)", "CAST(ts AS timestamp) AS ts")
    query = cereus.compile(
        "SELECT * WHERE SELL ; BUY PARTITION BY name WITHIN 1 second",
        stream=cereus.Stream(time="ts"),
    )
    found = cs.match(frame, query, watermark="1 second", name="pairs", columns=["id"])
    writer = found.writeStream.queryName("alerts").format("noop").trigger(availableNow=True)
    running = writer.option("checkpointLocation", str(place / "checkpoint")).start()
    running.awaitTermination()
    counted = [p["observedMetrics"]["pairs"].asDict() for p in running.recentProgress]
    states = [p["stateOperators"][0]["numRowsTotal"] for p in running.recentProgress]
    told = [c | {"state_rows": s} for c, s in zip(counted, states)]
else:
    (place / "live.toml").write_text(PIPELINE)
    told = []
    cs.Pipeline.load(place / "live.toml").run(
        spark, on_metrics=lambda metrics: told.append(metrics.as_dict())
    )
spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
base = spark.sparkContext.uiWebUrl + "/api/v1/applications/" + spark.sparkContext.applicationId
entries = json.load(urllib.request.urlopen(base + "/sql?length=1000"))
lines = [e for e in entries if e["description"].startswith("cereus ")]
jobs = [e for e in lines if e["successJobIds"] or e["failedJobIds"] or e["runningJobIds"]]
print(json.dumps({"told": told, "lines": [e["description"] for e in lines], "jobs": len(jobs)}))
spark.stop()
"""
PIPELINE = """
mode = "live"
trigger = "available now"
checkpoint = "checkpoint"
watermark = "1 second"
[sources.orders]
format = "parquet"
path = "events"
[streams.market]
source = "orders"
type = "type"
time = "ts"
[queries.pairs]
text = "SELECT * WHERE SELL ; BUY PARTITION BY name WITHIN 1 second"
from = "market"
[sinks.alerts]
from = "pairs"
format = "parquet"
path = "out"
"""


def test_a_line_says_what_is_known() -> None:
    assert line(SEEN) == LINE
    few = Metrics("", "2025-03-03T09:30:00Z", events=5)
    assert line(few) == "cereus copy: 5 events"


def test_without_a_ui_there_is_a_hint(spark: SparkSession) -> None:
    with pytest.raises(cereus.CereusError, match="has no UI of Spark") as raised:
        cs.show_metrics(spark)
    assert "spark.ui.enabled" in str(raised.value.hint)


@pytest.mark.spark
def test_the_statement_has_the_metrics_as_its_row(spark: SparkSession) -> None:
    [row] = spark.sql(statement(SEEN)).collect()
    assert row.asDict() == {
        "events": 250_000,
        "late": 3,
        "matches": 29_000.0,
        "kernel_seconds": 0.0517,
        "state_rows": 14,
        "state_bytes": 2_345_678,
    }


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.parametrize("kind", ["match", "pipeline"])
def test_every_micro_batch_has_a_line_in_the_ui(tmp_path: Path, kind: str) -> None:
    script = f"PIPELINE = {PIPELINE!r}\n{SCRIPT}"
    command = [sys.executable, "-c", script, str(tmp_path), kind]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]
    shown = json.loads(done.stdout.splitlines()[-1])
    assert len(shown["lines"]) == len(shown["told"]) >= 1
    assert shown["jobs"] == 0
    for each in shown["told"]:
        texts = [
            f"{each['events']:,} events, {each['late']:,} late, {each['matches']:,} matches",
            f"{each['kernel_seconds']:.3f} kernel seconds",
            f"{each['state_rows']:,} state rows",
        ]
        assert any(all(text in told for text in texts) for told in shown["lines"]), shown
    assert sum(each["late"] for each in shown["told"]) == (700 if kind == "match" else 0)
