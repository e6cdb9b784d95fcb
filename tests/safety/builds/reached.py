"""Shows which compiled modules the tests have not run: `pytest -p tests.safety.builds.reached` on
their sources (CEREUS_PURE=1), where calls can be seen.

A module counts when one of its functions is called, not when it is imported. Calls are watched
until all modules have been seen.
"""

from __future__ import annotations

import inspect
import runpy
import sys
from pathlib import Path
from types import FrameType
from typing import Any
from unittest import mock

import pytest

SETUP = Path(__file__).parents[3] / "setup.py"


def compiled_modules() -> tuple[str, ...]:
    """Those that `setup.py` names."""
    with mock.patch("setuptools.setup"), mock.patch.dict("os.environ", CEREUS_PURE="1"):
        names: tuple[str, ...] = runpy.run_path(str(SETUP))["KERNEL_MODULES"]
    return names


class Reached:
    """The modules that have not been run yet."""

    def __init__(self) -> None:
        self.missing = set(compiled_modules())

    def watch(self, frame: FrameType, event: str, _: Any) -> None:
        """Called by Python at every call until nothing is missing."""
        is_function = frame.f_code.co_flags & inspect.CO_OPTIMIZED  # no module, no body of a class
        if is_function and frame.f_globals.get("__name__") in self.missing:
            self.missing.discard(frame.f_globals["__name__"])
            if not self.missing:
                sys.settrace(None)

    def pytest_runtest_setup(self) -> None:
        if self.missing:
            sys.settrace(self.watch)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """What is missing is what no worker has reached."""
        self.missing &= set(getattr(node, "workeroutput", {}).get("missing", self.missing))

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        sys.settrace(None)
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            output["missing"] = sorted(self.missing)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        reached = "all" if not self.missing else f"all but {', '.join(sorted(self.missing))}"
        terminalreporter.section("compiled modules")
        terminalreporter.line(f"{reached} of them have run")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Reached())
