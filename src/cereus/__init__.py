"""Cereus: complex event recognition. Write a pattern, find every match in a stream of events."""

from cereus.engine.runner import Limits
from cereus.errors import CereusError
from cereus.many import QuerySet, compile_many
from cereus.matches import Matches
from cereus.plan.stream import Stream
from cereus.query import Query, compile
from cereus.recognizer import Recognizer

__all__ = [
    "CereusError",
    "Limits",
    "Matches",
    "Query",
    "QuerySet",
    "Recognizer",
    "Stream",
    "compile",
    "compile_many",
]
__version__ = "0.1.0"
