"""The Spark inside the wheel, seen from another place."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from importlib.util import find_spec
from pathlib import Path

ZIPPED = "python"
"""The part of Spark that has PySpark in an archive, which workers would import first."""


def spark_home(where: Path) -> Path:
    """Spark in a new folder, where its workers may write.

    They import PySpark as it is installed, with its byte code, and not from the archive, which has
    none: that is a second of CPU time for every worker that starts, and Spark waits ten seconds by
    the clock for it, however busy the machine is."""
    import pyspark

    where.mkdir()
    for part in Path(pyspark.__file__).parent.iterdir():
        if part.name != ZIPPED:
            (where / part.name).symlink_to(part)
    return where


def use_spark_home() -> None:
    """For this process and those that it starts, unless there is a Spark already."""
    if "SPARK_HOME" not in os.environ and find_spec("pyspark") is not None:
        folder = tempfile.mkdtemp(prefix="cereus-spark-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        os.environ["SPARK_HOME"] = str(spark_home(Path(folder, "spark")))
