"""Translates a SREMO query to CEQL, where CEQL can express it: the reverse of `as_sremo`.

Registers become variables, and conditions on them filters between variables. That means the same if
a register is stored exactly once, on every path, before it is read: in the whole pattern, or in one
round of an iteration, or on one side of a `&` (a *scope*, to which the filter then belongs). Events
that are read without a mark have variables like all others; a PROJECT around everything shows only
the marked ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import cast

from cereus.clauses.tree import AnyQuery
from cereus.errors import RefusedError
from cereus.expr import tree as ex
from cereus.expr.tree import about, conjuncts
from cereus.languages.ceql import tree as cel
from cereus.languages.ceql.scope import bound
from cereus.languages.sremo import tree as sremo
from cereus.languages.sremo.plan import outermost_window
from cereus.translate import forms
from cereus.translate.forms import Forms

SHOWN = "m"
"""The variable of the marked events, where others have to be left out."""
READS_NOTHING = "a filter of CEQL reads an attribute"


def as_ceql(query: AnyQuery) -> cel.CeqlTree:
    """The query in CEQL; RefusedError names what CEQL cannot express."""
    if isinstance(query.formula, cel.Formula):
        return cel.in_ceql(query)
    bounded = outermost_window(sremo.in_sremo(query))
    pattern = bounded.formula
    if pattern.detect:
        raise RefusedError("CEQL has no DETECT", span=query.span, hint="write LIMIT 1")
    translation = _Translation(pattern.expression, projects=False)
    formula = translation.full_formula()
    if translation.unshown:
        formula = _Translation(pattern.expression, projects=True).full_formula()
    return cel.in_ceql(replace(cast(AnyQuery, bounded), formula=formula, text=None))


def _refused(node: sremo.Sremo, reason: str, hint: str | None = None) -> RefusedError:
    return RefusedError(f"{reason}: {node}", span=node.span, hint=hint)


@dataclass
class _Scope:
    """A part of the expression in which registers are stored once, and its filters. `closed`:
    variables from outside are not visible."""

    certain: frozenset[str]
    closed: bool = False
    so_far: set[str] = field(default_factory=set)
    filters: list[ex.Expression] = field(default_factory=list)


class _Translation:
    """The state of a translation. `projects`: a PROJECT separates the marked events from others.
    `unshown` becomes true if that is needed: an event is read without a mark, or both sides of a
    `&` have to look alike."""

    def __init__(self, expression: sremo.Sremo, *, projects: bool) -> None:
        self.expression = expression
        nodes = [n for n in expression.walk() if isinstance(n, sremo.Terminal)]
        self.stored = [n.register for n in nodes if n.register is not None]
        self.types = {n.type for n in nodes}
        self.taken = {*self.stored, *self.types}
        self.scopes = [_Scope(self.certain(expression))]
        self.unshown = False
        self.variables: dict[str, str] = {}
        self.shown = self.fresh(SHOWN) if projects else None

    def fresh(self, name: str) -> str:
        numbered = (f"{name}{number}" for number in range(1, 10**9))
        made = name if name not in self.taken and name != "e" else None
        made = made or next(n for n in numbered if n not in self.taken)
        self.taken.add(made)
        return made

    def full_formula(self) -> cel.Formula:
        made = self.scoped(self.forms(self.expression))
        # a string that ends without a mark is no match (Def. 24)
        matching = tuple(f for f in made if f.formula is not None and f.ends is not False)
        if not all(form.ends for form in matching):
            raise _refused(
                self.expression, "in CEQL a match may end with an event that is not marked"
            )
        if not matching:
            raise _refused(self.expression, "CEQL has no pattern that never matches")
        formula = forms.disjunction(Forms(False, matching))
        return self.projected(formula)

    def projected(self, formula: cel.Formula) -> cel.Formula:
        return formula if self.shown is None else cel.Project(frozenset({self.shown}), formula)

    # ------------------------------------------------------------ expressions

    def forms(self, node: sremo.Sremo) -> Forms:
        match node:
            case sremo.SKIP_ANY:
                return Forms(False, (forms.GAP,))
            case sremo.Epsilon():
                return forms.EMPTY
            case sremo.Nothing():
                return forms.NO_STRING
            case sremo.Terminal():
                return self.event(node)
            case sremo.Concatenation(left, right):
                return forms.then(self.forms(left), self.forms(right))
            case sremo.Disjunction(left, right):
                return forms.either(self.forms(left), self.forms(right))
            case sremo.Optional(body):
                return forms.either(self.forms(body), forms.EMPTY)
            case sremo.Star(body) | sremo.Plus(body):
                return self.iteration(node, body, skipping=False)
            case sremo.Any() | sremo.Next():
                return self.strategy(node)
            case sremo.Intersection(left, right):
                return self.both(node, left, right)
            case sremo.Complement():
                return self.complement(node)
        raise _refused(node, "CEQL has one window, around everything")

    def strategy(self, node: sremo.Any | sremo.Next) -> Forms:
        match node:
            case sremo.Any((sremo.Plus(body) | sremo.Star(body) as repeated,)):
                return self.iteration(repeated, body, skipping=True)
            case sremo.Next((sremo.Plus() | sremo.Star(),)):
                return self.forms(sremo.rewritten(node))
        made = self.forms(node.parts[0])
        for part in node.parts[1:]:
            skipped = sremo.SKIP_ANY if isinstance(node, sremo.Any) else sremo.without(part)
            made = forms.then(made, self.forms(skipped))
            made = forms.then(made, self.forms(part))
        return made

    def iteration(self, node: sremo.Sremo, body: sremo.Sremo, *, skipping: bool) -> Forms:
        inside = self.inside(body, closed=False)
        made = forms.repeated(inside, skipping=skipping, at_all=isinstance(node, sremo.Plus))
        if made is None:
            raise _refused(node, "in CEQL rounds have the same room between them")
        return made

    def both(self, node: sremo.Sremo, left: sremo.Sremo, right: sremo.Sremo) -> Forms:
        if left == sremo.SKIP and isinstance(right, sremo.Complement):
            events = _single(right.body)
            if events:
                return forms.one(self.none_of(events), marked=False)
        self.unshown = True
        sides = [self.inside(side, closed=True).changed(self.projected) for side in (left, right)]
        made = forms.both(*sides)
        if made is None:
            raise _refused(
                node, "CEQL's AND joins what begins and ends with marked events, and this may not"
            )
        return made

    def complement(self, node: sremo.Complement) -> Forms:
        match node.body:
            case sremo.Concatenation(sremo.Concatenation(before, middle), after):
                events = _single(middle)
                if events and before == after == sremo.SKIP_ANY:
                    skipped = cel.ContiguousIteration(self.none_of(events))
                    return forms.either(forms.EMPTY, forms.one(skipped, marked=False))
        raise _refused(
            node,
            "CEQL can say that single events do not occur, and no more of !",
            "!(skip* . {…} . skip*)",
        )

    # ------------------------------------------------------------ events

    def event(self, node: sremo.Terminal) -> Forms:
        local = [c for c in conjuncts(node.condition) if not ex.variables(c) and c != sremo.TRUE]
        between = [c for c in conjuncts(node.condition) if ex.variables(c)]
        variable = None
        if node.register is not None or between or (local and node.type is None):
            variable = self.variable(node.register)
        formula = _leaf(node, variable, local)
        self.unshown |= not node.marks
        if between:
            self.add_filters(node, between, str(variable))
        if node.register is not None:
            for scope in self.scopes:
                scope.so_far.add(node.register)
        if node.marks and self.shown is not None:
            formula = cel.As(formula, self.shown)
        return forms.one(formula, marked=node.marks)

    def variable(self, register: str | None) -> str:
        if register is None:
            return self.fresh("e")
        again = self.stored.count(register) > 1 or register in self.types
        self.variables[register] = self.fresh(register) if again else register
        return self.variables[register]

    def none_of(self, events: list[sremo.Terminal]) -> cel.Formula:
        """One unmarked event that is none of these."""
        parts: list[cel.Formula] = []
        for event in events:
            if event.reads:
                raise _refused(event, "a filter inside CEQL's NOT is about its own event")
            local = [c for c in conjuncts(event.condition) if c != sremo.TRUE]
            variable = self.fresh("e") if local and event.type is None else None
            parts.append(cel.Not(_leaf(event, variable, local)))
        conjunction = parts[0]
        for part in parts[1:]:
            conjunction = cel.And(conjunction, part)
        return conjunction

    # ------------------------------------------------------------ registers

    def add_filters(
        self, node: sremo.Terminal, conditions: list[ex.Expression], variable: str
    ) -> None:
        scope = self.scope_of(node)
        innermost = scope is self.scopes[-1]
        for condition in conditions:
            plain = isinstance(condition, ex.Comparison)
            reads_event = any(
                isinstance(n, ex.Attribute) and n.variable is None for n in condition.walk()
            )
            if not reads_event or not (plain or innermost):
                raise _refused(node, "a filter of CEQL is about all events of a variable at once")
            if not _reads_throughout(condition):
                raise _refused(node, READS_NOTHING)
            scope.filters.append(_of(condition, variable, self.variables))

    def scope_of(self, node: sremo.Terminal) -> _Scope:
        """The innermost scope that stores all registers that a condition reads."""
        for scope in reversed(self.scopes):
            if node.reads <= scope.certain & scope.so_far:
                return scope
            if scope.closed or node.reads & scope.certain:
                break
        raise _refused(
            node,
            "in CEQL a variable holds all its events",
            "registers that are stored once, before they are read",
        )

    def inside(self, body: sremo.Sremo, *, closed: bool) -> Forms:
        """A part with a scope of its own."""
        self.scopes.append(_Scope(self.certain(body), closed))
        made = self.scoped(self.forms(body))
        self.scopes.pop()
        return made

    def scoped(self, made: Forms) -> Forms:
        """The forms with the filters of the current scope."""
        conditions = self.scopes[-1].filters

        def filtered(formula: cel.Formula) -> cel.Formula:
            names = bound(formula)
            for condition in conditions:
                if ex.variables(condition) <= names:  # otherwise the condition does not apply
                    formula = cel.Filter(formula, cel.Holds(condition))
            return formula

        return made.changed(filtered)

    def certain(self, expression: sremo.Sremo) -> frozenset[str]:
        """The registers that every match of a part stores into exactly once."""
        spine = (node.register for node in _spine(expression))
        return frozenset(r for r in spine if r is not None and self.stored.count(r) == 1)


def _spine(node: sremo.Sremo) -> Iterator[sremo.Terminal]:
    """The events that every match goes through."""
    match node:
        case sremo.Terminal():
            yield node
        case sremo.Concatenation(left, right):
            yield from _spine(left)
            yield from _spine(right)
        case sremo.Any(parts) | sremo.Next(parts) if len(parts) > 1:
            for part in parts:
                yield from _spine(part)


def _leaf(
    node: sremo.Terminal, variable: str | None, conditions: list[ex.Expression]
) -> cel.Formula:
    """One event under its variable, with the conditions on it alone."""
    name = node.type or "*"
    formula: cel.Formula = cel.Type(name)
    if variable is not None:
        formula = cel.As(formula, variable)
    if conditions:
        if not any(map(ex.attributes, conditions)):
            raise _refused(node, READS_NOTHING)
        condition = _of(sremo.conjunction(conditions), variable or name)
        formula = cel.Filter(formula, cel.Holds(condition))
    return formula


def _reads_throughout(condition: ex.Expression) -> bool:
    """Whether each part of AND, OR and NOT reads an attribute."""
    if isinstance(condition, ex.And | ex.Or | ex.Not):
        return all(map(_reads_throughout, condition.children()))
    return bool(ex.attributes(condition))


def _of(
    condition: ex.Expression, variable: str, registers: Mapping[str, str] | None = None
) -> ex.Expression:
    """The condition with the event at hand, and registers, read from variables."""
    if isinstance(condition, ex.Attribute):
        register = condition.variable
        return about(condition, variable if register is None else (registers or {})[register])
    return ex.rebuild(condition, lambda child: _of(child, variable, registers))


def _single(node: sremo.Sremo) -> list[sremo.Terminal]:
    """The events of an alternative of single events; else an empty list."""
    match node:
        case sremo.Terminal():
            return [node]
        case sremo.Disjunction(left, right):
            one, two = _single(left), _single(right)
            return one + two if one and two else []
    return []
