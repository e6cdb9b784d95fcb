"""Which tests run in one process of several (`-n 3`): those of a file, and of all files that have
tests on Spark, so that one session serves them. Without tests on Spark (`-m "not spark"`) each test
goes to a process that has nothing left to do: a file of long random tests does not keep one of them
busy while the others wait.

`--dist loadgroup` would do that test by test, but with pytest 9.2 it groups nothing
(pytest-xdist#1386), and looks through all tests whenever one ends.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling, WorkStealingScheduling

SPARK = "mark.spark"


def scheduling(config: pytest.Config, log: Any) -> Any:
    if config.getoption("markexpr") == "not spark":
        return WorkStealingScheduling(config, log)
    return FilesTogether(config, log)


class FilesTogether(LoadScopeScheduling):
    """Hands out whole files of tests."""

    def _split_scope(self, nodeid: str) -> str:
        return group(Path(self.config.rootpath, nodeid.partition("::")[0]))


@cache
def group(file: Path) -> str:
    """The name of the group that the tests of a file are in."""
    return "spark" if SPARK in file.read_text() else str(file)
