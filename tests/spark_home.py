"""The Spark inside the wheel, seen from another place."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from importlib.util import find_spec
from pathlib import Path

from cereus.spark.starting import home


def spark_home(where: Path) -> Path:
    """Spark in a new folder, where its workers may write, and import PySpark as it is installed."""
    import pyspark

    return home.spark_home(where, Path(pyspark.__file__).parent)


def use_spark_home() -> None:
    """For this process and those that it starts, unless there is a Spark already."""
    if "SPARK_HOME" not in os.environ and find_spec("pyspark") is not None:
        folder = tempfile.mkdtemp(prefix="cereus-spark-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        os.environ["SPARK_HOME"] = str(spark_home(Path(folder, "spark")))
