"""Checks that this machine, or this cluster, can match on Spark.

A check that fails gives advice.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

import cereus
from cereus.compiled import compiled_notice
from cereus.errors import CereusError
from cereus.spark.raised import first_line
from cereus.spark.starting.java import ensure_java
from cereus.spark.starting.session import session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

GIGA = 1 << 30
LEAST_MEMORY = 3 * GIGA
"""The least memory: the driver's 2 GB by default, and room for the Python workers."""
LEAST_DISK = 2 * GIGA
"""The least disk space, since shuffles go to disk."""
VERSIONS: dict[str, tuple[tuple[int, ...], tuple[int, ...] | None]] = {
    "pyspark": ((4, 1), None),
    "pyarrow": ((18,), None),
    "pandas": ((2, 2), (3,)),
    "protobuf": ((6, 33, 5), None),
}
"""The oldest version that works, and the first one that no longer works (PySpark 4 warns of pandas
3)."""


class CheckState(StrEnum):
    GOOD = "ok"
    WARNING = "warning"
    WRONG = "problem"


@dataclass(frozen=True)
class Finding:
    """The outcome of a check; `advice` is what to do about it."""

    check: str
    state: CheckState
    description: str
    advice: str | None = None


def examine(
    *, master: str, directories: Iterable[str] = (), start: bool = True
) -> Iterator[Finding]:
    """All checks, one after the other; with `start`, also those that need Spark running."""
    yield from versions()
    yield kernel()
    java = java_version()
    yield java
    yield memory()
    for directory in dict.fromkeys([_local_directory(), *directories]):
        yield writable(directory)
    if start and java.state is not CheckState.WRONG:
        yield from running(master)


# ---------------------------------------------------------------- this machine


def versions() -> Iterator[Finding]:
    yield Finding("python", CheckState.GOOD, platform.python_version())
    for package, (least, below) in VERSIONS.items():
        yield version(package, least, below)


def version(package: str, least: tuple[int, ...], below: tuple[int, ...] | None) -> Finding:
    requirement = f"{package}>={_dotted(least)}" + (f",<{_dotted(below)}" if below else "")
    install = f"pip install '{requirement}' (or 'cereus[spark]', which asks for it)"
    try:
        installed = importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return Finding(package, CheckState.WRONG, "not installed", install)
    numbers = tuple(map(int, re.findall(r"\d+", installed)[:3]))
    if numbers < least:
        return Finding(package, CheckState.WRONG, f"{installed} is too old", install)
    if below is not None and numbers >= below:
        return Finding(
            package, CheckState.WARNING, f"{installed} is newer than Spark expects", install
        )
    return Finding(package, CheckState.GOOD, installed)


def _dotted(numbers: tuple[int, ...]) -> str:
    return ".".join(map(str, numbers))


def kernel() -> Finding:
    notice = compiled_notice()
    if notice is None:
        return Finding("kernel", CheckState.GOOD, "compiled")
    description, _, advice = notice.partition(". ")
    return Finding("kernel", CheckState.WARNING, description, advice or None)


def java_version() -> Finding:
    try:
        home = ensure_java()
    except CereusError as error:
        return Finding("java", CheckState.WRONG, error.message, error.hint)
    output = subprocess.run(
        [str(Path(home) / "bin" / "java"), "-version"], capture_output=True, text=True
    )
    number = re.search(r'version "([^"]+)"', output.stderr + output.stdout)
    return Finding("java", CheckState.GOOD, f"{number[1] if number else 'found'} in {home}")


def memory() -> Finding:
    free = available_memory()
    if free is None:
        return Finding("memory", CheckState.WARNING, "unknown on this system")
    description = f"{free / GIGA:.1f} GB available"
    if free >= LEAST_MEMORY:
        return Finding("memory", CheckState.GOOD, description)
    advice = (
        "set spark.driver.memory (and spark.executor.memory) lower than what is available, and "
        "leave room for a Python worker per core: about 150 MB and the window's events"
    )
    return Finding("memory", CheckState.WARNING, description, advice)


def available_memory() -> int | None:
    """The free bytes, here or in the container around this process; None if that is not known."""
    try:
        text = Path("/proc/meminfo").read_text()
        free = int(re.findall(r"^MemAvailable:\s+(\d+) kB", text, re.MULTILINE)[0]) << 10
    except (OSError, IndexError):
        return None
    try:
        limit = int(Path("/sys/fs/cgroup/memory.max").read_text())
        used = int(Path("/sys/fs/cgroup/memory.current").read_text())
    except (OSError, ValueError):  # no container, or one without a limit: "max"
        return free
    return min(free, limit - used)


def _local_directory() -> str:
    """Where Spark keeps shuffles and spilled rows."""
    directories = os.environ.get("SPARK_LOCAL_DIRS") or os.environ.get("LOCAL_DIRS")
    return directories.split(",")[0] if directories else tempfile.gettempdir()


def writable(place: str) -> Finding:
    """Check that files can be made in a directory, which may not exist yet."""
    name, directory = f"write {place}", Path(place)
    if "://" in place:
        return Finding(
            name, CheckState.WARNING, "not a local directory", "Spark itself will try it"
        )
    nearest = next(each for each in (directory, *directory.absolute().parents) if each.exists())
    try:
        with tempfile.TemporaryFile(dir=nearest):
            pass
    except OSError as error:
        advice = "choose another directory, or give the user that runs Spark write access"
        return Finding(name, CheckState.WRONG, error.strerror or str(error), advice)
    free = shutil.disk_usage(nearest).free
    description = f"{free / GIGA:.1f} GB free"
    if free < LEAST_DISK:
        advice = "make room, or set spark.local.dir (SPARK_LOCAL_DIRS) to a larger disk"
        return Finding(name, CheckState.WARNING, description, advice)
    if nearest != directory:
        description = f"can be made, {description}"
    return Finding(name, CheckState.GOOD, description)


# ---------------------------------------------------------------- with Spark running


def running(master: str) -> Iterator[Finding]:
    try:
        spark = session(master, "cereus-doctor")
        yield Finding("spark", CheckState.GOOD, f"{spark.version} on {master}")
    except Exception as error:
        advice = f"check that {master} can be reached, and what Spark has written above"
        yield Finding("spark", CheckState.WRONG, first_line(error), advice)
        return
    yield _tried("workers", lambda: workers(spark), WORKERS_ADVICE)
    yield _tried("match", lambda: matched(spark), WORKERS_ADVICE)


WORKERS_ADVICE = (
    "the Python of the workers must have Cereus and pyarrow: ship an environment with "
    "spark.archives and set PYSPARK_PYTHON (docs/operations.md)"
)


def _tried(check: str, attempt: Callable[[], Finding], advice: str) -> Finding:
    try:
        return attempt()
    except Exception as error:
        errors = [line for line in str(error).splitlines() if "Error" in line]
        return Finding(check, CheckState.WRONG, (errors or [first_line(error)])[-1].strip(), advice)


def workers(spark: SparkSession) -> Finding:
    """Check the workers: an Arrow batch goes there and comes back with their versions."""
    answers = spark.range(8).repartition(4).mapInArrow(_versions, "python string, cereus string")
    versions = sorted({(row["python"], row["cereus"]) for row in answers.toArrow().to_pylist()})
    description = "; ".join(f"Python {python}, Cereus {version}" for python, version in versions)
    here = next(_versions(iter([pa.record_batch({"id": [0]})]))).to_pylist()[0]
    if versions == [(here["python"], here["cereus"])]:
        return Finding("workers", CheckState.GOOD, description)
    advice = f"here it is Python {here['python']}, Cereus {here['cereus']}: ship the same"
    return Finding("workers", CheckState.WARNING, description, advice)


def _versions(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    slow = "" if compiled_notice() is None else " (not compiled)"
    for batch in batches:
        python = [".".join(platform.python_version_tuple()[:2])] * batch.num_rows
        version = [f"{cereus.__version__}{slow}"] * batch.num_rows
        yield pa.record_batch({"python": python, "cereus": version})


def matched(spark: SparkSession) -> Finding:
    """Check that a small match gives the same there and here."""
    from cereus.spark.matching import match

    ids = list(range(600))
    types, keys = ["ABC"[i % 3] for i in ids], [i % 5 for i in ids]
    query = cereus.compile(
        "SELECT * WHERE A ; B ; C PARTITION BY k WITHIN 20 [id]", stream=cereus.Stream(time="id")
    )
    table = pa.table({"id": ids, "type": types, "k": keys})
    rows = list(zip(ids, types, keys, strict=True))
    frame = spark.createDataFrame(rows, "id bigint, type string, k bigint")
    there, here = match(frame, query).count(), len(query.run(table))
    if there == here:
        return Finding("match", CheckState.GOOD, f"{there} matches, as in this process")
    return Finding(
        "match", CheckState.WRONG, f"{there} matches; {here} in this process", WORKERS_ADVICE
    )
