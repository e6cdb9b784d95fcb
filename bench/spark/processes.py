"""What Spark costs: the CPU time of its JVM and of its Python workers (Linux, from /proc)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

PATIENCE = 10
"""By the clock, a job may take so many times the CPU seconds that it is allowed."""


class CpuTime(NamedTuple):
    """Seconds that the processes below this one have used: the JVM without its compiler of byte
    code, which has little left to do after some minutes, that compiler, and Python; and what of the
    JVM's collects garbage."""

    java: float
    compiler: float
    python: float
    collector: float

    @property
    def both(self) -> float:
        """What goes on for as long as the stream does."""
        return self.java + self.python

    def since(self, before: CpuTime) -> CpuTime:
        return CpuTime(*(now - then for now, then in zip(self, before, strict=True)))


class Processes:
    """The processes below this one; what has ended is remembered."""

    def __init__(self) -> None:
        self._used: dict[int, CpuTime] = {}

    def cpu(self) -> CpuTime:
        for pid, (name, ticks) in below().items():
            self._used[pid] = _parted(pid, name, ticks)
        return CpuTime(*(sum(each) for each in zip(*self._used.values(), strict=True)))


def below() -> dict[int, tuple[str, int]]:
    """The processes below this one: their names, and the ticks that they have used."""
    parents, used = {}, {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, parent, ticks = _read(stat)
        except OSError:  # it has ended meanwhile
            continue
        pid = int(stat.parent.name)
        parents[pid], used[pid] = parent, (name, ticks)
    return {pid: each for pid, each in used.items() if os.getpid() in _above(pid, parents)}


def allowed(seconds: float) -> Callable[[], bool]:
    """A function that says whether the processes below this one have used no more CPU seconds than
    this from now on. On a machine that others use, the clock would say what these do."""
    processes, begin = Processes(), perf_counter()
    before = processes.cpu()

    def within() -> bool:
        java, compiler, python, _ = processes.cpu().since(before)
        patient = perf_counter() - begin <= PATIENCE * seconds
        return java + compiler + python <= seconds and patient

    return within


def _parted(pid: int, name: str, ticks: int) -> CpuTime:
    second = os.sysconf("SC_CLK_TCK")
    if name != "java":
        return CpuTime(0, 0, ticks / second, 0)
    compiling = collecting = 0
    for stat in Path(f"/proc/{pid}/task").glob("[0-9]*/stat"):
        with suppress(OSError):
            thread, _, used = _read(stat)
            compiling += used if thread.startswith(("C1 ", "C2 ")) else 0
            collecting += used if thread.startswith(("GC ", "G1 ", "ParGC ")) else 0
    return CpuTime((ticks - compiling) / second, compiling / second, 0, collecting / second)


def _read(stat: Path) -> tuple[str, int, int]:
    """The name of a process or thread, its parent, and the ticks that it has used."""
    head, _, rest = stat.read_text().rpartition(")")
    fields = rest.split()
    name, used = head.partition("(")[2], int(fields[11]) + int(fields[12])
    if name == "java":  # with the small processes that it starts, which end at once
        used += int(fields[13]) + int(fields[14])
    return name, int(fields[1]), used


def _above(pid: int, parents: dict[int, int]) -> Iterator[int]:
    while pid in parents:
        pid = parents[pid]
        yield pid
