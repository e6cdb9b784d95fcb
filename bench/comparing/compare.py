"""`python -m bench.comparing.compare OTHER [name …]`: this checkout against another one, side by
side.

OTHER is the folder of the other checkout, with its modules compiled. Both run the queries of
`bench.comparing.figures` in turn, each checkout in a process of its own, and every figure is
printed as soon as it is there: CPU milliseconds of the fastest run.

--instructions counts the instructions of one run instead (`bench.comparing.instructions`). --events
1000 takes the first events only: there the cost of a run that does not depend on its events is most
of it.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

import pyarrow as pa

from bench.comparing.environments import PROGRAMS, Missing
from bench.comparing.figures import FIGURES, TABLES, Figure
from bench.comparing.instructions import ALIKE, counting_python, total
from cereus import Stream

HERE = Path(__file__).resolve().parents[2]


class Release:
    """A checkout that measures one query after the other, in a process of its own. With a folder it
    counts instructions; the counts of each function are kept there for callgrind_annotate."""

    def __init__(self, checkout: Path, folder: Path | None = None) -> None:
        self.folder = folder
        self.dumps = 0
        self.process = subprocess.Popen(
            self._command(),
            env=os.environ | ALIKE | {"PYTHONPATH": str(checkout / "src")},
            cwd=checkout,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def _command(self) -> list[str]:
        python = [sys.executable, str(PROGRAMS / "release.py")]
        if self.folder is None:
            return python
        counting, switch = counting_python(self.folder)
        return [*counting, *python[1:], switch]

    def __enter__(self) -> Release:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.process.communicate()

    def measure(self, figure: Figure, path: Path, events: int | None = None) -> float | None:
        """CPU milliseconds, or millions of instructions; None where it cannot run the query."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        case = [figure.dialect, figure.text, _columns(figure.stream), figure.options,
                figure.method, str(path), events]  # fmt: skip
        print(json.dumps(case), file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        if not answer:
            raise Missing(f"its process ended at {figure.name!r}")
        seconds: float | None = json.loads(answer)
        if seconds is None:
            return None
        if self.folder is None:
            return 1e3 * seconds
        self.dumps += 1
        return total(self.folder, self.dumps) / 1e6


def _columns(stream: Stream) -> dict[str, object]:
    """A stream as what any release takes."""
    given = {"type": stream.type, "time": stream.time, "unit": stream.unit, "keys": stream.keys}
    return {name: value for name, value in given.items() if value}


class Pair(NamedTuple):
    """A figure of both checkouts."""

    name: str
    old: float
    new: float

    @property
    def ratio(self) -> float:
        return self.new / self.old


def pairs(
    figures: Iterable[Figure], old: Release, new: Release, events: int | None = None, runs: int = 1
) -> Iterator[Pair]:
    """Each figure that both know: the least of several runs that take turns."""
    with tempfile.TemporaryDirectory() as folder:
        for figure in figures:
            path = _written(figure.table, Path(folder))
            both = [
                (old.measure(figure, path, events), new.measure(figure, path, events))
                for _ in range(runs)
            ]
            before, after = zip(*both, strict=True)
            if None not in both[0]:
                yield Pair(figure.name, min(before), min(after))


def _written(table: str, folder: Path) -> Path:
    path = folder / table
    if not path.exists():
        events = TABLES[table]()
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, events.schema) as writer:
            writer.write_table(events)
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare this checkout with another one.")
    parser.add_argument("other", type=Path)
    parser.add_argument("names", nargs="*", choices=[[], *FIGURES], help="by default all")
    parser.add_argument("--runs", type=int, default=3, help="how often each figure is timed")
    parser.add_argument("--events", type=int, help="take the first so many events only")
    parser.add_argument("--only", default="", help="figures whose names match")
    parser.add_argument("--instructions", type=Path, metavar="FOLDER", help="count, not time")
    options = parser.parse_args()
    counts: Path | None = options.instructions
    runs = 1 if counts else options.runs
    with ExitStack() as both:
        old, new = (
            both.enter_context(Release(checkout.resolve(), counts and counts.resolve() / name))
            for name, checkout in (("old", options.other), ("new", HERE))
        )
        for name in options.names or FIGURES:
            chosen = (each for each in FIGURES[name]() if re.search(options.only, each.name))
            _report(name, pairs(chosen, old, new, options.events, runs))


def _report(name: str, found: Iterator[Pair]) -> None:
    ratios = []
    for pair in found:
        print(f"{name:12} {pair.name:44} {pair.old:10.2f} {pair.new:10.2f} {pair.ratio:6.3f}",
              flush=True)  # fmt: skip
        ratios.append(pair.ratio)
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"{name:12} {len(ratios)} figures, new/old: mean {mean:.3f}, least {min(ratios):.3f},"
              f" greatest {max(ratios):.3f}\n", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
