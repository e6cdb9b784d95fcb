"""A Spark session with settings that suit matching; any other session works as well."""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from cereus.errors import CereusError
from cereus.spark.starting.home import unpacked_home
from cereus.spark.starting.java import ensure_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DEFAULTS = {
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # no limit in bytes: to keep one, Spark measures the batch again after every row, which is a
    # third of the cost of handing rows to Python; the limit in rows stays
    "spark.sql.execution.arrow.maxBytesPerBatch": str(2**31 - 1),
    # the type of the Parquet format, not INT96, which is twice the work to write
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.session.timeZone": "UTC",
    # no checksum of the rows of a shuffle: those of a live query are whole Arrow batches, and a
    # task that runs again may pack the same events in another order, which is no error
    "spark.sql.shuffle.orderIndependentChecksum.enabled": "false",
    "spark.sql.shuffle.orderIndependentChecksum.enableFullRetryOnMismatch": "false",
    # a checkpoint of a live query writes only what has changed, not the whole state
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}

FILES_OF_CHECKPOINTS = (
    "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
)
"""The class that writes the files of checkpoints on this machine. For each file Spark's default
starts ten processes, eight times `readlink` and twice `chmod`; this one starts two."""


def session(master: str = "local[*]", app: str = "cereus", **conf: object) -> SparkSession:
    """The active Spark session, or a new one on `master`.

    `conf` are Spark settings by their full names, `**{"spark.driver.memory": "8g"}`; they win
    over the defaults here. On an active session only they are set.
    """
    need_pyspark()
    from pyspark.sql import SparkSession

    settings = {name: _text(value) for name, value in conf.items()}
    active = SparkSession.getActiveSession()
    if active is not None:
        for name, value in settings.items():
            active.conf.set(name, value)
        return active
    ensure_java()
    cores = _local_cores(master)
    if cores is not None:
        _local_environment()
    local = {} if cores is None else _local_defaults(cores)
    builder = SparkSession.builder.master(master).appName(app)
    for name, value in {**DEFAULTS, **local, **settings}.items():
        builder = builder.config(name, value)
    ours = cores is not None and _workers_are_of_this_python(settings)
    with started_at_once(), unpacked_home() if ours else nullcontext():
        return builder.getOrCreate()


@contextmanager
def started_at_once() -> Iterator[None]:
    """Let an interrupt wait until Spark has started, and then stop it: during the start Java and
    PySpark would print a hundred lines about it. A second interrupt does not wait."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    interrupted: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        if interrupted:
            raise KeyboardInterrupt
        interrupted.append(number)

    before = signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGINT) is note:  # PySpark may have set its own handler
            signal.signal(signal.SIGINT, before)
    if interrupted:
        _stop_active()
        raise KeyboardInterrupt


def _stop_active() -> None:
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        active.stop()


def need_pyspark() -> None:
    if find_spec("pyspark") is None:
        raise CereusError(
            "pyspark is not installed", hint="pip install 'cereus[spark]', or use --engine local"
        )


def _local_defaults(cores: int) -> dict[str, str]:
    """Settings for a session inside this process: loopback, few tasks, no chatter on stderr."""
    logging = Path(__file__).with_name("log4j2.properties").as_uri()
    return {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={logging}",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "2g",
        "spark.sql.streaming.checkpointFileManagerClass": FILES_OF_CHECKPOINTS,
        "spark.sql.shuffle.partitions": str(max(2, cores)),
    }


def _local_environment() -> None:
    """Set what Spark reads only from the environment: the workers' Python is this one."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")


def _workers_are_of_this_python(settings: dict[str, str]) -> bool:
    """Whether the workers run this Python; another one may have no PySpark."""
    named = settings.get("spark.pyspark.python", os.environ.get("PYSPARK_PYTHON"))
    return named == sys.executable


def _local_cores(master: str) -> int | None:
    """The cores of a local master; None for a cluster."""
    if master == "local":
        return 1
    match = re.match(r"local\[(\*|\d+)", master)
    if match is None:
        return None
    return (os.cpu_count() or 1) if match[1] == "*" else int(match[1])


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
