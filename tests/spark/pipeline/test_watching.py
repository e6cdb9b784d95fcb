"""What watches a pipeline: Prometheus, a log of JSON lines, and `cereus status`."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from cereus.cli import main
from cereus.errors import CereusError
from cereus.spark.pipeline import Metrics, Pipeline, PipelineError
from cereus.spark.pipeline.run.alone import alone
from cereus.spark.pipeline.run.prometheus import exported, parsed
from cereus.spark.pipeline.run.status import NAME, StatusFile, noted, read_status

from .conftest import MARKET, Write, changed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LIVE = ('mode = "batch"', 'mode = "live"')
SEEN = Metrics(
    "pair",
    "2025-03-03T09:30:00Z",
    sink="alerts",
    batch=7,
    events=100,
    matches=3,
    late=1,
    total_events=500,
    total_matches=9,
    total_late=2,
    seconds=0.5,
    events_per_second=200.0,
    state_rows=32,
    state_bytes=4096,
    lag_seconds=12.5,
    kernel_seconds=0.25,
)


def free_port() -> int:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return int(server.getsockname()[1])


def test_prometheus_fetches_the_metrics_of_every_query() -> None:
    pytest.importorskip("prometheus_client")
    port = free_port()
    with exported(str(port), "market") as report:
        assert report is not None
        report(SEEN)
        report(SEEN)
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
            text = answer.read().decode()
        with pytest.raises(CereusError, match="cannot listen on"), exported(str(port), "again"):
            pass
    labels = '{pipeline="market",query="pair",sink="alerts"}'
    for name, value in {
        "cereus_events_total": 200.0,
        "cereus_matches_total": 6.0,
        "cereus_late_events_total": 2.0,
        "cereus_batch_seconds_total": 1.0,
        "cereus_kernel_seconds_total": 0.5,
        "cereus_batch": 7.0,
        "cereus_state_bytes": 4096.0,
        "cereus_watermark_lag_seconds": 12.5,
    }.items():
        assert f"{name}{labels} {value}" in text
    with exported(None, "market") as nobody:
        assert nobody is None


def test_an_address_is_checked_before_the_start(write: Write) -> None:
    assert parsed("9400") == ("127.0.0.1", 9400)
    assert parsed("0.0.0.0:9400") == ("0.0.0.0", 9400)
    with pytest.raises(PipelineError, match="prometheus: 'here' is no address") as raised:
        Pipeline.load(write(f'prometheus = "here"\n{MARKET}'))
    assert raised.value.problems[0].line == 1


def test_a_run_logs_json_lines(write: Write, tmp_path: Path) -> None:
    text = changed(MARKET, ('mode = "batch"', 'mode = "batch"\nengine = "local"'))
    Pipeline.load(write(f'log = "logs/run.jsonl"\n{text}')).run()
    lines = [json.loads(line) for line in (tmp_path / "logs/run.jsonl").read_text().splitlines()]
    assert [each["message"].partition(": ")[2] for each in lines] == [
        "a batch run begins",
        "the run has ended",
    ]
    assert {(each["level"], each["logger"]) for each in lines} == {("info", "cereus.spark")}


def test_the_status_of_a_run(tmp_path: Path) -> None:
    with noted(str(tmp_path), "market.toml") as report:
        assert report is not None
        report(SEEN)
        status = read_status(tmp_path)
        assert (status.state, status.pid, status.metrics) == ("running", os.getpid(), [SEEN])
    assert read_status(tmp_path).state == "stopped"
    with pytest.raises(ValueError), noted(str(tmp_path), "market.toml"):
        raise ValueError("it broke")
    assert (read_status(tmp_path).state, read_status(tmp_path).error) == ("failed", "it broke")
    with noted("s3://elsewhere", "market.toml") as nobody:
        assert nobody is None


def test_a_process_that_is_gone_is_noticed(tmp_path: Path) -> None:
    done = subprocess.Popen([sys.executable, "-c", ""])
    done.wait()
    file = StatusFile(tmp_path / NAME, "market.toml")
    file.status.pid = done.pid
    file.write()
    assert read_status(tmp_path).state == "gone"


def test_two_runs_do_not_share_a_checkpoint(tmp_path: Path) -> None:
    """The lock ends with its process, so what was killed does not stop the next run."""
    pytest.importorskip("fcntl")
    place, script = (
        str(tmp_path / "checkpoint"),
        (
            "import sys, time\n"
            "from cereus.spark.pipeline.run.alone import alone\n"
            "with alone(sys.argv[1]):\n    print('here', flush=True)\n    time.sleep(600)\n"
        ),
    )
    command = [sys.executable, "-c", script, place]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "here\n"
        with (
            pytest.raises(CereusError, match="another run has the checkpoint") as raised,
            alone(place),
        ):
            pass
        assert "cereus status" in str(raised.value.hint)
        other.kill()
        other.wait()
    with alone(place), alone(None), alone("s3://bucket/checkpoint"):
        pass


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "[1]",
        "no JSON",
        '{"pipeline": "market.toml", "pid": 1, "host": "here", "queries": [{"colour": "red"}]}',
    ],
)
def test_a_file_that_is_no_status_is_an_error_in_our_words(text: str, tmp_path: Path) -> None:
    (tmp_path / NAME).write_text(text)
    with pytest.raises(CereusError, match="is not the status of a live pipeline") as raised:
        read_status(tmp_path)
    assert "__init__" not in str(raised.value)


def test_the_command_shows_the_status(write: Write, tmp_path: Path) -> None:
    path = write(changed(MARKET, LIVE))
    run = CliRunner()
    nothing = run.invoke(main.app, ["status", str(path)])
    assert nothing.exit_code == 1 and "no live pipeline has run" in nothing.output
    with noted(str(tmp_path / "checkpoint"), str(path)) as report:
        assert report is not None
        report(SEEN)
        for place in (path, tmp_path / "checkpoint"):
            shown = run.invoke(main.app, ["status", str(place)])
            assert shown.exit_code == 0, shown.output
            assert f"running: it runs as process {os.getpid()}" in shown.output
            assert "pair" in shown.output and "12.5 s" in shown.output
        as_json = run.invoke(main.app, ["status", str(path), "--json"])
        assert json.loads(as_json.output)["queries"][0]["state_bytes"] == 4096
    assert "stopped" in run.invoke(main.app, ["status", str(path)]).output
    batch = tmp_path / "batch.toml"
    batch.write_text('mode = "batch"')
    assert "has no checkpoint" in run.invoke(main.app, ["status", str(batch)]).output


@pytest.mark.spark
@pytest.mark.long
def test_a_live_pipeline_is_watched(write: Write, spark: SparkSession, tmp_path: Path) -> None:
    pytest.importorskip("prometheus_client")
    top = f'prometheus = "{free_port()}"\nlog = "run.jsonl"\n'
    Pipeline.load(write(top + changed(MARKET, LIVE))).run(spark)
    status = read_status(tmp_path / "checkpoint")
    assert status.state == "stopped"
    assert {each.name for each in status.metrics} == {"pair", "again"}
    messages = [json.loads(line)["message"] for line in Path("run.jsonl").read_text().splitlines()]
    assert "the sink 'alerts' starts: again, pair" in messages
