"""Errors that come out of Spark, as errors of Cereus."""

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
"""An error of Cereus inside the text of another one. What follows it is Spark's own number for it,
and the trace of Java."""


CAUSE = re.compile(r"^(?:Caused by: )?[\w.$]*(?:Exception|Error): (?P<message>\S.*)$", re.MULTILINE)
"""What Java gives as the cause; the last one is where it began."""
LONGEST = 300
SQLSTATE = re.compile(r" SQLSTATE: \w+$")
"""Spark's own number for an error, behind its text."""


LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
"""Where PySpark writes every error that it raises, with all of Java's trace, in one line."""


def quiet_loggers() -> None:
    """What Cereus has to say of a query is raised; it is not written to the log as well."""
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
    """What a person can do something about."""
    from pyspark.errors import AnalysisException

    raised = RAISED.search(str(error))
    if raised is not None:
        return DataError(raised["message"].strip(), hint=raised["hint"])
    if isinstance(error, AnalysisException):
        return DataError(f"Spark cannot read the events: {first_line(error)}")
    return CereusError(f"Spark says: {cause(error)}", hint="Spark's log has more")


def cause(error: BaseException) -> str:
    """The message of what went wrong first, without the places in Java's code."""
    messages = [each["message"] for each in CAUSE.finditer(str(error))]
    shown = messages[-1] if messages else first_line(error)
    return shown if len(shown) <= LONGEST else f"{shown[:LONGEST]} …"


def first_line(error: BaseException) -> str:
    line = (str(error).strip().splitlines() or ["?"])[0]
    return SQLSTATE.sub("", line)
