"""The doctor finds what is wrong, says what to do, and leaves with an exit code."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from cereus.cli import main
from cereus.errors import CereusError
from cereus.spark.starting import doctor
from cereus.spark.starting.doctor import CheckState

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.parametrize(
    ("installed", "least", "below", "state"),
    [
        ("4.1.0", (4, 1), None, CheckState.GOOD),
        ("4.0.9", (4, 1), None, CheckState.WRONG),
        ("10.0", (9, 5), None, CheckState.GOOD),
        ("3.0.1", (2, 2), (3,), CheckState.WARNING),
    ],
)
def test_versions(
    monkeypatch: pytest.MonkeyPatch,
    installed: str,
    least: tuple[int, ...],
    below: tuple[int, ...] | None,
    state: CheckState,
) -> None:
    monkeypatch.setattr(doctor.importlib.metadata, "version", lambda _: installed)
    found = doctor.version("pandas", least, below)
    assert found.state is state
    assert (found.advice is None) == (state is CheckState.GOOD)


def test_a_package_that_is_not_there() -> None:
    found = doctor.version("no-such-package", (1,), None)
    assert found.state is CheckState.WRONG and "pip install 'no-such-package>=1'" in str(
        found.advice
    )


def test_places_to_write_to(tmp_path: Path) -> None:
    new = tmp_path / "new" / "checkpoints"
    assert doctor.writable(str(tmp_path)).state is CheckState.GOOD
    assert doctor.writable(str(new)).state is CheckState.GOOD and not new.exists()
    assert doctor.writable("/proc/checkpoints").state is CheckState.WRONG
    assert doctor.writable("s3://bucket/checkpoints").state is CheckState.WARNING


def test_little_memory_and_a_full_disk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(doctor, "available_memory", lambda: 1 << 30)
    assert "spark.driver.memory" in str(doctor.memory().advice)
    monkeypatch.setattr(doctor, "LEAST_DISK", 1 << 62)
    assert "spark.local.dir" in str(doctor.writable(str(tmp_path)).advice)


def no_java() -> str:
    raise CereusError("none was found", hint="install one")


def test_without_java_spark_is_not_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "ensure_java", no_java)
    monkeypatch.setattr(doctor, "session", lambda *_: pytest.fail("started"))
    said = CliRunner().invoke(main.app, ["spark", "doctor"])
    assert said.exit_code == 1
    assert "problem  java: none was found\n         → install one" in said.stdout
    assert said.stdout.endswith("there are problems\n")


@pytest.mark.spark
def test_with_spark_running_the_workers_are_asked(spark: SparkSession) -> None:
    found = {each.check: each for each in doctor.running("local[2]")}
    assert [each.state for each in found.values()] == [CheckState.GOOD] * 3, found
    assert "Python 3." in found["workers"].description
    assert "matches, as in this process" in found["match"].description


@pytest.mark.spark
def test_workers_without_cereus(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_: SparkSession) -> doctor.Finding:
        raise RuntimeError("Traceback …\nModuleNotFoundError: No module named 'cereus'\n\tat java")

    monkeypatch.setattr(doctor, "workers", missing)
    found = {each.check: each for each in doctor.running("local[2]")}
    assert found["workers"].state is CheckState.WRONG
    assert found["workers"].description == "ModuleNotFoundError: No module named 'cereus'"
    assert "spark.archives" in str(found["workers"].advice)
