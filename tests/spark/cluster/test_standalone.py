"""A standalone cluster: a master and two workers as processes, one of which is killed."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytest.importorskip("pyspark")

import cereus
from cereus.spark.starting.java import ensure_java
from tests.spark_home import spark_home

from .standalone import PATTERN
from .test_cluster import packed

pytestmark = [pytest.mark.spark, pytest.mark.long]

SECOND = 1_000_000
SIZE, FILES = 90, 4
END = (10**6, "END", "", 10**6)


def rows(begin: int, size: int) -> list[tuple[int, str, str, int]]:
    """Events a second apart, of three keys; those of a file in no order."""
    dice = Random(begin)
    made = [(n, dice.choice("AABC"), dice.choice("pqr"), n) for n in range(begin, begin + size)]
    dice.shuffle(made)
    return made


def table(events: list[tuple[int, str, str, int]]) -> pa.Table:
    numbers, types, keys, seconds = zip(*events, strict=True)
    times = pa.array([s * SECOND for s in seconds], pa.timestamp("us", "UTC"))
    return pa.table({"id": numbers, "type": types, "k": keys, "ts": times})


def put(folder: Path, number: int, events: list[tuple[int, str, str, int]]) -> None:
    hidden = folder / f".{number}.parquet"
    pq.write_table(table(events), hidden)
    hidden.rename(folder / f"{number}.parquet")


def locally(events: list[tuple[int, str, str, int]]) -> list[list[int]]:
    query = cereus.compile(PATTERN, stream=cereus.Stream(time="ts"))
    ordered = table(sorted(events))
    numbers = ordered["id"].to_pylist()
    return sorted([numbers[place] for place in row["positions"]] for row in query.run(ordered))


def free_port() -> int:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return int(server.getsockname()[1])


@contextmanager
def cluster(where: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]], dict[str, str]]]:
    """A master and two workers of one core; the address, the workers, and the environment."""
    ensure_java()
    home = spark_home(where / "spark")
    environment = {
        **os.environ,
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_WORKER_DIR": str(where / "work"),
        "SPARK_DAEMON_MEMORY": "256m",
        "PYSPARK_PYTHON": sys.executable,
    }
    port = free_port()
    address = f"spark://127.0.0.1:{port}"
    started: list[subprocess.Popen[bytes]] = []

    def start(part: str, *arguments: str) -> None:
        log = (where / f"{len(started)}.log").open("wb")
        command = [str(home / "bin/spark-class"), f"org.apache.spark.deploy.{part}", *arguments]
        started.append(
            subprocess.Popen(
                command, env=environment, stdout=log, stderr=log, start_new_session=True
            )
        )

    shared = ("--host", "127.0.0.1", "--webui-port", "0")
    try:
        start("master.Master", *shared, "--port", str(port))
        for _ in range(2):
            start("worker.Worker", *shared, "--cores", "1", "--memory", "768m", address)
        yield address, started[1:], environment
    finally:
        for each in started:
            kill(each)


def kill(process: subprocess.Popen[bytes]) -> None:
    """With the executors that it has started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    process.wait()


def told(output: IO[str], name: str, log: Path) -> dict[str, Any]:
    """The next line of JSON in which a name is."""
    for line in output:
        if line.startswith("{"):
            said: dict[str, Any] = json.loads(line)
            assert name in said
            return said
    raise AssertionError(log.read_text()[-3000:])


def test_a_cluster_that_loses_a_worker_finds_what_the_local_engine_finds(tmp_path: Path) -> None:
    for name in ("history", "events"):
        (tmp_path / name).mkdir()
    files = [rows(SIZE * number, SIZE) for number in range(FILES)]
    everything = [event for part in files for event in part]
    for number, part in enumerate(files):
        put(tmp_path / "history", number, part)
    for number, part in enumerate(files[: FILES // 2]):
        put(tmp_path / "events", number, part)
    settings = {
        "spark.archives": f"{packed(tmp_path / 'cereus.tar.gz')}#shipped",
        "spark.executorEnv.PYTHONPATH": "shipped",
        "spark.executor.memory": "512m",
        # tasks wait for both workers, however busy the machine is
        "spark.cores.max": "2",
        "spark.scheduler.minRegisteredResourcesRatio": "1.0",
        "spark.scheduler.maxRegisteredResourcesWaitingTime": "600s",
        "spark.executor.cores": "1",
        "spark.driver.memory": "512m",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
    }
    with cluster(tmp_path) as (address, workers, environment):
        job = Path(__file__).with_name("standalone.py")
        with (
            (tmp_path / "job.log").open("w") as log,
            subprocess.Popen(
                [sys.executable, str(job), address, str(tmp_path), json.dumps(settings)],
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                cwd=tmp_path,
            ) as driver,
        ):
            try:
                assert driver.stdin is not None and driver.stdout is not None
                first = told(driver.stdout, "batch", tmp_path / "job.log")
                told(driver.stdout, "running", tmp_path / "job.log")
                for number, part in enumerate(files[FILES // 2 :], FILES // 2):
                    put(tmp_path / "events", number, part)
                kill(workers[0])
                put(tmp_path / "events", FILES, [END])
                driver.stdin.write("\n")
                driver.stdin.flush()
                last = told(driver.stdout, "live", tmp_path / "job.log")
            finally:
                driver.kill()
    expected = locally(everything)
    assert first["batch"] == last["batch"] == expected and expected
    assert {Path(path).parts[-3] for path in first["shipped"]} == {"shipped"}
    assert len(first["shipped"]) == 2, "both workers took part"
    assert last["live"] == expected
