"""Every adversary on every surface: `python -m bench.adversaries [PART OF A NAME …]`.

Each text of `tests/adversaries.py` is used on one surface at a time, in a process of its own that
may take SECONDS of CPU time: what came of it, how long it took and how much memory the process
needed on top of what it began with. Prints what is beyond the bounds, or came to an end that is
neither an answer nor a CereusError; with `--all` everything. `tests/test_adversaries.py` says what
should become of each text, and looks at no clock.
"""

from __future__ import annotations

import argparse
import os
import resource
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from cereus.errors import CereusError
from tests.adversaries import TEXTS
from tests.safety.surfaces import LANGUAGES, TEXT_USES, USES, compiled

ANSWER = "an answer"
SECONDS = 5
MEGABYTES = 500
PATIENCE = 4 * SECONDS
"""CPU seconds after which a process is ended."""


@dataclass(frozen=True)
class Use:
    """What one surface made of a text."""

    outcome: str
    seconds: float
    megabytes: float

    @property
    def fine(self) -> bool:
        ended = self.outcome == ANSWER or self.outcome.startswith("refused")
        return ended and self.seconds <= SECONDS and self.megabytes <= MEGABYTES


def apart(work: Callable[[], object]) -> Use:
    """Work in a process of its own."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        resource.setrlimit(resource.RLIMIT_CPU, (PATIENCE, PATIENCE))
        os.write(writing, reported(work).encode()[:2_000])
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        report = pipe.read().decode(errors="replace")
    _, status, usage = os.wait4(child, 0)
    if not report:
        return Use(f"ended by signal {status & 127}", usage.ru_utime + usage.ru_stime, 0.0)
    seconds, kilobytes, outcome = report.split(" ", 2)
    return Use(outcome, float(seconds), float(kilobytes) / 1024)


def reported(work: Callable[[], object]) -> str:
    """The seconds, the kilobytes, and what came of it."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.process_time()
    try:
        work()
        outcome = ANSWER
    except CereusError as error:
        outcome = f"refused: {type(error).__name__}: {str(error).splitlines()[0][:120]}"
    except BaseException as error:
        outcome = f"{type(error).__name__}: {str(error)[:200]}"
    seconds = time.process_time() - began
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return f"{seconds} {after - before} {outcome}"


def used(dialect: str, text: str) -> Iterator[tuple[str, Use]]:
    """What each surface makes of a text. What is done with a query begins when it is compiled."""
    for name, ask in TEXT_USES.items():
        yield name, apart(partial(ask, text, dialect))
    yield "without a schema", apart(partial(compiled, text, dialect, None))
    compiling = apart(partial(compiled, text, dialect))
    yield "compile", compiling
    if compiling.outcome != ANSWER:
        return
    query = compiled(text, dialect)
    for name, work in USES.items():
        yield name, apart(partial(work, query))


def line(name: str, surface: str, use: Use) -> str:
    sign = " " if use.fine else "!"
    costs = f"{use.seconds:6.2f} s {use.megabytes:6.0f} MB"
    return f"{sign} {name:42} {surface:17} {costs}  {use.outcome}"


def main() -> None:
    parser = argparse.ArgumentParser(description="Use every adversary on every surface.")
    parser.add_argument("names", nargs="*", help="parts of names of texts")
    parser.add_argument("--all", action="store_true", help="print what is fine, too")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for dialect in LANGUAGES:  # the grammars are built once
        with suppress(CereusError):
            compiled("?", dialect)
    beyond = 0
    for name, (dialect, text) in TEXTS.items():
        if options.names and not any(part in name for part in options.names):
            continue
        for surface, use in used(dialect, text):
            beyond += not use.fine
            if options.all or not use.fine:
                print(line(name, surface, use), flush=True)
    if beyond:
        raise SystemExit(f"{beyond} beyond {SECONDS} s or {MEGABYTES} MB, or no error of Cereus")


if __name__ == "__main__":
    main()
