"""Makes a folder from which Spark's workers start faster.

Spark's workers look for PySpark in an archive of its folder first. The archive has no byte code, so
every worker compiles it again: a second of CPU time instead of a quarter. For some of them Spark
waits at most ten seconds by the clock, however busy the machine is. In a folder without the archive
they import the installed PySpark.
"""

from __future__ import annotations

import atexit
import os
import shutil
import site
import sysconfig
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path

ARCHIVED = "python"
"""The part of Spark that has PySpark in an archive."""


@contextmanager
def unpacked_home() -> Iterator[None]:
    """Start Spark in such a folder, unless SPARK_HOME names another Spark."""
    home = None if "SPARK_HOME" in os.environ else _home()
    if home is None:
        yield
        return
    os.environ["SPARK_HOME"] = str(home)
    try:
        yield
    finally:
        os.environ.pop("SPARK_HOME", None)


def spark_home(where: Path, installed: Path) -> Path:
    """The installed Spark in a new folder, without the archive."""
    where.mkdir()
    for part in installed.iterdir():
        if part.name != ARCHIVED:
            (where / part.name).symlink_to(part)
    return where


@cache
def _home() -> Path | None:
    """The folder of this process; None if workers might not find the installed PySpark."""
    installed = installed_spark()
    if installed is None or os.name != "posix":
        return None
    folder = tempfile.mkdtemp(prefix="cereus-spark-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return spark_home(Path(folder, "spark"), installed)


def installed_spark() -> Path | None:
    """The folder of PySpark with its Spark, if every process of this Python imports it."""
    package = find_spec("pyspark")
    if package is None or package.origin is None:
        return None
    folder = Path(package.origin).parent
    places = {sysconfig.get_path(name) for name in ("purelib", "platlib")}
    places.add(site.getusersitepackages())
    known = str(folder.parent) in places and (folder / "bin" / "spark-submit").exists()
    return folder if known else None
