"""Ctrl-C ends a run inside a long call, in one thread and in several, and so do threads that are
left alone. A process of its own is interrupted: what counts is that and how it ends, not when."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading

import numpy as np
import pyarrow as pa
import pytest

import cereus
from cereus.engine.interrupts import StoppedError, look_up, stopping_at
from cereus.engine.parallel.workers import Workers

PATIENCE = 120
"""Seconds for what takes a few on a machine that has nothing else to do."""

CHILD = """
import sys, threading
import numpy as np, pyarrow as pa, cereus
n = 400_000  # every B is compared with every A before it: hours
table = pa.table({
    "type": np.repeat(["A", "B"], n // 2),
    "x": np.arange(n)[::-1],
    "t": np.repeat(np.arange(2), n // 2),
    "k": np.arange(n) % 4,
})
dialect, text, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
stream = cereus.Stream(time="t", unit="s")
query = cereus.compile(text, dialect=dialect, stream=stream, schema=table.schema)
run = query._start(cereus.sources.source(table, stream), None, threads)
run.always = True
print("begun", flush=True)
try:
    if "why" in sys.argv:
        query.why(table)
    for batch in run.batches():
        pass
    print("ended", flush=True)
except KeyboardInterrupt:
    left = [t.name for t in threading.enumerate() if t.name.startswith("cereus")]
    print("interrupted", run.how, left, flush=True)
"""


PAIRS = "A AS a ; B AS b FILTER a.x + b.x < 0"
CEQL = [
    (f"SELECT * WHERE {PAIRS}", 1, ""),
    (f"SELECT * WHERE {PAIRS} PARTITION BY [k]", 2, "key"),
    (f"SELECT * WHERE {PAIRS} WITHIN 5 seconds", 2, "time"),
    (f"SELECT COUNT(*) WHERE {PAIRS}", 1, ""),
    (f"SELECT NEXT * WHERE {PAIRS} WITHIN 5 seconds", 1, ""),
    (f"SELECT MAX * WHERE {PAIRS} WITHIN 5 seconds", 2, "time"),
    (f"SELECT * WHERE NEXT({PAIRS}) ; B AS c", 1, ""),
]
SASE = "PATTERN SEQ(A a, B b) WHERE skip_till_any_match(a, b) { a.x + b.x < 0 } WITHIN 5 seconds"
SLOTS = "PATTERN (a b*? c d*? e) DEFINE c AS x < a.x, e AS x > a.x + c.x"
SUMS = "PATTERN (a (b | d)+ c) DEFINE b AS sum(b.x) > 0, d AS sum(d.x) > 0, c AS x > a.x"
TWO_PASSES = "AFTER MATCH SKIP TO NEXT ROW PATTERN (a+ b) DEFINE a AS x > 0, b AS x = 0"
BY_KEY = "PARTITION BY k ORDER BY t MEASURES count(*) AS n"
TRIED = "PATTERN (a b+ c) DEFINE b AS max(concat(classifier(b), b.type)) < 'Z', c AS x > a.x"


RUNS = [
    *(("ceql", *each) for each in CEQL),
    ("sase", SASE, 2, "time"),
    ("match_recognize", f"MATCH_RECOGNIZE ({BY_KEY} {SLOTS})", 1, ""),
    ("match_recognize", f"MATCH_RECOGNIZE ({BY_KEY} {SLOTS})", 2, "piece"),
    ("match_recognize", f"MATCH_RECOGNIZE ({BY_KEY} {SUMS})", 2, "piece"),
    ("match_recognize", f"MATCH_RECOGNIZE ({BY_KEY} {TWO_PASSES})", 2, "piece"),
    ("match_recognize", f"MATCH_RECOGNIZE ({BY_KEY} {TRIED})", 2, "piece"),
]


@pytest.mark.parametrize(("dialect", "text", "threads", "how"), [RUNS[0], RUNS[1], RUNS[-1]])
def test_ctrl_c_ends_a_run(dialect: str, text: str, threads: int, how: str) -> None:
    interrupt(how, dialect, text, str(threads))


@pytest.mark.long
@pytest.mark.parametrize(("dialect", "text", "threads", "how"), RUNS[2:-1])
def test_ctrl_c_ends_runs_of_every_kind(dialect: str, text: str, threads: int, how: str) -> None:
    interrupt(how, dialect, text, str(threads))


@pytest.mark.long
@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("ceql", f"SELECT * WHERE {PAIRS}"),
        ("match_recognize", f"MATCH_RECOGNIZE ({BY_KEY} {SLOTS})"),
        ("match_recognize", f"MATCH_RECOGNIZE ({BY_KEY} {TRIED})"),
    ],
)
def test_ctrl_c_ends_why(dialect: str, text: str) -> None:
    interrupt("", dialect, text, "1", "why")


def interrupt(how: str, *arguments: str) -> None:
    """Interrupt a run of these arguments, while its input is shared by threads in this way."""
    child = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", CHILD, *arguments],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "begun\n"
        with pytest.raises(subprocess.TimeoutExpired):
            child.wait(1)
        child.send_signal(signal.SIGINT)
        shown, _ = child.communicate(timeout=PATIENCE)
        assert " ".join(shown.split()) == " ".join(f"interrupted {how} []".split())
    finally:
        child.kill()


def test_other_threads_run_during_a_call_of_the_kernel() -> None:
    """The kernel does not hold the interpreter's lock: while it is at work on one call, which ends
    when it is told to, another thread comes to its turn, and is the one that ends it."""
    n = 60_000
    table = pa.table({"type": np.repeat(["A", "B"], n // 2), "x": np.arange(n)[::-1]})
    text = "SELECT * WHERE A AS a ; B AS b FILTER a.x + b.x < 0"
    query = cereus.compile(text, schema=table.schema)
    executor = query.executor(table.schema)
    (batch,) = table.combine_chunks().to_batches()
    stop, ended = threading.Event(), []

    def work() -> None:
        try:
            with stopping_at(stop):
                list(executor.push(batch))
        except StoppedError:
            ended.append("stopped")

    thread = threading.Thread(target=work)
    thread.start()
    turns = 0
    while thread.is_alive() and turns < 1_000:
        turns += 1
    stop.set()
    thread.join(PATIENCE)
    assert ended == ["stopped"]


def test_what_threads_are_at_ends_when_they_are_left() -> None:
    begun = threading.Event()

    def work() -> None:
        begun.set()
        while True:
            look_up()

    with Workers(2) as workers:
        task = workers.submit(work)
        assert begun.wait(PATIENCE)
    assert isinstance(task.exception(PATIENCE), StoppedError)


def test_detection_of_the_algebra_looks_up() -> None:
    table = pa.table({"type": ["a", "b"] * 50, "t": list(range(100))})
    query = cereus.compile("a ; b", dialect="algebra", stream=cereus.Stream(time="t"))
    executor = query.executor(table.schema)
    stop = threading.Event()
    stop.set()
    (batch,) = table.combine_chunks().to_batches()
    with pytest.raises(StoppedError), stopping_at(stop):
        list(executor.push(batch))
