"""Chooses where `cereus run` matches: in this process, or on Spark."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path

from cereus.cli.view import err
from cereus.errors import CereusError
from cereus.sources.places import is_remote, present

FITS = 2 << 30
"""Up to this many bytes of files are read in this process, which takes less than a minute."""
MEMORY_SHARE = 8
"""… and at most one part in this many of the memory: events may be many times as large there."""
STARTING = "starting Spark …"


class Engine(StrEnum):
    AUTO = "auto"
    LOCAL = "local"
    SPARK = "spark"


@dataclass(frozen=True)
class EngineChoice:
    """Where a query runs, and why."""

    engine: Engine
    why: str

    def announce(self) -> None:
        """Print one line on the terminal, before anything starts."""
        where = "on Spark" if self.engine is Engine.SPARK else "in this process"
        err.print(f"running {where}: {self.why}", style="dim", highlight=False, soft_wrap=True)


def chosen_engine(
    engine: Engine, paths: Sequence[str], *, master: str | None, time: str | None
) -> EngineChoice:
    """The engine that was asked for; else this process for data that fits it, and Spark for the
    rest."""
    if engine is Engine.LOCAL and master is not None:
        raise CereusError("--master is for Spark", hint="leave out --engine local")
    if engine is not Engine.AUTO:
        return EngineChoice(engine, f"--engine {engine.value}")
    if master is not None:
        return EngineChoice(Engine.SPARK, f"--master {master}")
    for path in paths:
        if path != "-" and not is_remote(path):
            present(path)  # a missing file is an error before anything is announced
    reason = _only_here(paths, time)
    if reason is not None:
        return EngineChoice(Engine.LOCAL, _fitting(paths) or reason)
    elsewhere = next(filter(is_remote, paths), None)
    if elsewhere is not None:
        return EngineChoice(Engine.SPARK, f"{elsewhere} is not on this machine")
    fitting = _fitting(paths)
    if fitting is not None:
        return EngineChoice(Engine.LOCAL, f"{fitting} (on Spark with --engine spark)")
    size, most = sum(map(_size, paths)), fitting_bytes()
    return EngineChoice(
        Engine.SPARK,
        f"{size_text(size)} of events are more than {size_text(most)} "
        "(in this process with --engine local)",
    )


def _fitting(paths: Sequence[str]) -> str | None:
    """How much there is to read, if it is little enough for this process."""
    if any(path == "-" or is_remote(path) for path in paths):
        return None
    size = sum(map(_size, paths))
    return f"{size_text(size)} of events" if size <= fitting_bytes() else None


def _only_here(paths: Sequence[str], time: str | None) -> str | None:
    """Why Spark cannot run the query, if it cannot."""
    if find_spec("pyspark") is None:
        return "pyspark is not installed"
    if time is None:
        return "Spark would need --time, because it does not keep the order of files"
    if any(path == "-" for path in paths):
        return "events come from the standard input"
    return None


def fitting_bytes() -> int:
    """How many bytes of files this process takes by itself."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not on every system
        return FITS
    return min(FITS, memory // MEMORY_SHARE)


def _size(path: str) -> int:
    """The bytes of a file, of all files in a directory, or of those that a pattern names."""
    return sum(file.stat().st_size for each in present(path) for file in _files(Path(each)))


def _files(path: Path) -> Iterator[Path]:
    return (file for file in path.rglob("*") if file.is_file()) if path.is_dir() else iter((path,))


def size_text(size: int) -> str:
    """`12.3 MB`"""
    for unit, bytes_ in (("GB", 1 << 30), ("MB", 1 << 20), ("kB", 1 << 10)):
        if size >= bytes_:
            return f"{size / bytes_:.1f} {unit}"
    return f"{size} bytes"


def announce_spark() -> None:
    """Announce at once that Spark is being started, which takes seconds."""
    if find_spec("pyspark") is None:
        return  # an error that says how to install it comes next
    from pyspark.sql import SparkSession

    if SparkSession.getActiveSession() is None:
        err.print(STARTING, style="dim", highlight=False)
