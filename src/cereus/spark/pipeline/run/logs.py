"""Logs a run as JSON lines."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

LOGGER = "cereus"


class JsonLines(logging.Formatter):
    """A record as one line: time (UTC), level, logger, message, and the error if there is one."""

    def format(self, record: logging.LogRecord) -> str:
        about = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info is not None and record.exc_info[1] is not None:
            about["error"] = str(record.exc_info[1])
        return json.dumps(about, ensure_ascii=False)


@contextmanager
def logged(path: str | None) -> Iterator[None]:
    """While inside, write the log of Cereus to a file too, from INFO on."""
    if path is None:
        yield
        return
    logger = logging.getLogger(LOGGER)
    before = logger.level
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    handler = logging.FileHandler(path, encoding="utf-8")
    handler.setFormatter(JsonLines())
    logger.addHandler(handler)
    if not logger.isEnabledFor(logging.INFO):
        logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.setLevel(before)
        logger.removeHandler(handler)
        handler.close()
