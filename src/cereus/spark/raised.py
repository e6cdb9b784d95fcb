"""Turns errors that come out of Spark into errors of Cereus."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager

from cereus.errors import CereusError, DataError

RAISED = re.compile(
    r"cereus\.errors\.\w+: (?P<message>.*?)(?:\nhint: (?P<hint>[^\n]*?))?"
    r"(?: SQLSTATE: [^\n]*)?\s*(?:\n\n|\Z)",
    re.DOTALL,
)
"""An error of Cereus inside the text of another one. Spark's own number for it, and the trace of
Java, follow it."""


CAUSE = re.compile(
    r"^(?:Caused by: |: )?[\w.$]*(?:Exception|Error): (?P<message>\S.*)$", re.MULTILINE
)
"""The cause in Java's message; the last one is the origin."""
LONGEST = 300
LOG = "Spark's log has more"
SQLSTATE = re.compile(r" SQLSTATE: \w+$")
"""Spark's own number for an error, behind its text."""
BROKEN = (
    "a file of the checkpoint is broken or missing: bring the checkpoint back from a copy, or name "
    "another one, which begins with an empty state at the beginning of the source"
)
BUSY = (
    "the machine is too busy to start Python as soon as Spark wants it, or the Python of the "
    "workers does not start: try again, a live query goes on from its checkpoint; "
    "`cereus spark doctor` asks the workers"
)
OTHER_FILE = (
    "files of one source have the same columns, of the same types: move this one away, or write it "
    "anew; a live query then goes on from its checkpoint"
)
SHARED = (
    "another streaming query writes to this checkpoint: stop it, or give this one a checkpoint of "
    "its own"
)
KNOWN = {
    re.compile(r"\[CONCURRENT_STREAM_LOG_UPDATE"): SHARED,
    re.compile(
        r"\[(MALFORMED_LOG_FILE|CANNOT_LOAD_STATE_STORE|STATE_STORE_CHECKPOINT_LOCATION_NOT_EMPTY"
        r"|STREAMING_STATEFUL_OPERATOR_MISSING_STATE_DIRECTORY)"
    ): BROKEN,
    re.compile(r"\tat [\w.]+\.(StreamMetadata|OperatorStateMetadata)"): BROKEN,
    re.compile(r"Python worker (failed )?to connect back"): BUSY,
    re.compile(r"\[(FAILED_READ_FILE|CANNOT_READ_FILE_FOOTER)|is not a Parquet file"): OTHER_FILE,
}
"""Advice for errors of Spark that give none themselves."""


LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
"""The loggers to which PySpark writes every error that it raises, with Java's whole trace, in one
line."""


def quiet_loggers() -> None:
    """Keep errors out of the log: what Cereus reports about a query is raised."""
    from pyspark.logger import PySparkLogger

    for name in LOGGERS:
        logger = PySparkLogger.getLogger(name)
        if _is_not_ours not in logger.filters:
            logger.addFilter(_is_not_ours)


def _is_not_ours(record: logging.LogRecord) -> bool:
    return "cereus.errors." not in str(record.msg)


@contextmanager
def spark_errors() -> Iterator[None]:
    """Turns errors from a worker, and Spark's errors, into errors of Cereus: one short message."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    quiet_loggers()
    try:
        yield
    except (PySparkException, Py4JError) as error:
        raise as_cereus_error(error) from None


def as_cereus_error(error: BaseException) -> CereusError:
    """An error with advice that a person can follow."""
    from pyspark.errors import AnalysisException

    raised = RAISED.search(str(error))
    if raised is not None:
        return DataError(raised["message"].strip(), hint=raised["hint"])
    if isinstance(error, AnalysisException):
        return DataError(f"Spark cannot read the events: {first_line(error)}")
    return CereusError(f"Spark says: {cause(error)}", hint=advice(str(error)))


def advice(text: str) -> str:
    """Advice for an error of Spark."""
    return next((hint for known, hint in KNOWN.items() if known.search(text)), LOG)


def cause(error: BaseException) -> str:
    """The message of the first error, without the places in Java's code."""
    messages = [each["message"] for each in CAUSE.finditer(str(error))]
    shown = SQLSTATE.sub("", messages[-1]) if messages else first_line(error)
    return shown if len(shown) <= LONGEST else f"{shown[:LONGEST]} …"


def first_line(error: BaseException) -> str:
    line = (str(error).strip().splitlines() or ["?"])[0]
    return SQLSTATE.sub("", line)
