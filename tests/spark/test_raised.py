"""Errors of Spark, as errors that say what to do."""

from __future__ import annotations

import pytest

from cereus.spark.raised import BROKEN, BUSY, LOG, OTHER_FILE, as_cereus_error

SAID = {
    "a log of the checkpoint": (
        "An error occurred while calling o2.start.\n"
        ": org.apache.spark.SparkIllegalStateException: [MALFORMED_LOG_FILE] Log file was "
        "malformed: failed to read correct log version from x. SQLSTATE: KD002\n"
        "\tat org.apache.spark.Some",
        "[MALFORMED_LOG_FILE] Log file was malformed: failed to read correct log version from x.",
        BROKEN,
    ),
    "the id of the checkpoint": (
        "An error occurred while calling o2667.start.\n"
        ": com.fasterxml.jackson.core.JsonParseException: Illegal character (code 0)\n"
        " at [Source: REDACTED; line: 1, column: 2]\n"
        "\tat org.apache.spark.sql.execution.streaming.checkpointing.StreamMetadata$.read",
        "Illegal character (code 0)",
        BROKEN,
    ),
    "no state": (
        "[STREAM_FAILED] Query [id = 1] terminated with exception: "
        "[STREAMING_STATEFUL_OPERATOR_MISSING_STATE_DIRECTORY] Cannot restart streaming query",
        "[STREAM_FAILED] Query [id = 1] terminated with exception: "
        "[STREAMING_STATEFUL_OPERATOR_MISSING_STATE_DIRECTORY] Cannot restart streaming query",
        BROKEN,
    ),
    "a machine that is busy": (
        "[STREAM_FAILED] Query terminated with exception: Python worker failed to connect back.\n"
        "Caused by: java.net.SocketTimeoutException: Timed out while waiting for the Python worker"
        " to connect back\n\t... 23 more",
        "Timed out while waiting for the Python worker to connect back",
        BUSY,
    ),
    "a file that is another": (
        "Caused by: org.apache.spark.SparkException: [FAILED_READ_FILE.NO_HINT] Encountered error "
        "while reading file file:/orders/2.parquet.  SQLSTATE: KD001",
        "[FAILED_READ_FILE.NO_HINT] Encountered error while reading file file:/orders/2.parquet. ",
        OTHER_FILE,
    ),
    "anything else": ("Something is wrong.", "Something is wrong.", LOG),
}


@pytest.mark.parametrize("name", SAID)
def test_an_error_of_spark_says_what_to_do(name: str) -> None:
    text, message, hint = SAID[name]
    error = as_cereus_error(RuntimeError(text))
    assert error.message == f"Spark says: {message}"
    assert error.hint == hint
