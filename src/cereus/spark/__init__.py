"""Matching on Spark. PySpark is imported when one of these is first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from cereus.spark.starting.java import ensure_java
from cereus.spark.starting.session import session

if TYPE_CHECKING:
    from cereus.spark.diagnosis import why
    from cereus.spark.funnels import funnel
    from cereus.spark.in_ui import show_metrics
    from cereus.spark.live.rules.stream import match_rules, split_changes
    from cereus.spark.live.state.reading import state
    from cereus.spark.matching import explain, match, split_late
    from cereus.spark.pipeline import Pipeline
    from cereus.spark.reading.frames import read
    from cereus.spark.sinks.merge import merge_into
    from cereus.spark.sinks.webhook import webhook
    from cereus.spark.statements import sql
    from cereus.spark.table_functions.register import register

__all__ = [
    "Pipeline",
    "ensure_java",
    "explain",
    "funnel",
    "match",
    "match_rules",
    "merge_into",
    "read",
    "register",
    "session",
    "show_metrics",
    "split_changes",
    "split_late",
    "sql",
    "state",
    "webhook",
    "why",
]

_LATER = {
    "Pipeline": "cereus.spark.pipeline",
    "explain": "cereus.spark.matching",
    "funnel": "cereus.spark.funnels",
    "match": "cereus.spark.matching",
    "match_rules": "cereus.spark.live.rules.stream",
    "merge_into": "cereus.spark.sinks.merge",
    "read": "cereus.spark.reading.frames",
    "register": "cereus.spark.table_functions.register",
    "show_metrics": "cereus.spark.in_ui",
    "split_changes": "cereus.spark.live.rules.stream",
    "split_late": "cereus.spark.matching",
    "state": "cereus.spark.live.state.reading",
    "sql": "cereus.spark.statements",
    "webhook": "cereus.spark.sinks.webhook",
    "why": "cereus.spark.diagnosis",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LATER[name]), name)
