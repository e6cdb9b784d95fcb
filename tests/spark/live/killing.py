"""Live queries in processes that are killed: drivers, workers, and files that are released."""

from __future__ import annotations

import itertools
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import pytest

needs_processes = pytest.mark.skipif(
    not Path("/proc").exists(), reason="processes are found in /proc"
)
PATIENCE = 600.0
"""Seconds that anything may take on a machine with other work before the test gives up."""
ROOT = Path(__file__).parents[3]


class Driver:
    """The process of a live query, its JVM and its Python workers: one session of processes."""

    def __init__(self, where: Path, what: str) -> None:
        from cereus.spark.starting.java import ensure_java

        ensure_java()
        self.where = where
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.spark.live.driver", str(where), what],
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


def release(files: Iterator[Path], count: int, where: Path) -> None:
    for file in itertools.islice(files, count):
        file.rename(where / file.name)


def kill_some_worker(driver: Driver, dice: random.Random) -> None:
    """Kill one of the workers in a moment, or as soon as there is one."""
    time.sleep(dice.uniform(0, 0.5))
    wait_until(lambda: driver.kill_worker(dice), driver)


def killed_drivers(
    where: Path, what: str, count: int, dice: random.Random, release_some: Callable[[], None]
) -> Driver:
    """A driver that is ready, after so many before it were killed while they had work to do."""
    drivers = [Driver(where, what)]
    try:
        for _ in range(count):
            drivers.append(Driver(where, what))  # the next one gets ready meanwhile
            running = drivers[-2]
            release_some()
            before = committed(where)
            running.start()
            if dice.random() < 0.7:
                wait_until(lambda: committed(where) > before, running)  # noqa: B023
            time.sleep(dice.uniform(0, 0.7))
            running.kill()
    except BaseException:
        for driver in drivers:
            driver.kill()
        raise
    return drivers[-1]
