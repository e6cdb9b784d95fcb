"""Shared by all tests: hypothesis profiles, one Spark session, and which kernel is tested."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

import cereus.engine
from tests.golden import UPDATE, Golden

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# `ci` draws the same examples in every run; `dev` draws new ones and keeps the failures.
settings.register_profile("dev", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("dev"), derandomize=True, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "dev"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(UPDATE, action="store_true", help="write the golden files anew")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    return Golden(request.config.getoption(UPDATE))


def pytest_report_header() -> str:
    if not cereus.engine.COMPILED:
        return "kernel: uncompiled"
    extension = find_spec("cereus.engine.match.kernel")
    assert extension is not None and extension.origin is not None
    built = Path(extension.origin)
    sources = built.parent.glob("*.py")
    compiled = {path.name.split(".")[0] for path in built.parent.glob(f"*{built.suffix}")}
    stale = [
        source.name
        for source in sources
        if source.stem in compiled and source.stat().st_mtime > built.stat().st_mtime
    ]
    remark = f", OLDER THAN {', '.join(stale)}: run make install" if stale else ""
    return f"kernel: compiled{remark}"


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """One session for all tests: starting one takes seconds."""
    pytest.importorskip("pyspark")
    from cereus.spark import session

    running = session("local[2]", "cereus-tests")
    yield running
    running.stop()
