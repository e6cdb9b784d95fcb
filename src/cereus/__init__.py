"""Cereus: complex event recognition. Write a pattern, find every match in a stream of events."""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

from cereus import languages as _languages
from cereus.errors import CereusError, CereusWarning
from cereus.limits import Limits
from cereus.matches import Matches
from cereus.query import Query, compile
from cereus.recognizer import Recognizer
from cereus.sources import Files
from cereus.stream import Stream

if TYPE_CHECKING:
    from cereus.funnels.funnel import Funnel, funnel
    from cereus.languages.algebra import api as algebra
    from cereus.languages.ceql import api as ceql
    from cereus.languages.match_recognize import api as match_recognize
    from cereus.languages.par import api as par
    from cereus.languages.sase import api as sase
    from cereus.languages.sremo import api as sremo
    from cereus.many import QuerySet, compile_many
    from cereus.rules.recognizer import RuleChange, RuleRecognizer
    from cereus.rules.rule import Rule
    from cereus.statements import sql

__all__ = [
    "CereusError",
    "CereusWarning",
    "Files",
    "Funnel",
    "Limits",
    "Matches",
    "Query",
    "QuerySet",
    "Recognizer",
    "Rule",
    "RuleChange",
    "RuleRecognizer",
    "Stream",
    "algebra",
    "ceql",
    "compile",
    "compile_many",
    "funnel",
    "match_recognize",
    "par",
    "sase",
    "sql",
    "sremo",
]
__version__ = "0.1.0"

_LATER = {
    "Funnel": "cereus.funnels.funnel",
    "QuerySet": "cereus.many",
    "Rule": "cereus.rules.rule",
    "RuleChange": "cereus.rules.recognizer",
    "RuleRecognizer": "cereus.rules.recognizer",
    "compile_many": "cereus.many",
    "funnel": "cereus.funnels.funnel",
    "sql": "cereus.statements",
}
"""Names that only some programs use, and their modules: each is imported when it is first used."""


def __getattr__(name: str) -> Any:
    if name in _languages.ROOMS:
        return _import_module(f"{__name__}.{name}")
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(_import_module(_LATER[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
