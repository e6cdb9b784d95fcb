"""What is known of the matches of a formula: their variables, their ends, their sizes, and how far
back they look."""

from __future__ import annotations

from cereus.automata.model import Label, marks
from cereus.clauses.tree import EventWindow, Strategy
from cereus.languages.ceql import tree as cel
from cereus.languages.ceql.operators.counts import FEW_ROUNDS, may_be_nothing, most_rounds
from cereus.plan.traits import CHOOSING, PatternFacts

NONE: frozenset[str] = frozenset()


def facts_of(query: cel.CeqlTree) -> PatternFacts:
    """What the plan of a query has to know of its pattern."""
    return PatternFacts(
        open_ended=not ends_marked(query.formula),
        position_sensitive=(
            isinstance(query.window, EventWindow)
            or query.strategy is Strategy.STRICT
            or any(map(_looks_at_positions, query.formula.walk()))
        ),
        one_size=size(query.formula) is not None,
        counts_high=most_rounds(query.formula) > FEW_ROUNDS,
        always_bound=surely_bound(query.formula),
        looks_back=looks_back(query.formula),
    )


def _looks_at_positions(node: cel.Formula) -> bool:
    if isinstance(node, cel.Select):
        return node.strategy is Strategy.STRICT
    if isinstance(node, cel.Repeated | cel.Gapped):
        return node.contiguous
    if isinstance(node, cel.Within):
        return isinstance(node.window, EventWindow)
    return isinstance(node, cel.ContiguousSequence | cel.ContiguousIteration | cel.Start | cel.All)


# ---------------------------------------------------------------- variables


def surely_bound(formula: cel.Formula) -> frozenset[str]:
    """Variables that are never empty (an under-approximation; `scope.bound` is the other side)."""
    match formula:
        case cel.Type(name, stream):
            return frozenset({name} if stream is None else {name, f"{stream}>{name}"})
        case cel.Not() | cel.Optional():
            return NONE
        case cel.Repeated(_, 0):
            return NONE
        case cel.As(body, variable):
            inner = surely_bound(body)
            return inner | {variable} if _marks(body) else inner
        case cel.Project(names, body):
            return surely_bound(body) & names
        case cel.Unless(left, _):
            return surely_bound(left)
        case cel.Or(operands):
            return frozenset.intersection(*map(surely_bound, operands))
    return NONE.union(*(surely_bound(part) for part in formula.children()))


def _marks(formula: cel.Formula) -> bool:
    """Whether every match has an event that some variable holds (an under-approximation)."""
    match formula:
        case cel.Type():
            return True
        case cel.Not() | cel.Optional() | cel.Repeated(_, 0):
            return False
        case cel.Project():
            return bool(surely_bound(formula))
        case cel.Unless(left, _):
            return _marks(left)
        case cel.Or(operands):
            return all(map(_marks, operands))
    return any(map(_marks, formula.children()))


# ---------------------------------------------------------------- ends


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


# ---------------------------------------------------------------- looking back


# A formula is evaluated from the beginning of the stream, and some operators notice what happened
# there, long before the first event of a match. Where none does, a match depends only on the events
# from its first to its last one, so the stream can be cut into overlapping pieces.


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


# ---------------------------------------------------------------- sizes


def size(formula: cel.Formula) -> int | None:
    """The number of events that every match marks; None if they may differ, or it is not known.
    Both sides of ALL may mark the same event, and PROJECT unmarks some."""
    match formula:
        case cel.Type():
            return 1
        case cel.Not():
            return 0
        case cel.Sequence() | cel.ContiguousSequence():
            return _sum([size(part) for part in cel.chain(formula)])
        case cel.Or():
            sizes = {size(part) for part in cel.chain(formula)}
            return sizes.pop() if len(sizes) == 1 else None
        case cel.And(left, right):
            of_left = size(left)
            return size(right) if of_left is None else of_left
        case cel.Repeated(body, least, most):
            return _sum([size(body)] * least) if least == most else None
        case cel.Unless(left, _):
            return size(left)
        case cel.As(body) | cel.Filter(body) | cel.Start(body) | cel.Select(_, body):
            return size(body)
    return None


def _sum(sizes: list[int | None]) -> int | None:
    known = [each for each in sizes if each is not None]
    return sum(known) if len(known) == len(sizes) else None


def compares_matches(strategy: Strategy, body: cel.Formula) -> bool:
    """Whether a strategy has to compare matches with each other. MAX need not if all of them have
    the same number of events: none contains another."""
    return strategy in CHOOSING and not (strategy is Strategy.MAX and size(body) is not None)
