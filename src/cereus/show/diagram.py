"""A query as a picture."""

from __future__ import annotations

from cereus.pictures.diagram import Diagram
from cereus.query import Query
from cereus.syntax.parsing import errors_in

__all__ = ["Diagram", "diagram"]


def diagram(query: Query) -> Diagram:
    """What runs a query, as its language draws it: an automaton over the letters that can occur, a
    machine, or the parts of an expression with what each remembers."""
    with errors_in(None):
        return Diagram(query.compiled.diagram())
