"""The folder that Spark is started in: workers import PySpark as it is installed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from cereus.spark.starting import home

pytest.importorskip("pyspark")


def test_the_folder_has_all_of_spark_but_the_archive(tmp_path: Path) -> None:
    installed = home.installed_spark()
    assert installed is not None
    made = home.spark_home(tmp_path / "spark", installed)
    assert {each.name for each in installed.iterdir()} - {each.name for each in made.iterdir()} == {
        home.ARCHIVED
    }
    assert (made / "bin" / "spark-submit").exists() and (made / "jars").is_dir()


def test_spark_is_started_there_and_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPARK_HOME")
    with home.unpacked_home():
        first = os.environ["SPARK_HOME"]
    assert "SPARK_HOME" not in os.environ
    with home.unpacked_home():
        assert os.environ["SPARK_HOME"] == first
    monkeypatch.setenv("SPARK_HOME", "elsewhere")
    with home.unpacked_home():
        assert os.environ["SPARK_HOME"] == "elsewhere"
    assert os.environ["SPARK_HOME"] == "elsewhere"


def test_a_pyspark_that_only_this_process_finds_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pyspark").mkdir()
    (tmp_path / "pyspark" / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "pyspark")
    assert home.installed_spark() is None
