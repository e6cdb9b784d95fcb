"""Decides where the kernel can choose for a strategy inside a formula whose part compares events.

The kernel keeps the best of the partial matches that agree on what they remember, and forgets the
others. Operators around the strategy may refuse matches before one is chosen; then the part has
rivals, which nothing refuses (`automata.memory.rivals`). A condition that is decided by an event
after the strategy's part refuses none before: each partial match carries along what the condition
remembers.

On a side of ALL, other sides mark events meanwhile, so a part there puts a stamp on its own events.

States are used for parts whose events the kernel cannot see: those that PROJECT removes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from cereus.automata.memory.chosen import MOST_NESTED
from cereus.clauses.tree import AnyQuery, EventWindow, Strategy, is_kept
from cereus.expr.tree import Comparison
from cereus.languages.ceql import tree as cel
from cereus.languages.ceql.operators.absence import is_correlated
from cereus.languages.ceql.operators.counts import may_be_nothing
from cereus.languages.ceql.order import ANY_TYPE, leaf_order
from cereus.languages.ceql.planning.facts import compares_matches, ends_marked, surely_bound
from cereus.languages.ceql.predicates import conditions_of, is_between, mentioned, operands_of
from cereus.languages.ceql.scope import bound

WHOLE_RUNS = "MAX compares whole runs"
PILING = "all its runs are remembered, inside the window or not, and more as the stream goes on"
BEHIND = f"inside another strategy, matches of one are refused behind other events: {PILING}"
PROJECTED = f"events that a strategy chooses from are projected away: {PILING}"
NESTED = f"more than {MOST_NESTED} strategies stand inside each other, or in AND, or ALL: {PILING}"
IN_UNLESS = "the exception of UNLESS follows all its runs at once"
ENDS = f"the part under a strategy may end with an event that is not marked: {PILING}"
"""Why slots cannot decide."""


class ChosenPart(NamedTuple):
    """A strategy that chooses among matches whose events are compared; why the kernel cannot (None:
    it can), whether its part needs rivals, whether others may mark events meanwhile, and whether
    its evaluation may begin at any event."""

    node: cel.Select
    refusal: str | None
    rivals: bool
    beside: bool
    begins_anywhere: bool


def choices(formula: cel.Formula) -> Iterator[ChosenPart]:
    """The strategies of a formula that choose among matches whose events are compared."""
    if not any(isinstance(node, cel.Select) for node in formula.walk()):
        return iter(())  # most formulas, without a look at what stands around each part
    refusal = NESTED if nested(formula) > MOST_NESTED else None
    return _choices(formula, _Around(refusal))


def by_node(chosen: Iterable[ChosenPart]) -> dict[cel.Select, ChosenPart]:
    """How the kernel chooses for each strategy. A strategy that occurs at several places gets what
    is right for all of them."""
    parts: dict[cel.Select, ChosenPart] = {}
    for part in chosen:
        other = parts.get(part.node, part)
        parts[part.node] = part._replace(
            rivals=part.rivals or other.rivals or part.begins_anywhere != other.begins_anywhere,
            beside=part.beside or other.beside,
            begins_anywhere=part.begins_anywhere and other.begins_anywhere,
        )
    return parts


def nested(formula: cel.Formula) -> int:
    """How many of these strategies may be at work at once: they stand inside each other, or on
    sides of AND or ALL."""
    here = isinstance(formula, cel.Select) and is_choice(formula)
    inside = map(nested, formula.children())
    return here + (
        sum(inside) if isinstance(formula, cel.And | cel.All) else max(inside, default=0)
    )


class _Around(NamedTuple):
    """The surroundings of a part: why the kernel cannot choose in it, whether they refuse matches,
    whether others mark events meanwhile, whether evaluation may begin at any event, and, inside
    another strategy, whether events of that may come before."""

    refusal: str | None
    rivals: bool = False
    beside: bool = False
    begins_anywhere: bool = False
    behind: bool | None = None


def _choices(formula: cel.Formula, around: _Around) -> Iterator[ChosenPart]:
    refusal, rivals, beside, begins_anywhere, behind = around
    if isinstance(formula, cel.Select) and is_choice(formula):
        refusal = refusal or (None if ends_marked(formula.body) else ENDS)
        why = refusal or (BEHIND if rivals and behind else None)
        yield ChosenPart(formula, why, rivals, beside, begins_anywhere)
        behind = bool(behind)
    beside = beside or isinstance(formula, cel.All)
    for place, child in enumerate(_parts(formula)):
        late = behind is not None and (behind or _comes_late(formula, place))
        anywhere = isinstance(formula, cel.All) and _begins_anywhere(cel.chain(formula), place)
        inside = _Around(
            refusal or _hides(formula, child),
            rivals or not (anywhere or _leaves_alone(formula, child)),
            beside,
            anywhere,
            None if behind is None else late,
        )
        yield from _choices(child, inside)


def _parts(formula: cel.Formula) -> Sequence[cel.Formula]:
    return cel.chain(formula) if isinstance(formula, cel.All) else formula.children()


FREE = (cel.Type, cel.As, cel.Filter, cel.Sequence, cel.ContiguousSequence, cel.Gapped,
        cel.Iteration, cel.ContiguousIteration, cel.Repeated, cel.Optional, cel.Or,
        cel.And)  # fmt: skip
"""A match of these operators is a match wherever evaluation begins before its first event."""


def _is_free(formula: cel.Formula) -> bool:
    return all(isinstance(node, FREE) for node in formula.walk())


def _begins_anywhere(sides: Sequence[cel.Formula], place: int) -> bool:
    """Whether evaluation of a side of ALL that is a strategy may begin at any event: one of the
    sides has to begin where ALL does, and another always can. So it may begin at the first event of
    a match, which competes with those from there on: for NEXT and MAX, only those that begin with
    the same event can be better."""
    side = sides[place]
    others = [each for n, each in enumerate(sides) if n != place]
    anywhere = any(_is_free(each) and not may_be_nothing(each) for each in others)
    return anywhere and isinstance(side, cel.Select) and _is_free(side.body)


def _comes_late(node: cel.Formula, place: int) -> bool:
    """Whether events may come before a part of an operator."""
    match node:
        case cel.Sequence() | cel.ContiguousSequence() | cel.Gapped():
            return place > 0
    return isinstance(node, cel.Iteration | cel.ContiguousIteration | cel.Repeated | cel.All)


def max_refusal(query: AnyQuery, formula: cel.Formula) -> str | None:
    """Why the kernel cannot choose for MAX around a whole query; None if it can. If a window bounds
    matches that may end before they are reported, all of them are listed."""
    if query.strategy is not Strategy.MAX or not compares_matches(Strategy.MAX, formula):
        return None
    unlisted = query.window is None and not ends_marked(formula)
    return WHOLE_RUNS if query.timeouts or unlisted else None


def exception_refusal(exception: cel.Formula) -> str | None:
    """Why the exception of UNLESS cannot be watched separately, if it compares events; None if it
    can."""
    looks_back = any(isinstance(n, cel.Without) and _compares(n) for n in exception.walk())
    return IN_UNLESS if looks_back or _has_choice(exception) else None


def is_choice(node: cel.Select) -> bool:
    """Whether a strategy compares matches, and these compare events."""
    return compares_matches(node.strategy, node.body) and compares_events(node.body)


def begins_apart(formula: cel.Formula) -> bool:
    """Whether an event that begins a match is never in the middle of one, as their types show: then
    no match contains one that begins at another event and ends at the same."""
    if any(isinstance(node, cel.Project) or may_be_nothing(node) for node in formula.walk()):
        return False
    order = leaf_order(formula)
    followers = order.followers()
    first = [leaf for leaf in order.leaves if leaf.place not in followers]
    later = [leaf for leaf in order.leaves if leaf.place in followers]
    if all(order.after[leaf.place] for leaf in first):  # no match is a single event
        later = [leaf for leaf in later if order.after[leaf.place]]
    names = frozenset({ANY_TYPE}).union(*(leaf.label for leaf in first))
    known = bool(first) and not any(ANY_TYPE in leaf.label for leaf in first)
    return known and all(names.isdisjoint(leaf.label) for leaf in later)


def compares_events(formula: cel.Formula) -> bool:
    """Whether there are conditions between events."""
    return any(map(_compares, formula.walk()))


def _compares(node: cel.Formula) -> bool:
    match node:
        case cel.Filter(_, predicate):
            return any(map(is_between, conditions_of(predicate)))
        case cel.Without(_, events):
            return any(map(is_correlated, events))
        case cel.Within(_, window):
            return not isinstance(window, EventWindow)
        case cel.Repeated():
            return node.gap is not None
    return isinstance(node, cel.Gapped)


def _hides(node: cel.Formula, child: cel.Formula) -> str | None:
    """Why the kernel cannot tell which events a strategy in a child has marked."""
    match node:
        case cel.Project(names) if not _keeps_chosen(names, child):
            return PROJECTED
        case cel.Unless(_, right) if child is right:
            return IN_UNLESS
    return None


def _keeps_chosen(names: frozenset[str], formula: cel.Formula) -> bool:
    """Whether a projection keeps all events that strategies in a formula choose from."""
    chosen = (n.body for n in formula.walk() if isinstance(n, cel.Select) and is_choice(n))
    labels = [leaf.label for body in chosen for leaf in leaf_order(body).leaves]
    return all(any(is_kept(v, names) for v in label) for label in labels if label)


def _leaves_alone(node: cel.Formula, child: cel.Formula) -> bool:
    """Whether an operator refuses no matches of strategies in a child before one is chosen."""
    match node:
        case cel.Sequence() | cel.Iteration() | cel.Optional() | cel.Or() | cel.As():
            return True
        case cel.Project():
            return True
        case cel.Select(strategy, _):
            return strategy is not Strategy.STRICT
        case cel.Unless(left, _):
            return child is left
        case cel.ContiguousSequence():
            return all(map(_begins_here, cel.chain(node)[1:]))
        case cel.Repeated():
            return node.gap is None and not node.contiguous
        case cel.Filter(body, predicate):
            return all(_chooses_first(body, part) for part in operands_of(predicate))
    return False


def _begins_here(part: cel.Formula) -> bool:
    """Whether a match of a strategy is never refused because it begins later than its part."""
    anchored = isinstance(part, cel.Select) and isinstance(part.body, cel.Start)
    return anchored or not _has_choice(part)


def _chooses_first(body: cel.Formula, predicate: cel.Predicate) -> bool:
    """Whether the strategies of a body have chosen when a condition on it is decided, or the
    condition does not read their events."""
    names = {name for name, _ in mentioned(predicate)}
    if any(">" in name for name in names):
        return False
    if names.isdisjoint(_chosen(body)):
        return True
    # a part of a condition that is not a single comparison may be decided sooner
    single = isinstance(predicate, cel.Holds) and isinstance(predicate.condition, Comparison)
    return single and _is_decided_behind(body, names)


def _is_decided_behind(body: cel.Formula, names: set[str]) -> bool:
    """Whether one of the variables always holds events after those that strategies choose from, and
    no others."""
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
