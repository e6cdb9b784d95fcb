"""Killed at any moment, a live query goes on from its checkpoint: nothing is lost or doubled."""

from __future__ import annotations

import itertools
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING

import pyarrow as pa
import pytest

pytest.importorskip("pyspark")

import cereus
from tests.volume import volume

from .driver import PATTERN
from .market import random_events
from .streams import parts, shuffled, with_end
from .test_live import write

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.long]

DRIVERS, WORKERS = volume(2, 5), volume(3, 6)
"""How many of each are killed in one run."""
FILES_PER_DRIVER = 2
FILES = DRIVERS * FILES_PER_DRIVER + WORKERS
PATIENCE = 600.0
"""Seconds that anything may take on a machine with other work before the test gives up."""
ROOT = Path(__file__).parents[2]


class Driver:
    """The process of a live query, its JVM and its Python workers: one session of processes."""

    def __init__(self, where: Path) -> None:
        from cereus.spark.java import ensure_java

        ensure_java()
        self.where = where
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.spark.driver", str(where)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
            cwd=ROOT,
        )

    def expect(self, word: str) -> None:
        out: IO[str] | None = self.process.stdout
        assert out is not None
        said = out.readline().strip()
        assert said == word, f"{said!r}, not {word!r}"

    def tell(self, word: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{word}\n")
        self.process.stdin.flush()

    def start(self) -> None:
        self.expect("ready")
        self.tell("go")
        self.expect("running")

    def end(self) -> None:
        """Once all files that there are have been read."""
        self.tell("end")
        self.expect("done")

    def kill(self) -> None:
        for pid in self._processes():
            kill(pid)
        self.process.wait()

    def kill_worker(self, dice: random.Random) -> bool:
        """Kill one of the processes that Python functions run in, if there is one now."""
        workers = [pid for pid in self._processes() if "pyspark.daemon" in _command(pid)]
        forked = [pid for pid in workers if _parent(pid) in workers]
        return bool(forked) and kill(dice.choice(forked))

    def _processes(self) -> list[int]:
        pids = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
        return [pid for pid in pids if _session(pid) == self.process.pid]


def kill(pid: int) -> bool:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def _session(pid: int) -> int:
    try:
        return os.getsid(pid)
    except ProcessLookupError:
        return -1


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


def _parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
    except OSError:
        return -1


def committed(where: Path) -> int:
    """Micro-batches that are done."""
    commits = where / "checkpoint" / "commits"
    return len([path for path in commits.glob("*") if path.name.isdigit()])


def wait_until(happened: Callable[[], bool], driver: Driver) -> None:
    end = time.monotonic() + PATIENCE
    while not happened():
        assert driver.process.poll() is None, "the driver has ended"
        assert time.monotonic() < end, "Spark does not go on"
        time.sleep(0.02)


def hidden_files(batches: list[pa.Table], where: Path) -> Iterator[Path]:
    """The batches as files that Spark does not see yet."""
    written = write(where, batches)
    return iter(sorted(written.iterdir()))


def release(files: Iterator[Path], count: int, where: Path) -> None:
    for file in itertools.islice(files, count):
        file.rename(where / file.name)


@pytest.mark.skipif(not Path("/proc").exists(), reason="processes are found in /proc")
def test_killed_drivers_and_workers_lose_and_double_nothing(
    spark: SparkSession, tmp_path: Path
) -> None:
    """How far Spark has come when something is killed is chance; that it has work then is not:
    files are released for every kill."""
    dice = random.Random(11)
    events = random_events(2).select(["id", "type", "k", "ts"])
    batches = parts(shuffled(events, 5, dice), FILES, dice)
    batches[-1] = with_end(batches[-1])
    hidden, seen = tmp_path / "hidden", tmp_path / "events"
    hidden.mkdir()
    seen.mkdir()
    files = hidden_files(batches, hidden)
    drivers = [Driver(tmp_path)]
    try:
        for _ in range(DRIVERS):
            drivers.append(Driver(tmp_path))  # the next one gets ready meanwhile
            running = drivers[-2]
            release(files, FILES_PER_DRIVER, seen)
            before = committed(tmp_path)
            running.start()
            if dice.random() < 0.7:
                wait_until(lambda: committed(tmp_path) > before, running)  # noqa: B023
            time.sleep(dice.uniform(0, 0.7))
            running.kill()
        last = drivers[-1]
        last.start()
        for _ in range(WORKERS):
            release(files, 1, seen)
            time.sleep(dice.uniform(0, 0.5))
            wait_until(lambda: last.kill_worker(dice), last)
        last.end()
    finally:
        for driver in drivers:
            driver.kill()
    found = spark.read.parquet(str(tmp_path / "found")).select("k", "events.id").collect()
    query = cereus.compile(PATTERN, stream=cereus.Stream(time="ts"))
    expected = [(row["k"], tuple(row["positions"])) for row in query.run(events)]
    assert Counter((row["k"], tuple(row["id"])) for row in found) == Counter(expected)
    assert len(expected) > 20
