"""How many instructions a part of a Python program takes, counted by valgrind's callgrind.

A count is the same in every run, whatever else the machine does, so it shows a difference of one
per cent where times differ by a quarter. It knows nothing of caches. Needed: valgrind with its
headers, and a C compiler.
"""

from __future__ import annotations

import ctypes
import gc
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

ALIKE = {"PYTHONHASHSEED": "0", "CEREUS_THREADS": "1", "OMP_NUM_THREADS": "1"}
"""What makes two runs do the same."""
SWITCH = """
#include <valgrind/callgrind.h>
void begin(void) { CALLGRIND_START_INSTRUMENTATION; }
void count(void) { CALLGRIND_ZERO_STATS; CALLGRIND_TOGGLE_COLLECT; }
void done(void) { CALLGRIND_TOGGLE_COLLECT; CALLGRIND_DUMP_STATS; }
"""
"""What Python calls: once everything is imported, and around each run that is counted."""


def counting_python(folder: Path) -> tuple[list[str], str]:
    """A Python under callgrind, as a command, and the library that switches its counting on and
    off. The counts of each function are kept in the folder for callgrind_annotate."""
    folder.mkdir(parents=True, exist_ok=True)
    switch = str(folder / "switch.so")
    compiler = ["gcc", "-shared", "-fPIC", "-x", "c", "-", "-o", switch]
    subprocess.run(compiler, input=SWITCH, text=True, check=True)
    valgrind = ["valgrind", "--tool=callgrind", "--instr-atstart=no", "--collect-atstart=no"]
    return [*valgrind, f"--callgrind-out-file={folder}/dump", sys.executable], switch


def total(folder: Path, number: int) -> int:
    """The instructions of the run that was counted as the first, the second …"""
    dump = (folder / f"dump.{number}").read_text()
    found = re.search(r"^(?:totals|summary): (\d+)", dump, re.MULTILINE)
    assert found is not None, "callgrind wrote no total"
    return int(found[1])


class Counter:
    """Counts inside a program that `counting_python` runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.dumps = 0
        self.switch = ctypes.CDLL(str(folder / "switch.so"))
        self.switch.begin()

    def of(self, work: Callable[[], object]) -> int:
        gc.collect()
        gc.disable()
        self.switch.count()
        work()
        self.switch.done()
        gc.enable()
        self.dumps += 1
        return total(self.folder, self.dumps)
