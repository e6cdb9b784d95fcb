"""Exports metrics of a running pipeline to Prometheus."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from cereus.errors import CereusError
from cereus.spark.pipeline.run.metrics import Metrics, Report

LABELS = ("pipeline", "query", "sink")
COUNTERS = {
    "events": ("cereus_events", "Events that a query has read."),
    "matches": ("cereus_matches", "Matches that it has found."),
    "late": ("cereus_late_events", "Late events: the watermark had passed them."),
    "seconds": ("cereus_batch_seconds", "Seconds that its micro-batches took."),
    "kernel_seconds": ("cereus_kernel_seconds", "CPU seconds of the engine itself."),
}
"""The metrics that are added up, by the field of Metrics; Prometheus adds `_total` to the name."""
GAUGES = {
    "batch": ("cereus_batch", "The number of the last micro-batch."),
    "events_per_second": ("cereus_events_per_second", "Events per second, in the last one."),
    "state_rows": ("cereus_state_rows", "Rows in Spark's state store."),
    "state_bytes": ("cereus_state_bytes", "Bytes in Spark's state store."),
    "lag_seconds": ("cereus_watermark_lag_seconds", "From the watermark to the newest event."),
}


class Exporter:
    """Keeps the numbers for Prometheus, in a registry of its own."""

    def __init__(self, pipeline: str) -> None:
        library = _library()
        self.pipeline, self.registry = pipeline, library.CollectorRegistry()
        self._counters = {
            field: library.Counter(name, text, LABELS, registry=self.registry)
            for field, (name, text) in COUNTERS.items()
        }
        self._gauges = {
            field: library.Gauge(name, text, LABELS, registry=self.registry)
            for field, (name, text) in GAUGES.items()
        }

    def take(self, metrics: Metrics) -> None:
        labels = (self.pipeline, metrics.name, metrics.sink or "")
        for field, counter in self._counters.items():
            counter.labels(*labels).inc(getattr(metrics, field) or 0)
        for field, gauge in self._gauges.items():
            if (value := getattr(metrics, field)) is not None:
                gauge.labels(*labels).set(value)


@contextmanager
def exported(address: str | None, pipeline: str) -> Iterator[Report | None]:
    """A function that takes metrics, while `http://address/metrics` has them; None without an
    address (`"9400"`, or `"0.0.0.0:9400"` to be reached from other machines)."""
    if address is None:
        yield None
        return
    host, port = parsed(address)
    exporter = Exporter(pipeline)
    try:
        server, thread = _library().start_http_server(port, host, exporter.registry)
    except OSError as error:
        raise CereusError(
            f"cannot listen on {host}:{port} for Prometheus: {error.strerror or error}",
            hint="take another port",
        ) from None
    try:
        yield exporter.take
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def parsed(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    if not port.isdigit() or int(port) > 65535:
        raise CereusError(
            f"{address!r} is no address to listen on", hint='write "9400" or "0.0.0.0:9400"'
        )
    return host or "127.0.0.1", int(port)


def _library() -> Any:
    try:
        import prometheus_client
    except ImportError:
        raise CereusError(
            "metrics for Prometheus need prometheus_client", hint="pip install 'cereus[metrics]'"
        ) from None
    return prometheus_client
