"""Run every hostile text in every way: `python -m bench.adversaries [PART OF A NAME …]`.

Each text of `tests/adversaries.py` and `tests/safety/texts/families.py` runs in its own process,
through everything that can be done with a text. The benchmark records the outcome, the CPU time,
and the memory that the process needed in addition to its memory at the start. It prints the texts
that exceed the bounds, or that ended neither in an answer nor in a CereusError; with `--all` it
prints everything. `--sizes` chooses the sizes of the texts of families, in this order. A name that
begins with `=` is a whole name. All of it takes hours. `--largest` leaves out the texts of which a
larger one of the same family was compiled and explained: what is left shows the bounds. With
`--results FILE` each text that is done is written to a file of JSON lines, and the same command
goes on where it was ended.
`tests/test_adversaries.py` and `tests/safety/texts/test_families.py` say what the outcome of each
text should be, without a clock.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import chain, islice
from pathlib import Path

import cereus
from cereus.errors import CereusError
from tests.adversaries import TEXTS
from tests.safety.surfaces import LANGUAGES, PLANNED, RUNS, TEXT_USES, USES, compiled
from tests.safety.surfaces import Use as QueryUse
from tests.safety.texts.families import SIZES, Hostile, hostile

ANSWER = "an answer"
SECONDS = 5
MEGABYTES = 500
PATIENCE = 4 * SECONDS
"""CPU seconds after which a process is ended."""
LONG_TEXT = 100_000
"""Longer texts are read fewer times."""
Work = Callable[[], object]
LARGE_FIRST = tuple(sorted(SIZES, key=lambda size: (size == SIZES[-1], -size)))
"""A text of a megabyte is refused more often than one of some thousands."""
PARTS: dict[str, tuple[Mapping[str, Callable[[str, str], object]], Mapping[str, QueryUse]]] = {
    "all": (TEXT_USES, USES),
    "planned": (TEXT_USES, PLANNED),
    "runs": ({}, {name: USES[name] for name in RUNS}),
}
"""Which uses of a text and of a query are measured."""


@dataclass(frozen=True)
class Use:
    """What one surface made of a text."""

    surface: str
    outcome: str
    seconds: float
    megabytes: float

    @property
    def fine(self) -> bool:
        ended = self.outcome == ANSWER or self.outcome.startswith("refused")
        return ended and self.seconds <= SECONDS and self.megabytes <= MEGABYTES


def apart(works: dict[str, Work]) -> Iterator[Use]:
    """What comes of some works, one after the other in a process of their own, as far as that
    lives; the first one that fails is the last one of its process if it is called "compile"."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        for name, work in works.items():
            report = reported(work)
            os.write(writing, report.encode()[:2_000] + b"\n")
            if name == "compile" and not report.endswith(ANSWER):
                break
        os._exit(0)
    os.close(writing)
    names = iter(list(works))
    with os.fdopen(reading, "rb") as pipe:
        for line in pipe:
            seconds, kilobytes, outcome = line.decode(errors="replace").rstrip().split(" ", 2)
            yield Use(next(names), outcome, float(seconds), float(kilobytes) / 1024)
    _, status, usage = os.wait4(child, 0)
    if status:
        outcome = f"ended by signal {status & 127}"
        yield Use(next(names), outcome, usage.ru_utime + usage.ru_stime, 0.0)


def reported(work: Work) -> str:
    """The seconds, the kilobytes, and what came of it, in one line."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    patience = int(usage.ru_utime + usage.ru_stime) + PATIENCE
    resource.setrlimit(resource.RLIMIT_CPU, (patience, resource.RLIM_INFINITY))
    began = time.process_time()
    try:
        work()
        outcome = ANSWER
    except CereusError as error:
        outcome = f"refused: {type(error).__name__}: {_begin(error)}"
    except BaseException as error:
        outcome = f"{type(error).__name__}: {_begin(error)}"
    seconds = time.process_time() - began
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return f"{seconds} {after - usage.ru_maxrss} {outcome}"


def _begin(error: BaseException) -> str:
    return (str(error).splitlines() or [""])[0][:120]


def used(dialect: str, text: str, part: str = "all") -> Iterator[Use]:
    """What each surface makes of a text."""
    of_text, of_query = PARTS[part]
    works: dict[str, Work] = {
        name: lambda ask=ask: ask(text, dialect)
        for name, ask in of_text.items()
        if len(text) < LONG_TEXT or name in ("format", "problems")
    }
    if of_text and len(text) < LONG_TEXT:
        works["without a schema"] = lambda: compiled(text, dialect, None)
    while works:
        for use in apart(works):
            yield use
            del works[use.surface]
    yield from _used_as_a_query(dialect, text, of_query)


def _used_as_a_query(dialect: str, text: str, uses: Mapping[str, QueryUse]) -> Iterator[Use]:
    """Uses that end a process are followed by others in another one, compiled once more."""
    queries: list[cereus.Query] = []
    compiling: dict[str, Work] = {"compile": lambda: queries.append(compiled(text, dialect))}
    works: dict[str, Work] = {
        name: lambda work=work: work(queries[0]) for name, work in uses.items()
    }
    first = True
    while works:
        for use in apart(compiling | works):
            if use.surface != "compile":
                del works[use.surface]
            elif use.outcome != ANSWER:
                works.clear()
            if first or use.surface != "compile":
                yield use
        first = False


def line(name: str, use: Use) -> str:
    sign = " " if use.fine else "!"
    costs = f"{use.seconds:6.2f} s {use.megabytes:6.0f} MB"
    return f"{sign} {name:42} {use.surface:17} {costs}  {use.outcome}"


def texts(names: list[str], sizes: tuple[int, ...]) -> Iterator[Hostile]:
    alone = (Hostile(name, 0, dialect, text) for name, (dialect, text) in TEXTS.items())
    of_families = (each for size in sizes for each in hostile((size,)))
    return (each for each in chain(alone, of_families) if _chosen(each.name, names))


def _chosen(name: str, parts: list[str]) -> bool:
    return not parts or any(part in f"={name}" for part in parts)


class Results:
    """A file with a line for each text that is done."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        lines = path.read_text().splitlines() if path and path.exists() else []
        self.done: dict[str, list[Use]] = {}
        for record in map(json.loads, lines):
            self.done[record["name"]] = [Use(**use) for use in record["uses"]]

    def add(self, name: str, uses: list[Use]) -> None:
        self.done[name] = uses
        if self.path:
            with self.path.open("a") as file:
                file.write(json.dumps({"name": name, "uses": list(map(asdict, uses))}) + "\n")


class Largest:
    """How large the texts of each family are that were compiled and explained."""

    def __init__(self) -> None:
        self.answered: dict[str, int] = {}

    def add(self, text: Hostile, uses: list[Use]) -> None:
        planned = [use.outcome for use in uses if use.surface in ("compile", "explain")]
        if planned and all(outcome == ANSWER for outcome in planned):
            self.answered[text.family] = max(text.size, self.answered.get(text.family, 0))

    def covers(self, text: Hostile) -> bool:
        return text.size < self.answered.get(text.family, 0)


def main() -> None:
    parser = argparse.ArgumentParser(description="Use every adversary on every surface.")
    parser.add_argument("names", nargs="*", help="parts of names of texts")
    parser.add_argument("--all", action="store_true", help="also print texts within the bounds")
    parser.add_argument("--part", default="0/1", help="1/4: the second text of every four")
    parser.add_argument("--uses", choices=PARTS, default="all", help="planned: without events")
    parser.add_argument("--sizes", type=int, nargs="*", default=LARGE_FIRST, help="of families")
    parser.add_argument("--largest", action="store_true", help="only the largest that are queries")
    parser.add_argument("--results", type=Path, help="a file to go on with")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for dialect in LANGUAGES:  # the grammars are built once
        with suppress(CereusError):
            compiled("?", dialect)
    results, largest = Results(options.results), Largest()
    done = beyond = 0
    part, parts = map(int, options.part.split("/"))
    for text in islice(texts(options.names, tuple(options.sizes)), part, None, parts):
        if options.largest and largest.covers(text):
            continue
        if text.name not in results.done:
            results.add(text.name, list(used(text.dialect, text.text, options.uses)))
        uses = results.done[text.name]
        largest.add(text, uses)
        done += 1
        for use in uses:
            beyond += not use.fine
            if options.all or not use.fine:
                print(line(text.name, use), flush=True)
    print(f"{done:,} texts, {beyond} beyond {SECONDS} s or {MEGABYTES} MB, or no error")
    raise SystemExit(beyond > 0)


if __name__ == "__main__":
    main()
