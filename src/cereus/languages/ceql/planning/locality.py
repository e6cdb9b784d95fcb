"""Finds out how far back a pattern looks: whether a match is decided inside its own window.

A formula is evaluated from the beginning of the stream (i = 0), and some operators notice what
happened there, long before the first event of a match. Where none does, a match depends only on the
events from its first to its last one, so the stream can be cut into overlapping pieces.
"""

from __future__ import annotations

from cereus.clauses.tree import Strategy
from cereus.languages.ceql import tree as cel
from cereus.languages.ceql.operators.counts import may_be_nothing


def looks_back(formula: cel.Formula) -> str | None:
    """Why a match of a formula may depend on events before its window; None if it does not. By
    induction: the first event that is read has to be marked.

    The right side of `;` starts after an event of the match, so it is free.
    """
    match formula:
        case cel.Type():
            return None
        case (
            cel.Sequence(left, right)
            | cel.ContiguousSequence(left, right)
            | cel.Gapped(left, right)
        ):
            return looks_back(left) or (looks_back(right) if may_be_nothing(left) else None)
        case cel.Or() | cel.And() | cel.All():
            return next(filter(None, map(looks_back, formula.children())), None)
        case cel.As(body, _) | cel.Filter(body, _):
            return looks_back(body)
        case cel.Iteration(body) | cel.ContiguousIteration(body):
            return looks_back(body)
        case cel.Repeated(body) | cel.Optional(body) | cel.Without(body) | cel.Within(body):
            return looks_back(body)
        case cel.Select(Strategy.ALL | Strategy.STRICT, body):
            return looks_back(body)
        case cel.Select(strategy, _):
            return f"{strategy}(…) chooses before the window does"
        case cel.Unless():
            return "UNLESS looks back to the beginning of the stream"
        case cel.Start():
            return "START is about the beginning of the stream"
        case cel.Not():
            return "NOT comes first, and its event need not be in the window"
        case cel.Project():
            return "PROJECT comes first, and what it leaves out need not be in the window"
    return f"{type(formula).__name__} may look back"
