"""A language of another package, as if it were installed."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

from cereus.language import registry

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PLUGIN = Path(__file__).parent / "plugin"
NAME = "then"


@pytest.fixture(scope="module")
def then() -> Iterator[ModuleType]:
    """The tree of the language `then`, whose package is found by its entry point."""
    sys.path.insert(0, str(PLUGIN))
    registry.look_for_others()
    yield sys.modules["then_language.tree"]
    registry.unregister(NAME)
    sys.path.remove(str(PLUGIN))


@pytest.fixture(scope="module")
def spark_then(
    spark: SparkSession, then: ModuleType, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SparkSession]:
    """A session whose workers have the package too."""
    packed = shutil.make_archive(str(tmp_path_factory.mktemp("plugin") / "then"), "zip", PLUGIN)
    found_here = sys.path.copy()
    spark.sparkContext.addPyFile(packed)
    yield spark
    sys.path[:] = found_here  # Spark adds the package here too
