"""Sends alerts over HTTP: one POST for each match, with retries; rejected ones are put aside."""

from __future__ import annotations

import hashlib
import http.client
import json
import logging
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cereus.errors import CereusError
from cereus.spark.sinks.identity import check_identity
from cereus.spark.sinks.recent import RecentAlerts
from cereus.writing.writers import as_json

log = logging.getLogger("cereus.spark")

Row = Mapping[str, Any]
PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
"""Status codes that may change if the request is sent again."""
LONGEST_WAIT = 60.0


@dataclass(frozen=True)
class DeadLetter:
    """A row that was rejected: what was sent, how often, and the last answer."""

    url: str
    attempts: int
    error: str
    body: str


@dataclass(frozen=True)
class Webhook:
    """Sends rows as JSON objects to a URL.

    identity  the columns that say which match a row is; a hash of them (of all, if none are named)
              is the header `Idempotency-Key`, so that a receiver can tell what comes twice. With
              `recent` alerts they say what an alert is about, and the time is hashed too
    retries   how often a request is sent again that failed or was answered with a passing error
    timeout   seconds to wait for an answer
    wait      seconds before the first retry; twice as long before each one after it
    """

    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    identity: tuple[str, ...] = ()
    retries: int = 5
    timeout: float = 10.0
    wait: float = 1.0

    def send(self, rows: Iterable[Row], recent: RecentAlerts | None = None) -> list[DeadLetter]:
        """Send all rows except those that `recent` alerts stand for, and return the rejected
        ones. An alert that was rejected stands for no other: the next one of its identity is
        sent."""
        dead: list[DeadLetter] = []
        for row in rows:
            if recent is None:
                dead += self._sent(row, self.key(row))
            elif recent.is_due(self.key(row), row):
                rejected = self._sent(row, self.key(row, recent.time))
                dead += rejected
                if not rejected:
                    recent.note(self.key(row), row)
        return dead

    def key(self, row: Row, *more: str) -> str:
        """A hash of the identity of a row, and of `more` columns."""
        values = [row.get(name) for name in (*(self.identity or row), *more)]
        return hashlib.sha256(as_json(values).encode()).hexdigest()[:32]

    def _sent(self, row: Row, key: str) -> list[DeadLetter]:
        """Send one row, and return it if it was rejected."""
        body, error = as_json(dict(row)), ""
        for attempt in range(self.retries + 1):
            if attempt:
                time.sleep(min(LONGEST_WAIT, self.wait * 2 ** (attempt - 1)))
            error, again = self._post(body, key)
            if not error:
                return []
            if not again:
                return [DeadLetter(self.url, attempt + 1, error, body)]
            log.info("webhook %s: %s (attempt %d)", self.url, error, attempt + 1)
        return [DeadLetter(self.url, self.retries + 1, error, body)]

    def _post(self, body: str, key: str) -> tuple[str, bool]:
        """What went wrong ("" if nothing did), and whether a retry may succeed."""
        headers = {"Content-Type": "application/json", "Idempotency-Key": key, **self.headers}
        request = urllib.request.Request(self.url, body.encode(), headers, method="POST")
        try:
            with urllib.request.urlopen(request, timeout=self.timeout):
                return "", False
        except urllib.error.HTTPError as answer:
            with answer:
                return f"{answer.code} {answer.reason}", answer.code in PASSING
        except (OSError, http.client.HTTPException) as error:
            return f"{type(error).__name__}: {error}", True


def webhook(
    url: str,
    *,
    identity: Iterable[str] = (),
    headers: Mapping[str, str] | None = None,
    retries: int = 5,
    timeout: float = 10.0,
    dead_letters: str | None = None,
) -> Callable[[Any, int], None]:
    """A function for `foreachBatch` that posts every row to a URL, from the driver.

    dead_letters  a directory of JSON lines for rows that nobody took; without it, one of them stops
                  the query, and the next start sends the micro-batch again
    """
    hook = Webhook(url, dict(headers or {}), tuple(identity), retries, timeout)
    return Posting(hook, dead_letters)


@dataclass(frozen=True)
class Posting:
    """Posts the rows of a DataFrame, in the order of their time."""

    hook: Webhook
    dead_letters: str | None = None
    recent: RecentAlerts | None = None
    time: str = "end_time"

    def __call__(self, frame: Any, batch: int) -> None:
        check_identity(self.hook.identity, frame.columns)
        dead = self.hook.send(in_time(frame.toArrow().to_pylist(), self.time), self.recent)
        if dead and self.dead_letters is None:
            raise not_taken(dead)
        if dead:
            letters = frame.sparkSession.createDataFrame([vars(each) for each in dead]).coalesce(1)
            letters.write.mode("append").json(self.dead_letters)


def in_time(rows: Sequence[Row], time: str) -> list[Row]:
    """Rows in the order of their time; of one time, always in the same order."""
    return sorted(rows, key=lambda row: (str(row.get(time)), json.dumps(row, default=str)))


def not_taken(dead: Sequence[DeadLetter]) -> CereusError:
    first = dead[0]
    return CereusError(
        f"{len(dead):,} alerts were not taken by {first.url}: {first.error}, after "
        f"{first.attempts} attempts",
        hint='put them aside with dead_letters = "some/path"',
    )
