"""`python -m bench.compare OTHER [name …]`: this checkout against another one, side by side.

Every benchmark runs in both checkouts in turn, several times, each time in a new process. Each
figure that `bench.timing.best` measures is compared by its fastest run. OTHER is the folder of the
other checkout, with its modules compiled. --above 1.03 lists the figures with a larger ratio, by
their place in the benchmark. --instructions counts instead, once: what a busy machine cannot
disturb (`bench.instructions`); --every 8 takes only every eighth figure.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
from pathlib import Path

from bench.instructions import instructions

HERE = Path(__file__).resolve().parent.parent

RECORD = """
import importlib, json, sys
import bench.timing as timing
measure, seconds = timing.best, []
def best(*arguments, **options):
    seconds.append(measure(*arguments, **options))
    return seconds[-1]
timing.best = best
importlib.import_module("bench." + sys.argv[1]).main()
json.dump(seconds, open(sys.argv[2], "w"))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare this checkout with another one.")
    parser.add_argument("other", type=Path)
    parser.add_argument("names", nargs="*", default=["stocks", "correlation"])
    parser.add_argument("--runs", type=int, default=3, help="how often each benchmark runs")
    parser.add_argument("--above", type=float, help="list the figures with a larger ratio")
    parser.add_argument("--instructions", action="store_true", help="count, instead of timing")
    parser.add_argument("--every", type=int, default=1, help="count one figure in so many")
    options = parser.parse_args()
    print(f"{'':16} {'figures':>8} {'new/old, mean':>14} {'best':>7} {'worst':>7}")
    for name in options.names:
        other = options.other.resolve()
        try:
            if options.instructions:
                pairs = counted(name, other, options.every)
            else:
                pairs = compared(name, other, options.runs)
        except ValueError as error:
            print(f"{name:16} {error}", flush=True)
            continue
        print(line(name, [new / old for new, old in pairs.values()]), flush=True)
        for place, (new, old) in pairs.items():
            if options.above is not None and new / old > options.above:
                unit = "M instructions" if options.instructions else "ms"
                print(f"  figure {place:<4} {new / old:.3f} ({old:.2f} → {new:.2f} {unit})")


def counted(name: str, other: Path, every: int) -> dict[int, tuple[float, float]]:
    """New and old millions of instructions of some figures, by their place."""
    old, new = instructions(name, other, every), instructions(name, HERE, every)
    _as_many(old, new)
    return {1 + every * k: pair for k, pair in enumerate(zip(new, old, strict=True))}


def compared(name: str, other: Path, runs: int) -> dict[int, tuple[float, float]]:
    """New and old milliseconds of each figure, by its place."""
    new, old = [], []
    for _ in range(runs):
        old.append(figures(name, other))
        new.append(figures(name, HERE))
    _as_many(old[0], new[0])
    fastest = zip(map(min, zip(*new, strict=True)), map(min, zip(*old, strict=True)), strict=True)
    return {place: pair for place, pair in enumerate(fastest, 1) if pair[1] > 0}


def _as_many(old: list[float], new: list[float]) -> None:
    if len(old) != len(new):
        raise ValueError(f"{len(old)} figures there, {len(new)} here: not compared")


def figures(name: str, checkout: Path) -> list[float]:
    """The milliseconds that one run of a benchmark measures, in their order."""
    output = Path(os.environ.get("TMPDIR", "/tmp")) / f"bench-{os.getpid()}.json"
    paths = os.pathsep.join([str(checkout / "src"), str(checkout)])
    command = [sys.executable, "-c", RECORD, name, str(output)]
    subprocess.run(
        command,
        cwd=checkout,
        env=os.environ | {"PYTHONPATH": paths},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    seconds: list[float] = json.loads(output.read_text())
    output.unlink()
    return [1e3 * each for each in seconds]


def line(name: str, found: list[float]) -> str:
    if not found:
        return f"{name:16} measures nothing with bench.timing.best"
    mean = math.exp(sum(map(math.log, found)) / len(found))
    return f"{name:16} {len(found):8} {mean:14.3f} {min(found):7.2f} {max(found):7.2f}"


if __name__ == "__main__":
    main()
