"""Webhooks of `[sinks.x]`: made from their keys, and used to post rows without Spark."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pyarrow as pa

from cereus.spark.pipeline.sinks.spec import WebhookSink
from cereus.spark.sinks.identity import check_identity
from cereus.spark.sinks.recent import RecentAlerts
from cereus.spark.sinks.webhook import Webhook, in_time, not_taken
from cereus.syntax.literals import microseconds, split_duration

DEAD_LETTERS = "part-00000.json"


def hook_of(sink: WebhookSink) -> Webhook:
    headers = {name: str(value) for name, value in sink.headers.items()}
    seconds = _length(sink.timeout).total_seconds()
    return Webhook(sink.url, headers, sink.identity, sink.retries, seconds)


def recent_of(sink: WebhookSink, file: Path | None) -> RecentAlerts | None:
    if sink.once_per is None:
        return None
    return RecentAlerts(_length(sink.once_per), sink.time, file)


def post_table(table: pa.Table, sink: WebhookSink) -> None:
    """Post all rows now; rejected rows become lines of a file."""
    check_identity(sink.identity, table.column_names)
    dead = hook_of(sink).send(in_time(table.to_pylist(), sink.time), recent_of(sink, None))
    if dead and sink.dead_letters is None:
        raise not_taken(dead)
    if dead:
        folder = Path(str(sink.dead_letters))
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / DEAD_LETTERS).open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(vars(each)) + "\n" for each in dead)


def _length(text: str) -> timedelta:
    """A length of time that was checked before."""
    return timedelta(microseconds=microseconds(split_duration(text) or [], (0, 0)))
