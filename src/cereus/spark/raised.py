"""Errors that come out of Spark, as errors of Cereus."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from cereus.errors import CereusError, DataError

RAISED = re.compile(
    r"cereus\.errors\.\w+: (?P<message>.*?)(?:\nhint: (?P<hint>[^\n]*))?\s*(?:\n\n|\Z)",
    re.DOTALL,
)
"""An error of Cereus inside the text of another one. What follows it is the trace of Java."""


@contextmanager
def spark_errors() -> Iterator[None]:
    """Turns errors from a worker, and Spark's errors, into errors of Cereus."""
    from pyspark.errors import PySparkException

    try:
        yield
    except PySparkException as error:
        ours = as_cereus_error(error)
        if ours is None:
            raise
        raise ours from None


def as_cereus_error(error: BaseException) -> CereusError | None:
    """What a person can do something about; None for anything else."""
    from pyspark.errors import AnalysisException

    raised = RAISED.search(str(error))
    if raised is not None:
        return DataError(raised["message"].strip(), hint=raised["hint"])
    if isinstance(error, AnalysisException):
        return DataError(f"Spark cannot read the events: {first_line(error)}")
    return None


def first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or ["?"])[0]
