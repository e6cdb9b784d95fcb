"""`python -m bench [NAME …]`: run the benchmarks that make the page, or benchmarks by name.

Without a name it runs the benchmarks of the page: the built-in queries, the scaling laws and the
experiments of the SRT paper; with `--peers` also other engines. It writes JSON, the page and its
pictures to bench/results. `--against` compares the built-in queries with another checkout, which
runs now, or with a results.json. Every other file that has a `main` or `sections` is a benchmark
with its own name; `python -m bench.spark.live --help` tells the arguments of one. If it
makes a part of the page, it writes that part to a folder of bench/results; otherwise it prints.
"""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path
from types import ModuleType

from bench import queries, srt
from bench.growth import scaling
from cereus.bench.page import ResultSection, write

RESULTS = Path(__file__).parent / "results"
TITLE = "Benchmarks of Cereus"


def benchmark(name: str) -> ModuleType:
    """The module of a name: `srt`, `spark.live`, or only `cliffs` for `kinds.cliffs`."""
    here = Path(__file__).parent
    paths = [here / f"{name.replace('.', '/')}.py", *sorted(here.glob(f"*/{name}.py"))]
    modules = [path.relative_to(here).with_suffix("").parts for path in paths if path.exists()]
    if not modules:
        raise SystemExit(f"there is no benchmark {name!r} in {here}")
    return importlib.import_module(".".join(("bench", *modules[0])))


def page(peers: bool, other: Path | None) -> list[str]:
    """Measure and write all sections; what failed."""
    print("queries")
    sections: list[ResultSection] = queries.sections(other)
    print("scaling laws")
    laws = scaling.sections()
    sections += laws
    print("the experiments of the SRT paper")
    sections += srt.sections()
    if peers:
        from bench.comparing import peers as beside

        print("other engines")
        sections += beside.sections()
    print(f"written to {write(RESULTS, TITLE, sections)}")
    return scaling.failures(laws)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("names", nargs="*", help="measurements by name, instead of the page")
    parser.add_argument("--peers", action="store_true", help="other engines as well")
    parser.add_argument("--against", type=Path, help="a checkout, or a results.json")
    options = parser.parse_args()
    failed: list[str] = []
    for name in options.names:
        print(f"── {name} " + "─" * (70 - len(name)))
        module = benchmark(name)
        if hasattr(module, "sections"):
            made = queries.sections(options.against) if module is queries else module.sections()
            print(f"written to {write(RESULTS / name, TITLE, made)}")
            failed += scaling.failures(made) if module is scaling else []
        else:
            module.main()
        print()
    if not options.names:
        failed = page(options.peers, options.against)
    if failed:
        raise SystemExit("; ".join(failed))


if __name__ == "__main__":
    main()
