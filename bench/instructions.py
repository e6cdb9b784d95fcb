"""Instructions that benchmarks execute, counted by valgrind's callgrind.

A count is the same in every run, whatever else the machine does, so it shows a difference of one
per cent where seconds on a shared machine differ by a quarter. It knows nothing of caches.
Needed: valgrind with its headers, and a C compiler.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

SWITCH = """
#include <valgrind/callgrind.h>
void count(void) { CALLGRIND_START_INSTRUMENTATION; CALLGRIND_ZERO_STATS; }
void done(void) { CALLGRIND_DUMP_STATS; CALLGRIND_STOP_INSTRUMENTATION; }
"""
"""Python turns counting on and off through these two functions."""

RECORD = """
import ctypes, gc, importlib, itertools, sys
import bench.timing as timing
switch, places, every = ctypes.CDLL(sys.argv[2]), itertools.count(), int(sys.argv[3])
def best(use, *arguments, **options):
    if next(places) % every:
        return 1.0
    for _ in range(2):
        use()
    gc.collect()
    gc.disable()
    switch.count()
    use()
    switch.done()
    gc.enable()
    return 1.0
timing.best = best
importlib.import_module("bench." + sys.argv[1]).main()
"""


def instructions(name: str, checkout: Path, every: int = 1) -> list[float]:
    """Millions of instructions of one figure in `every` of a benchmark, in their order."""
    with tempfile.TemporaryDirectory() as folder:
        _run(name, checkout, Path(folder), every)
        dumps = Path(folder).glob("dump.*")
        return [_total(dump) for dump in sorted(dumps, key=lambda dump: int(dump.suffix[1:]))]


def _run(name: str, checkout: Path, folder: Path, every: int) -> None:
    switch = str(folder / "switch.so")
    compiler = ["gcc", "-shared", "-fPIC", "-x", "c", "-", "-o", switch]
    subprocess.run(compiler, input=SWITCH, text=True, check=True)
    valgrind = ["valgrind", "--tool=callgrind", "--instr-atstart=no"]
    python = [sys.executable, "-c", RECORD, name, switch, str(every)]
    subprocess.run(
        [*valgrind, f"--callgrind-out-file={folder}/dump", *python],
        cwd=checkout,
        env=os.environ
        | {"PYTHONPATH": os.pathsep.join([f"{checkout}/src", str(checkout)])}
        | ALIKE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=True,
    )


ALIKE = {"PYTHONHASHSEED": "0", "CEREUS_THREADS": "1", "OMP_NUM_THREADS": "1"}
"""What makes two runs do the same."""


def _total(dump: Path) -> float:
    found = re.search(r"^(?:totals|summary): (\d+)", dump.read_text(), re.MULTILINE)
    assert found is not None, f"{dump} has no total"
    return int(found[1]) / 1e6
