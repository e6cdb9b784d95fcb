"""The command that runs Spark tests on other versions of Python and PySpark."""

from __future__ import annotations

from pathlib import Path

import pytest

from . import versions


def test_pyspark_is_the_lowest_the_newest_or_a_version() -> None:
    allowed = versions.requirement("newest")
    assert allowed.startswith("pyspark>=")
    assert versions.requirement("lowest") == allowed.replace(">=", "==")
    assert versions.requirement("4.2.0") == "pyspark==4.2.0"


def test_the_chosen_tests_are_there() -> None:
    for chosen in versions.TESTS:
        path, _, name = chosen.partition("::")
        assert f"def {name}" in (versions.ROOT / path).read_text(), chosen


def test_a_python_that_is_not_here_is_skipped(capsys: pytest.CaptureFixture[str]) -> None:
    assert versions.main(["3.99:newest"]) == 0
    shown = capsys.readouterr().out
    assert shown == "3.99:newest    skipped: it needs Python 3.99, and there is none here\n"


def test_a_pair_that_fails_fails_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def without_network(base: str, name: str, pyspark: str) -> Path:
        raise versions.Failed(f"installing {pyspark}")

    monkeypatch.setattr(versions, "installed_python", lambda version: f"python{version}")
    monkeypatch.setattr(versions, "environment", without_network)
    assert versions.main(["3.99:4.2.0"]) == 1
    assert "3.99:4.2.0     failed: installing pyspark==4.2.0\n" in capsys.readouterr().out
