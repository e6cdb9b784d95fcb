"""Ctrl-C while Spark starts, and what PySpark would write to the log of an error that is raised."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cereus.spark import raised
from cereus.spark.starting import session

STARTING = "starting Spark"
JAVA = "Using incubator modules"
"""What Java itself says of every start of Spark, in one line."""
WAIT = 120
"""Seconds that a busy machine may take to start Python."""


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


@pytest.fixture
def stopped(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What stops the session that was started is noted, and does nothing."""
    calls: list[str] = []
    monkeypatch.setattr(session, "_stop_active", lambda: calls.append("stopped"))
    return calls


def test_an_interrupt_waits_until_spark_has_started_and_stops_it(stopped: list[str]) -> None:
    before = signal.getsignal(signal.SIGINT)
    steps = []
    with pytest.raises(KeyboardInterrupt), session.started_at_once():
        interrupt()
        steps.append("went on")
    assert steps == ["went on"] and stopped == ["stopped"]
    assert signal.getsignal(signal.SIGINT) is before


def test_a_second_interrupt_does_not_wait(stopped: list[str]) -> None:
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), session.started_at_once():
        interrupt()
        interrupt()
        pytest.fail("it went on")
    assert stopped == [] and signal.getsignal(signal.SIGINT) is before


def test_nothing_is_stopped_without_an_interrupt(stopped: list[str]) -> None:
    before = signal.getsignal(signal.SIGINT)
    with session.started_at_once():
        pass
    assert stopped == [] and signal.getsignal(signal.SIGINT) is before


def test_a_handler_that_pyspark_sets_stays(stopped: list[str]) -> None:
    before = signal.getsignal(signal.SIGINT)
    mine = lambda number, frame: None  # noqa: E731
    try:
        with session.started_at_once():
            signal.signal(signal.SIGINT, mine)
        assert signal.getsignal(signal.SIGINT) is mine
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_threads_have_no_signals() -> None:
    handlers = []

    def start() -> None:
        with session.started_at_once():
            handlers.append(signal.getsignal(signal.SIGINT))

    before = signal.getsignal(signal.SIGINT)
    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    assert handlers == [before]


@pytest.mark.long
@pytest.mark.spark
def test_ctrl_c_while_spark_starts_is_one_word(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text("ts,type\n2025-01-01,A\n2025-01-02,B\n")
    command = [sys.executable, "-m", "cereus.cli.main", "run", "SELECT * WHERE A ; B", "e.csv"]
    run = subprocess.Popen(
        [*command, "--time", "ts", "--engine", "spark", "--master", "local[1]"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert run.stderr is not None
    first = run.stderr.readline()
    while first and STARTING not in first:
        first = run.stderr.readline()
    time.sleep(1)  # Java is on its way now; when exactly does not matter
    os.kill(run.pid, signal.SIGINT)
    out, err = run.communicate(timeout=WAIT)
    assert run.returncode == 130
    lines = [line for line in err.splitlines() if line.strip() and JAVA not in line]
    assert out == "" and lines == ["stopped"], err


# ---------------------------------------------------------------- the log


@pytest.fixture
def logged() -> Iterator[list[str]]:
    """What the loggers of PySpark write."""
    pytest.importorskip("pyspark")
    lines: list[str] = []

    class Lines(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(str(record.msg))

    handler = Lines()
    loggers = [logging.getLogger(name) for name in raised.LOGGERS]
    for logger in loggers:
        logger.addHandler(handler)
    yield lines
    for logger in loggers:
        logger.removeHandler(handler)


@pytest.mark.parametrize("name", raised.LOGGERS)
def test_an_error_of_cereus_is_raised_and_not_logged(name: str, logged: list[str]) -> None:
    raised.quiet_loggers()
    logger = logging.getLogger(name)
    logger.error("[TABLE_VALUED_FUNCTION] cereus.errors.QuerySyntaxError: 10 kB of a trace")
    assert logged == []
    logger.error("[DIVIDE_BY_ZERO] division by zero")
    assert logged == ["[DIVIDE_BY_ZERO] division by zero"]


def test_loggers_are_quieted_once() -> None:
    pytest.importorskip("pyspark")
    raised.quiet_loggers()
    raised.quiet_loggers()
    for name in raised.LOGGERS:
        assert logging.getLogger(name).filters.count(raised._is_not_ours) == 1
