"""How the matches of a formula end."""

from __future__ import annotations

from cereus.automata.model import Label, marks
from cereus.languages.ceql import tree as cel
from cereus.languages.ceql.operators.counts import may_be_nothing


def last_labels(formula: cel.Formula) -> frozenset[Label]:
    """The labels that the last event of a match may carry (an over-approximation)."""
    match formula:
        case cel.Type(name):
            return frozenset({frozenset({name})})
        case cel.Not():
            return frozenset({frozenset()})
        case cel.As(body, variable):
            return frozenset(label | {variable} if label else label for label in last_labels(body))
        case cel.Project(names, body):
            return frozenset(label & names for label in last_labels(body))
        case cel.Or() | cel.All():
            return frozenset[Label]().union(*map(last_labels, formula.children()))
        case cel.And(left, right):
            return min(last_labels(left), last_labels(right), key=lambda x: frozenset() in x)
        case (
            cel.Sequence(left, right)
            | cel.ContiguousSequence(left, right)
            | cel.Gapped(left, right)
        ):
            return last_labels(right) | (
                last_labels(left) if may_be_nothing(right) else frozenset()
            )
        case cel.Unless(left, _):
            return last_labels(left)
    (body,) = formula.children()
    return last_labels(body)


def ends_marked(formula: cel.Formula) -> bool:
    """Whether the last event that every match reads belongs to it (no trailing NOT or PROJECT)."""
    return all(map(marks, last_labels(formula)))
