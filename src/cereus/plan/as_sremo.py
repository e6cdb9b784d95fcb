"""A CEL query as SREMO, where SREMO can say it.

`;` is skip till any match, `:` concatenation, `φ+` skip till any match between rounds. A filter on
one variable belongs to the events that the variable holds. One between variables belongs to the
last of them; the others are stored in registers of their names, which has to happen exactly once
before that, on every way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from cereus.errors import RefusedError
from cereus.lang import cel, sremo
from cereus.lang.expression import And, Attribute, Expression, rebuild, variables
from cereus.plan.rewrite import RULES, rewrite
from cereus.plan.skeleton import is_between
from cereus.plan.tests import conjuncts

SPINE = (cel.Sequence, cel.ContiguousSequence, cel.As, cel.Filter)
"""What every match goes through, part by part."""


@dataclass(frozen=True)
class _Asked:
    """What is asked of the events of each variable, and which variables are stored."""

    conditions: Mapping[str, tuple[Expression, ...]]
    stored: frozenset[str] = frozenset()

    def of(self, label: frozenset[str]) -> Iterator[Expression]:
        for name in sorted(label):
            yield from self.conditions.get(name, ())

    def with_condition(self, name: str, condition: Expression, stored: frozenset[str]) -> _Asked:
        own = (*self.conditions.get(name, ()), condition)
        return _Asked({**self.conditions, name: own}, self.stored | stored)


def as_sremo(query: cel.Query) -> cel.Query:
    """The query in SREMO, or RefusedError that says what cannot be said."""
    if isinstance(query.formula, sremo.Pattern):
        return query
    if query.select is not None:
        raise _refused(query, "SREMO has no variables to select", "write SELECT *")
    if query.strategy is not cel.Strategy.ALL or query.streams[1:]:
        raise _refused(query, "SREMO has no such strategy, and no streams to tell apart", None)
    expression = _translated(rewrite(query.formula, RULES), frozenset(), _Asked({}))
    return replace(query, formula=sremo.Pattern(expression), streams=(), text=None)


def _refused(node: cel.Node, reason: str, hint: str | None) -> RefusedError:
    return RefusedError(reason, span=node.span, hint=hint)


def _translated(node: cel.Formula, label: frozenset[str], asked: _Asked) -> sremo.Sremo:
    match node:
        case cel.Type(name, None):
            return _event(name, label | {name}, asked)
        case cel.As(body, variable):
            return _translated(body, label | {variable}, asked)
        case cel.Filter(body, cel.Holds(condition)):
            if is_between(condition):
                return _translated(body, label, _with_registers(node, condition, asked))
            (name,) = variables(condition)
            own = asked.with_condition(name, _on_event(condition, name), frozenset())
            return _translated(body, label, own)
        case cel.Sequence(left, right):
            parts = [_translated(part, label, asked) for part in (left, right)]
            first = parts[0].parts if isinstance(left, cel.Sequence) else (parts[0],)  # type: ignore[attr-defined]
            return sremo.Any((*first, parts[1]))
        case cel.ContiguousSequence(left, right):
            one, two = _translated(left, label, asked), _translated(right, label, asked)
            return sremo.Concatenation(one, two)
        case cel.Or(left, right):
            one, two = _translated(left, label, asked), _translated(right, label, asked)
            return sremo.Disjunction(one, two)
        case cel.Iteration(body):
            return sremo.Any((sremo.Plus(_translated(body, label, asked)),))
        case cel.ContiguousIteration(body):
            return sremo.Plus(_translated(body, label, asked))
    raise _refused(node, f"SREMO has nothing like {type(node).__name__}", None)


def _event(name: str, label: frozenset[str], asked: _Asked) -> sremo.Sremo:
    conditions = tuple(part for each in asked.of(label) for part in conjuncts(each))
    whole = sremo.TRUE if not conditions else conditions[0]
    if len(conditions) > 1:
        whole = And(conditions)
    stored = sorted(label & asked.stored)
    if len(stored) > 1:
        raise RefusedError(f"{' and '.join(stored)} are the same event: compare with one of them")
    register = stored[0] if stored else None
    return sremo.Terminal(whole, True, register, None if name == "*" else name)


def _with_registers(node: cel.Filter, condition: Expression, asked: _Asked) -> _Asked:
    """A condition between variables: asked of the last one, the others stored."""
    places = dict(_places(node.body, frozenset()))
    names = variables(condition)
    if not names <= places.keys():
        raise _refused(node, "a variable of this filter may hold nothing, or several events", None)
    last = max(names, key=lambda name: places[name].first)
    for name in names - {last}:
        earlier = places[name]
        if not earlier.certain or earlier.last >= places[last].first or name in places[last].with_:
            raise _refused(
                node,
                f"{name} may hold several events, none, or one after {last}",
                "a register holds the last event stored in it",
            )
    return asked.with_condition(last, _on_event(condition, last), names - {last})


def _on_event(condition: Expression, variable: str) -> Expression:
    """The condition with one variable read from the event at hand."""
    if isinstance(condition, Attribute):
        return replace(condition, variable=None) if condition.variable == variable else condition
    return rebuild(condition, lambda child: _on_event(child, variable))


@dataclass(frozen=True)
class _Place:
    """Where a variable is bound, counting events from left to right; `certain` if every match
    binds it exactly once."""

    first: int
    last: int
    certain: bool
    with_: frozenset[str]


def _places(formula: cel.Formula, label: frozenset[str]) -> Iterator[tuple[str, _Place]]:
    leaves: dict[str, list[tuple[int, bool, frozenset[str]]]] = {}
    counter = iter(range(10**9))

    def visit(node: cel.Formula, names: frozenset[str], certain: bool) -> None:
        if isinstance(node, cel.Type):
            place, label = next(counter), names | {node.name}
            for name in label:
                leaves.setdefault(name, []).append((place, certain, label - {name}))
            return
        names = names | {node.variable} if isinstance(node, cel.As) else names
        for child in node.children():
            visit(child, names, certain and isinstance(node, SPINE))

    visit(formula, label, True)
    for name, found in leaves.items():
        places = [place for place, _, _ in found]
        once = len(found) == 1 and found[0][1]
        yield (
            name,
            _Place(min(places), max(places), once, frozenset().union(*(w for *_, w in found))),
        )
