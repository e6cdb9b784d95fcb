"""Which tests run in one process of several (`-n 3`): those of a file, and of all files that have
tests on Spark, so that one session serves them.

`--dist loadgroup` would do that test by test, but with pytest 9.2 it groups nothing
(pytest-xdist#1386), and looks through all tests whenever one ends.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from xdist.scheduler import LoadScopeScheduling

SPARK = "mark.spark"


class FilesTogether(LoadScopeScheduling):
    """Hands out whole files of tests."""

    def _split_scope(self, nodeid: str) -> str:
        return group(Path(self.config.rootpath, nodeid.partition("::")[0]))


@cache
def group(file: Path) -> str:
    """The name of the group that the tests of a file are in."""
    return "spark" if SPARK in file.read_text() else str(file)
