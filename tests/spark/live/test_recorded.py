"""Checkpoints that earlier versions have written, of Cereus and of Spark, are continued."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("pyspark")

from tests.spark.files import write
from tests.spark.live.recorded_checkpoint import (
    FILES,
    PLACE,
    RECORDED,
    RECORDED_FILES,
    SETTINGS,
    continued,
    in_order,
    moved,
    parts,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.long]

NAMES = sorted(path.name.removesuffix(".tar.gz") for path in RECORDED.glob("*.tar.gz"))


@pytest.fixture
def settings(spark: SparkSession) -> Iterator[None]:
    before = {name: spark.conf.get(name) for name in SETTINGS}
    for name, value in SETTINGS.items():
        spark.conf.set(name, value)
    yield
    for name, earlier in before.items():
        spark.conf.set(name, earlier)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.usefixtures("settings")
def test_a_recorded_checkpoint_is_continued(name: str, spark: SparkSession, tmp_path: Path) -> None:
    """It finds what a stream finds that reads all files in one run."""
    kind = name.rpartition("_")[2]
    with tarfile.open(RECORDED / f"{name}.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    moved(tmp_path / "checkpoint", PLACE, str(tmp_path))
    for folder in ("later", "all"):
        (tmp_path / folder).mkdir()
    write(tmp_path / "later", parts(range(RECORDED_FILES, FILES)))
    write(tmp_path / "all", parts(range(FILES)))
    before = json.loads((tmp_path / "checkpoint" / "found.json").read_text())
    later = continued(spark, kind, tmp_path / "later", tmp_path / "checkpoint")
    whole = continued(spark, kind, tmp_path / "all", tmp_path / "fresh")
    assert in_order(before + later) == whole
    assert 0 < len(before) < len(whole)
