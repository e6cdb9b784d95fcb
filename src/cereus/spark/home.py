"""The Spark inside the wheel, seen from a folder of its own.

Spark's workers look for PySpark in an archive of its folder first, which has no byte code: every
one of them compiles it anew, a second of CPU time instead of a quarter, and for some of them Spark
waits no longer than ten seconds by the clock, however busy the machine is. In a folder without the
archive they import what is installed.
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
    """Spark is started in such a folder, unless SPARK_HOME names another Spark."""
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
    """Spark as it is installed, in a new folder, without the archive."""
    where.mkdir()
    for part in installed.iterdir():
        if part.name != ARCHIVED:
            (where / part.name).symlink_to(part)
    return where


@cache
def _home() -> Path | None:
    """One for this process; None where workers might not find what is installed."""
    installed = installed_spark()
    if installed is None or os.name != "posix":
        return None
    folder = tempfile.mkdtemp(prefix="cereus-spark-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return spark_home(Path(folder, "spark"), installed)


def installed_spark() -> Path | None:
    """PySpark with its Spark, if every process of this Python imports it."""
    package = find_spec("pyspark")
    if package is None or package.origin is None:
        return None
    folder = Path(package.origin).parent
    places = {sysconfig.get_path(name) for name in ("purelib", "platlib")}
    places.add(site.getusersitepackages())
    known = str(folder.parent) in places and (folder / "bin" / "spark-submit").exists()
    return folder if known else None
