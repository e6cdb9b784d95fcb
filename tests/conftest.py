"""Shared by all tests: hypothesis profiles, one Spark session, and which kernel is tested."""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Callable, Iterator
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings
from hypothesis.internal.conjecture import providers

import cereus.engine
from tests.golden import UPDATE, Golden
from tests.spark_home import use_spark_home
from tests.volume import LONG, draws_more, volume

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# `ci` draws the same examples in every run; `dev` draws new ones and keeps the failures.
settings.register_profile(
    "dev",
    max_examples=volume(25, 50),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("ci", settings.get_profile("dev"), derandomize=True, print_blob=True)
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "dev")
settings.load_profile(PROFILE)
if PROFILE == "ci":
    # Hypothesis also draws the constants that it finds in the sources of loaded modules. Which
    # these are depends on the tests that a process has run before: no two runs drew the same.
    providers._get_local_constants = lambda: providers._local_constants


# What takes too much memory fails where it does, instead of the whole run.
MOST_BYTES = 10 << 30
# RLIMIT_DATA, not RLIMIT_AS: V8, which draws charts, reserves far more addresses than it uses.
_soft, _hard = resource.getrlimit(resource.RLIMIT_DATA)
if _soft == resource.RLIM_INFINITY:
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_BYTES, _hard))

# A shell starts what runs in the background with Ctrl-C ignored, and so would the processes that
# tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Spark's JVM lives for minutes and sees little data: the optimising compiler costs more than it
# gives (a third of the CPU time of these tests).
os.environ.setdefault("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
use_spark_home()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(UPDATE, action="store_true", help="write the golden files anew")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    return Golden(request.config.getoption(UPDATE))


def pytest_report_header() -> str:
    if not cereus.engine.COMPILED:
        return "kernel: uncompiled"
    stale = sorted(source.name for source in _sources_newer_than_their_modules())
    remark = f", OLDER THAN {', '.join(stale)}: run make install" if stale else ""
    return f"kernel: compiled{remark}"


def _sources_newer_than_their_modules() -> Iterator[Path]:
    package = Path(cereus.__file__).parent
    suffix = EXTENSION_SUFFIXES[0]
    for built in package.rglob(f"*{suffix}"):
        source = built.with_name(built.name.removesuffix(suffix) + ".py")
        if source.exists() and source.stat().st_mtime > built.stat().st_mtime:
            yield source


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    from tests.distribution import scheduling

    return scheduling(config, log)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Choose the tests to run. To update golden files: those that compare golden files. Tests that
    are named on the command line always run. With CEREUS_TEST_LONG=1: those that are marked `long`
    or draw more cases than in `make test`, where the others have run. Otherwise: all but the long
    ones."""
    if config.getoption(UPDATE):
        _keep(config, items, lambda item: "golden" in getattr(item, "fixturenames", ()))
    elif not any("::" in name for name in config.args):
        _keep(config, items, lambda item: _draws_more(item) if LONG else not _is_long(item))


def _keep(
    config: pytest.Config, items: list[pytest.Item], wanted: Callable[[pytest.Item], bool]
) -> None:
    others = [item for item in items if not wanted(item)]
    if others:
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if wanted(item)]


def _is_long(item: pytest.Item) -> bool:
    return item.get_closest_marker("long") is not None


def _draws_more(item: pytest.Item) -> bool:
    return (
        _is_long(item)
        or _draws_more_in(item.path)
        or (is_hypothesis_test(getattr(item, "obj", None)) and _draws_more_in(Path(__file__)))
    )


@cache
def _draws_more_in(file: Path) -> bool:
    return draws_more(file.read_text())


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """One session for all tests: starting one takes seconds."""
    pytest.importorskip("pyspark")
    from cereus.spark import session

    running = session("local[2]", "cereus-tests")
    yield running
    running.stop()
