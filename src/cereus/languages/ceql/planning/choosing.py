"""Strategies inside a formula whose part compares events: where the kernel can choose for them.

It keeps the best partial match of those that agree on what they remember, and forgets the others.
So nothing around the strategy may tell its matches apart before one is chosen: what asks about
their events would have to follow the ones that are forgotten, too. A condition that is decided by
an event behind the strategy's part may ask about them: what it remembers goes along with each.
"""

from __future__ import annotations

from collections.abc import Iterator

from cereus.automata.memory.chosen import MOST_NESTED
from cereus.clauses.tree import AnyQuery, EventWindow, Strategy
from cereus.expr.tree import Comparison, is_local, variables
from cereus.languages.ceql import tree as cel
from cereus.languages.ceql.events import operands_of
from cereus.languages.ceql.operators.absence import is_correlated
from cereus.languages.ceql.operators.counts import may_be_nothing
from cereus.languages.ceql.order import leaf_order
from cereus.languages.ceql.planning.binding import surely_bound
from cereus.languages.ceql.planning.ends import ends_marked
from cereus.languages.ceql.planning.sizes import compares_matches
from cereus.languages.ceql.scope import bound, mentioned

WHOLE_RUNS = "MAX compares whole runs"
PILING = "all its runs are remembered, inside the window or not, and more as the stream goes on"
AROUND = f"what stands around a strategy asks about the events that it chooses from: {PILING}"
NESTED = f"more than {MOST_NESTED} strategies stand inside each other: {PILING}"
IN_UNLESS = "the exception of UNLESS follows all its runs at once"
ENDS = f"the part under a strategy may end with an event that is not marked: {PILING}"
"""Why slots cannot decide."""


def choices(formula: cel.Formula) -> Iterator[tuple[cel.Select, str | None]]:
    """The strategies that choose among matches whose events are compared, each with the reason why
    the kernel cannot (None: it can)."""
    if not any(isinstance(node, cel.Select) for node in formula.walk()):
        return iter(())  # most formulas, without a look at what stands around each part
    return _choices(formula, None, 0)


def nested(formula: cel.Formula) -> int:
    """How many of these strategies stand inside each other."""
    here = isinstance(formula, cel.Select) and is_choice(formula)
    return here + max(map(nested, formula.children()), default=0)


def _choices(
    formula: cel.Formula, around: str | None, depth: int
) -> Iterator[tuple[cel.Select, str | None]]:
    if isinstance(formula, cel.Select) and is_choice(formula):
        around = around or _refusal(formula) or (NESTED if depth == MOST_NESTED else None)
        yield formula, around
        depth += 1
    for child in formula.children():
        why = around or (None if _leaves_alone(formula, child) else AROUND)
        yield from _choices(child, why, depth)


def max_refusal(query: AnyQuery, formula: cel.Formula) -> str | None:
    """Why the kernel cannot choose for MAX around all of a query. Where a window bounds matches
    that may end before they are reported, all of them are listed."""
    if query.strategy is not Strategy.MAX or not compares_matches(Strategy.MAX, formula):
        return None
    unlisted = query.window is None and not ends_marked(formula)
    return WHOLE_RUNS if query.timeouts or unlisted else None


def exception_refusal(exception: cel.Formula) -> str | None:
    """Why the exception of UNLESS cannot be watched by itself, if it compares events."""
    looks_back = any(isinstance(n, cel.Without) and _compares(n) for n in exception.walk())
    return IN_UNLESS if looks_back or _has_choice(exception) else None


def is_choice(node: cel.Select) -> bool:
    """Whether a strategy compares matches, and these compare events."""
    return compares_matches(node.strategy, node.body) and compares_events(node.body)


def begins_apart(formula: cel.Formula) -> bool:
    """Whether an event that a match begins with is never another event of a match, as their types
    show: then no match contains one that begins at another event."""
    if any(isinstance(node, cel.Project) or may_be_nothing(node) for node in formula.walk()):
        return False
    leaves, before = leaf_order(formula)
    followers = {second for _, second in before}
    first = [leaf.label for leaf in leaves if leaf.place not in followers]
    later = [leaf.label for leaf in leaves if leaf.place in followers]
    names = frozenset[str]().union(*first)
    return bool(first) and all(names.isdisjoint(label) for label in later)


def compares_events(formula: cel.Formula) -> bool:
    """Whether there are conditions between events."""
    return any(map(_compares, formula.walk()))


def _compares(node: cel.Formula) -> bool:
    match node:
        case cel.Filter(_, predicate):
            return _is_between(predicate)
        case cel.Without(_, events):
            return any(map(is_correlated, events))
        case cel.Within(_, window):
            return not isinstance(window, EventWindow)
        case cel.Repeated():
            return node.gap is not None
    return isinstance(node, cel.Gapped)


def _is_between(predicate: cel.Predicate) -> bool:
    if isinstance(predicate, cel.Holds):
        return len(variables(predicate.condition)) > 1 or not is_local(predicate.condition)
    assert isinstance(predicate, cel.AllOf | cel.AnyOf)
    return any(map(_is_between, predicate.operands))


def _refusal(node: cel.Select) -> str | None:
    """Why the kernel cannot choose, wherever the strategy stands."""
    return None if ends_marked(node.body) else ENDS


def _leaves_alone(node: cel.Formula, child: cel.Formula) -> bool:
    """Whether an operator makes no difference between the matches of strategies in a child."""
    match node:
        case cel.Sequence() | cel.Iteration() | cel.Optional() | cel.Or() | cel.As():
            return True
        case cel.Select(strategy, _):
            return strategy is not Strategy.STRICT
        case cel.Unless(left, _):
            return child is left
        case cel.ContiguousSequence():
            return not any(_has_choice(part) for part in cel.chain(node)[1:])
        case cel.Repeated():
            return node.gap is None and not node.contiguous
        case cel.Filter(body, predicate):
            return all(_chooses_first(body, part) for part in operands_of(predicate))
    return False


def _chooses_first(body: cel.Formula, predicate: cel.Predicate) -> bool:
    """Whether the strategies of a body have chosen when a condition on it is decided, or it does
    not ask about their events."""
    names = {name for name, _ in mentioned(predicate)}
    if any(">" in name for name in names):
        return False
    if names.isdisjoint(_chosen(body)):
        return True
    # of what is not a single comparison, a part may be decided sooner
    single = isinstance(predicate, cel.Holds) and isinstance(predicate.condition, Comparison)
    return single and _is_decided_behind(body, names)


def _is_decided_behind(body: cel.Formula, names: set[str]) -> bool:
    """Whether one of the variables holds events behind those that strategies choose from, always,
    and no others."""
    match body:
        case cel.Filter(inner, _):
            return _is_decided_behind(inner, names)
        case cel.Sequence(left, right):
            if _has_choice(right):
                return not _has_choice(left) and _is_decided_behind(right, names)
            return bool((names & surely_bound(right)) - bound(left))
    return False


def _has_choice(formula: cel.Formula) -> bool:
    return any(isinstance(node, cel.Select) and is_choice(node) for node in formula.walk())


def _chosen(formula: cel.Formula) -> frozenset[str]:
    """The variables of the events that strategies choose from."""
    if isinstance(formula, cel.Select) and is_choice(formula):
        return bound(formula)
    names = frozenset[str]().union(*map(_chosen, formula.children()))
    return names | {formula.variable} if names and isinstance(formula, cel.As) else names
