"""All kinds of work count on the way to the next look at Ctrl-C, not only steps.

Looks are counted, and no clock is read: each run here does the work of at least `looks` times what
may lie between two looks, most of it in loops that take no steps.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest

import cereus
from cereus.engine import COMPILED
from cereus.engine.interrupts import StoppedError, bounded, stopping_at
from cereus.languages.algebra.detect.run import CELLS, TICKS, ticks_per_call
from cereus.languages.algebra.executor import DetectingExecutor
from tests.safety.builds.reached import SETUP, compiled_modules

STREAM = cereus.Stream(time="ts")
pytestmark = pytest.mark.skipif(
    not COMPILED,
    reason="uncompiled, Python itself looks for Ctrl-C, and millions of steps take minutes",
)


def events(kinds: str, rows: int) -> pa.Table:
    return pa.table(
        {
            "type": [kinds[row % len(kinds)] for row in range(rows)],
            "ts": pa.array(np.arange(rows), pa.timestamp("ms")),
            "x": np.arange(rows),
            "y": np.arange(rows) / 2,
            "k": np.zeros(rows, np.int64),
        }
    )


def rows(pattern: str, define: str) -> str:
    return (
        f"MATCH_RECOGNIZE (ORDER BY ts MEASURES count(*) AS n PATTERN ({pattern}) DEFINE {define})"
    )


def wide(kinds: str, rows: int) -> pa.Table:
    """Events with the columns that TOTALS adds up."""
    table = events(kinds, rows)
    for number in range(90):
        table = table.append_column(f"x{number}", pa.array(np.arange(rows) + number))
    return table


TOTALS = ", ".join(f"SUM(a.x{number})" for number in range(90))
CONDITIONS = " AND ".join(f"a.x + {number} != b.x * 2 + 1" for number in range(90))
RUNS: dict[str, tuple[str, str, Callable[[], pa.Table], int]] = {
    "values that agree in the first": (
        "ceql",
        "SELECT * WHERE A AS a ; B AS b ; C AS c FILTER a.k = b.k AND a.x = c.x AND b.x = c.x + 1",
        lambda: events("AB", 600),
        4,
    ),
    "counts of values": (
        "ceql",
        "SELECT COUNT(*) WHERE A+ AS a ; B AS b ; C AS c FILTER b.x < c.x WITHIN 1 hour",
        lambda: events("ABC", 2_400),
        2,
    ),
    "many totals of few counts": (
        "ceql",
        f"SELECT COUNT(*), {TOTALS} WHERE A+ AS a ; B AS b ; C AS c FILTER b.x < c.x WITHIN 1 hour",
        lambda: wide("ABC", 900),
        2,
    ),
    "totals of many states": (
        "ceql",
        f"SELECT COUNT(*), {TOTALS} WHERE A+ AS a ; B ; C+ WITHIN 1 hour",
        lambda: wide("ABC", 30_000),
        2,
    ),
    "partial matches that arrive at once": (
        "ceql",
        "SELECT * WHERE A AS a ; B AS b ; C AS c FILTER a.x < b.x AND a.x + b.x = c.x",
        lambda: events("A" * 30_000 + "B" * 4, 30_004),
        1,
    ),
    "the first in a window": (
        "ceql",
        "SELECT NEXT * WHERE A+ AS a ; B+ AS b ; C WITHIN 1 hour",
        lambda: events("AAAAAAAABBBBBBBBC", 8_000),
        4,
    ),
    "long programs": (
        "ceql",
        f"SELECT * WHERE A AS a ; B AS b FILTER {CONDITIONS} AND a.y + b.y < 0",
        lambda: events("AB", 1_600),
        2,
    ),
    "rows: starts that fail at once": (
        "match_recognize",
        rows("a b", "b AS x > FIRST(a.x) * 3 + 10"),
        lambda: events("A", 300_000),
        1,
    ),
}


def run(dialect: str, text: str, table: pa.Table) -> None:
    query = cereus.compile(text, dialect=dialect, stream=STREAM, schema=table.schema)
    for _ in query.batches(table, threads=1):
        pass


A_BATCH = "each loop reads the rows of one batch once"
THE_CALLER = "each call is for one partial match or one row, and its caller counts"
A_CHUNK = "it returns when a chunk of results is full"
WITHOUT_LOOKS = {
    "cereus.engine.ingest.codes": A_BATCH,
    "cereus.engine.ingest.words": A_BATCH,
    "cereus.engine.kernel.terms_vm": THE_CALLER,
    "cereus.engine.kernel.past": THE_CALLER,
    "cereus.engine.kernel.sets": THE_CALLER,
    "cereus.engine.kernel.ordered": THE_CALLER,
    "cereus.engine.kernel.gathering": A_CHUNK,
    "cereus.engine.results.same_rows": A_CHUNK,
    "cereus.languages.algebra.detect.detection": "it is given few ticks at a time",
    "cereus.languages.match_recognize.match.stretches.bounds_kernel": THE_CALLER,
    "cereus.languages.match_recognize.match.stretches.ranks_kernel": THE_CALLER,
    "cereus.languages.match_recognize.match.stretches.stretches_kernel": THE_CALLER,
    "cereus.languages.match_recognize.match.runs.conditions_kernel": THE_CALLER,
    "cereus.languages.match_recognize.match.runs.dead_kernel": THE_CALLER,
    "cereus.languages.match_recognize.match.runs.leaping_kernel": THE_CALLER,
    "cereus.languages.match_recognize.output.scan_kernel": "each loop reads matched rows once",
    "cereus.languages.par.machine.run": A_BATCH,
}
"""The compiled modules that never look for Ctrl-C, and why none of their calls takes a second."""
LOOKS = re.compile(r"interrupted\(\)|_worked\(|_look_if_due\(|look_up\(\)|look_at")


@pytest.mark.parametrize("module", compiled_modules())
def test_every_compiled_module_looks_or_need_not(module: str) -> None:
    source = SETUP.parent.joinpath("src", *module.split(".")).with_suffix(".py").read_text()
    assert bool(LOOKS.search(source)) != (module in WITHOUT_LOOKS)


@pytest.mark.filterwarnings("ignore::cereus.CereusWarning")
@pytest.mark.parametrize("name", RUNS)
def test_work_of_every_kind_leads_to_looks(name: str) -> None:
    dialect, text, table, looks = RUNS[name]
    with bounded(10**9) as work:
        run(dialect, text, table())
    assert work.done >= looks


@pytest.mark.filterwarnings("ignore::cereus.CereusWarning")
@pytest.mark.parametrize("name", RUNS)
def test_a_run_that_nobody_waits_for_ends(name: str) -> None:
    dialect, text, table, _ = RUNS[name]
    given = table()
    stop = threading.Event()
    stop.set()
    with pytest.raises(StoppedError), stopping_at(stop):
        run(dialect, text, given)


def test_configurations_that_are_put_down_and_taken_up_count() -> None:
    text = "SELECT * WHERE A AS a ; B AS b FILTER a.x = b.y"
    recognizer = cereus.compile(text, stream=STREAM).recognizer()
    recognizer.push(events("A", 4_000))
    later = events("B", 4_200).slice(4_000)
    with bounded(10**9) as work:
        for at in range(len(later)):
            recognizer.push(later.slice(at, 1))
    assert work.done >= 1


@pytest.mark.filterwarnings("ignore::cereus.CereusWarning")
def test_an_interrupted_recognizer_is_finished() -> None:
    dialect, text, table, _ = RUNS["long programs"]
    recognizer = cereus.compile(text, dialect=dialect, stream=STREAM).recognizer()
    stop = threading.Event()
    stop.set()
    with pytest.raises(StoppedError), stopping_at(stop):
        recognizer.push(table())
    with pytest.raises(cereus.CereusError, match="this recognizer is finished"):
        recognizer.push(table())


def ticks(size: int) -> int:
    """How many ticks an expression of so many operands has in a call."""
    table = events("AB", 2)
    query = cereus.compile(" + ".join(["A"] * size), dialect="algebra", values=False, stream=STREAM)
    executor = query.executor(table.schema)
    assert isinstance(executor, DetectingExecutor)
    return ticks_per_call(executor.program)


def test_an_expression_that_takes_long_has_fewer_ticks_in_a_call() -> None:
    assert ticks(2) == TICKS
    assert ticks(150) * 150 <= CELLS
