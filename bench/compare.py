"""`python -m bench.compare OTHER [name …]`: this checkout against another one, side by side.

Every benchmark runs in both checkouts in turn, several times, each time in a new process. Each
figure that `bench.timing.best` measures is compared by its fastest run. OTHER is the folder of the
other checkout, with its modules compiled. --above 1.03 lists the figures with a larger ratio, by
their place in the benchmark.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
from pathlib import Path

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
    options = parser.parse_args()
    print(f"{'':16} {'figures':>8} {'new/old, mean':>14} {'best':>7} {'worst':>7}")
    for name in options.names:
        try:
            pairs = compared(name, options.other.resolve(), options.runs)
        except ValueError as error:
            print(f"{name:16} {error}", flush=True)
            continue
        print(line(name, [new / old for new, old in pairs.values()]), flush=True)
        for place, (new, old) in pairs.items():
            if options.above is not None and new / old > options.above:
                print(f"  figure {place:<4} {new / old:.3f} ({1e3 * old:.2f} → {1e3 * new:.2f} ms)")


def compared(name: str, other: Path, runs: int) -> dict[int, tuple[float, float]]:
    """New and old seconds of each figure, by its place."""
    new, old = [], []
    for _ in range(runs):
        old.append(figures(name, other))
        new.append(figures(name, HERE))
    if len(old[0]) != len(new[0]):
        raise ValueError(f"{len(old[0])} figures there, {len(new[0])} here: not compared")
    fastest = zip(map(min, zip(*new, strict=True)), map(min, zip(*old, strict=True)), strict=True)
    return {place: pair for place, pair in enumerate(fastest, 1) if pair[1] > 0}


def figures(name: str, checkout: Path) -> list[float]:
    """The seconds that one run of a benchmark measures, in their order."""
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
    return seconds


def line(name: str, found: list[float]) -> str:
    if not found:
        return f"{name:16} measures nothing with bench.timing.best"
    mean = math.exp(sum(map(math.log, found)) / len(found))
    return f"{name:16} {len(found):8} {mean:14.3f} {min(found):7.2f} {max(found):7.2f}"


if __name__ == "__main__":
    main()
