"""Cereus: complex event recognition. Write a pattern, find every match in a stream of events."""

import sys

from cereus.errors import CereusError, CereusWarning
from cereus.funnels.funnel import Funnel, funnel
from cereus.languages.algebra import api as algebra
from cereus.languages.ceql import api as ceql
from cereus.languages.match_recognize import api as match_recognize
from cereus.languages.par import api as par
from cereus.languages.sase import api as sase
from cereus.languages.sremo import api as sremo
from cereus.limits import Limits
from cereus.many import QuerySet, compile_many
from cereus.matches import Matches
from cereus.query import Query, compile
from cereus.recognizer import Recognizer
from cereus.rules.recognizer import RuleChange, RuleRecognizer
from cereus.rules.rule import Rule
from cereus.sources import Files
from cereus.statements import sql
from cereus.stream import Stream

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

# `import cereus.sremo` and `from cereus.sremo import event` find the room's api module.
for _api in (algebra, ceql, match_recognize, par, sase, sremo):
    sys.modules[f"{__name__}.{_api.__name__.split('.')[-2]}"] = _api
