"""Translates a CEL query to SREMO, where SREMO can express it.

A formula reads some events that do not matter, and then its first event: a *piece* keeps the two
apart, because `:` and START leave no room between them, and UNLESS does not let everything pass.
`;` is skip till any match, `:` concatenation, `φ+` skip till any match between rounds, AND `&`, `φ
UNLESS ψ` skips only what is not ψ, and STRICT turns `;` into `:`. A filter on one variable belongs
to the events that the variable holds. A filter between variables belongs to the last of them; the
others are stored in registers of their names, which has to happen exactly once before that.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce

from cereus.clauses.tree import AnyQuery, Strategy
from cereus.expr.tree import Expression
from cereus.languages.ceql import tree as cel
from cereus.languages.ceql.operators.absence import is_correlated
from cereus.languages.ceql.planning.facts import ends_marked
from cereus.languages.ceql.planning.rewrite import RULES, rewrite
from cereus.languages.sremo import tree as sremo
from cereus.languages.sremo.srt.closure import renamed
from cereus.languages.sremo.srt.negation import fails
from cereus.languages.sremo.text import named
from cereus.syntax.tree import bottom_up
from cereus.translate.filters import filter_conditions, of_one_event, variables_of
from cereus.translate.leaves import (
    Around,
    Forbidden,
    Kept,
    NamedAs,
    VariableCondition,
    forbidden,
    leaf,
    without_filters,
)
from cereus.translate.limits import adds_conditions, check_edge, check_same_variables, refused
from cereus.translate.strategies import chain, contiguous, only_one
from cereus.translate.unrolled import unrolled

FROM_THE_BEGINNING = (
    "a SREMO may begin anywhere in the stream, and this part looks at all events from its "
    "beginning on"
)


def as_sremo(query: AnyQuery, type_column: str | None = "type") -> sremo.SremoTree:
    """The query in SREMO; RefusedError names what SREMO cannot express."""
    if isinstance(query.formula, sremo.Pattern):
        return sremo.in_sremo(query)
    original = cel.in_ceql(query).formula
    if query.unfollowed is not None:
        raise refused(query.unfollowed, "SREMO has no NOT FOLLOWED BY: no match waits", None)
    if query.timeouts:
        raise refused(query, "SREMO has no WITH TIMEOUTS: it lists matches", "leave it out")
    if query.skip is not None:
        reason = (
            "AFTER MATCH SKIP compares matches with each other, and a SREMO takes each by itself"
        )
        raise refused(query, reason, "leave it out")
    if query.select is not None:
        raise refused(query, "SREMO has no variables to select", "write SELECT *")
    if query.returned:
        raise refused(query, "SREMO has no RETURN: it lists matches", "leave RETURN out")
    if query.count:
        raise refused(query, "SREMO has no COUNT(*): it lists matches", "write SELECT *")
    if query.streams[1:]:
        raise refused(query, "SREMO has no streams to tell apart", None)
    formula = cel.Select(query.strategy, unrolled(original), span=original.span)
    piece = _Translation(type_column).piece(rewrite(formula, RULES), (), False)
    if not piece.floats:
        looking = (n for n in original.walk() if isinstance(n, cel.Start | cel.Unless))
        part = next(looking, original)
        raise refused(part, FROM_THE_BEGINNING, "START and UNLESS after a ; can be said")
    if not ends_marked(original):
        raise refused(
            original, "a SREMO match ends with an event that is marked", "leave NOT out there"
        )
    pattern = sremo.Pattern(_with_distinct_names(piece.body, query))
    clauses = replace(query, formula=pattern, strategy=Strategy.ALL, streams=(), text=None)
    return sremo.in_sremo(clauses)


def _with_distinct_names(expression: sremo.Sremo, query: AnyQuery) -> sremo.Sremo:
    if named(expression) != expression:
        raise refused(
            query.formula,
            "a variable has the name of a column that is read, and in SREMO both are written r.x",
            "rename the variable",
        )
    return expression


@dataclass(frozen=True)
class _Piece:
    """The events that may be skipped before the first event (None: none), and the rest. It `floats`
    if more events before it would change nothing."""

    lead: sremo.Sremo | None
    body: sremo.Sremo
    floats: bool

    @property
    def expression(self) -> sremo.Sremo:
        return self.body if self.lead is None else sremo.Concatenation(self.lead, self.body)


@dataclass(frozen=True)
class _Translation:
    type_column: str | None

    def piece(self, node: cel.Formula, around: Around, anchored: bool) -> _Piece:
        """A formula with its surroundings; `anchored`: its first event comes at once."""
        match node:
            case cel.Type() | cel.Not():
                return self.event(node, around, anchored)
            case cel.As(body, variable):
                return self.piece(body, (*around, NamedAs(variable)), anchored)
            case cel.Project(names, body):
                return self.piece(body, (*around, Kept(names)), anchored)
            case cel.Filter(body, cel.Holds(condition)):
                return self.piece(body, (*around, *filter_conditions(node, condition)), anchored)
            case cel.Unless(left, right):
                events = Forbidden(tuple(self.single(right, ())))
                return self.piece(left, (*around, events), anchored)
            case cel.Without(body, events, through):
                kept_out = Forbidden(tuple(self.kept_out(each) for each in events))
                if through:
                    return self.until(node, body, kept_out, around, anchored)
                return self.without(node, body, kept_out, around, anchored)
            case cel.Start(body):
                check_edge(node, body, first=True)
                return replace(self.piece(body, around, True), floats=False)
            case cel.Select(strategy, body):
                return self.selected(node, strategy, body, around, anchored)
            case cel.Or(operands):
                pieces = (self.piece(each, around, anchored) for each in operands)
                return reduce(_alternative, pieces)
            case cel.And(left, right):
                return self.both(node, left, right, around, anchored)
        return self.chained(node, around, anchored)

    # ------------------------------------------------------------ one after the other

    def chained(self, node: cel.Formula, around: Around, anchored: bool) -> _Piece:
        match node:
            case cel.Sequence(left, right):
                one, two = self.piece(left, around, anchored), self.piece(right, around, False)
                return replace(one, body=_then(one.body, two))
            case cel.ContiguousSequence(left, right):
                check_edge(node, left, first=False)
                check_edge(node, right, first=True)
                one, two = self.piece(left, around, anchored), self.piece(right, around, True)
                return replace(one, body=sremo.Concatenation(one.body, two.body))
            case cel.Iteration(body):
                one, more = self.piece(body, around, anchored), self.piece(body, around, False)
                if more.lead == sremo.SKIP_ANY and one.body == more.body:
                    return replace(one, body=sremo.Any((sremo.Plus(one.body),)))
                return replace(one, body=sremo.Concatenation(one.body, sremo.Star(more.expression)))
            case cel.ContiguousIteration(body):
                check_edge(node, body, first=True)
                check_edge(node, body, first=False)
                one, more = self.piece(body, around, anchored), self.piece(body, around, True)
                if one.body == more.body:
                    return replace(one, body=sremo.Plus(one.body))
                return replace(one, body=sremo.Concatenation(one.body, sremo.Star(more.body)))
            case cel.All():
                raise refused(node, "SREMO has nothing like ALL, which joins matches in any order")
        raise refused(node, f"SREMO has nothing like {type(node).__name__}")

    # ------------------------------------------------------------ events

    def event(self, node: cel.Formula, around: Around, anchored: bool) -> _Piece:
        if isinstance(node, cel.Type):
            body = self.marked(node, around)
        else:
            assert isinstance(node, cel.Not)
            excluded = [*self.single(node.body, ()), *forbidden(around)]
            body = sremo.Intersection(sremo.SKIP, sremo.Complement(_either(excluded)))
        lead = None if anchored else _gap(around)
        return _Piece(lead, body, lead == sremo.SKIP_ANY)

    def marked(self, node: cel.Type, around: Around) -> sremo.Sremo:
        if node.stream is not None:
            raise refused(node, "SREMO has no streams to tell apart")
        event_leaf = leaf(node, around)
        if len(event_leaf.stored) > 1:
            names = " and ".join(sorted(event_leaf.stored))
            raise refused(node, f"{names} are the same event", "compare with one of them")
        conditions = event_leaf.conditions
        for event in forbidden(around):
            if event.type in (None, event_leaf.type) or event_leaf.type is None:
                conditions += (fails(self.tested(event, event_leaf.type)),)
        condition = sremo.conjunction(conditions)
        return sremo.Terminal(
            condition, bool(event_leaf.names), next(iter(event_leaf.stored), None), event_leaf.type
        )

    def tested(self, event: sremo.Terminal, known: str | None) -> Expression:
        """The condition that an event of a known type, or of any, is such an event."""
        if event.type is None or event.type == known:
            return event.condition
        return event.typed(self.type_column or "type")

    def single(self, node: cel.Formula, around: Around) -> list[sremo.Terminal]:
        """The single events of a formula, in NOT and on the right of UNLESS."""
        match node:
            case cel.Type(_, None):
                event_leaf = leaf(node, around)
                return [sremo.Terminal(event_leaf.condition, type=event_leaf.type)]
            case cel.As(body, variable):
                return self.single(body, (*around, NamedAs(variable)))
            case cel.Filter(body, predicate):
                condition = of_one_event(node, predicate)
                name = variables_of(predicate)[0]
                return self.single(body, (*around, VariableCondition(name, condition)))
            case cel.Or(operands):
                return [event for part in operands for event in self.single(part, around)]
            case cel.Iteration(body) | cel.ContiguousIteration(body) | cel.Start(body):
                return self.single(body, around)
        raise refused(
            node,
            "in SREMO only single events can be kept out: ! marks nothing, so it cannot look at "
            "the events of the pattern together with others",
            "UNLESS one event, or one of several",
        )

    # ------------------------------------------------------------ absence

    def kept_out(self, event: cel.Excluded) -> sremo.Terminal:
        if is_correlated(event):
            raise refused(
                event, "in SREMO what must not occur is not compared with events of the match"
            )
        formula: cel.Formula = event.event
        for name in event.names:
            formula = cel.As(formula, name)
        if event.predicate is not None:
            formula = cel.Filter(formula, event.predicate, span=event.span)
        (terminal,) = self.single(formula, ())
        return terminal

    def until(
        self, node: cel.Formula, body: cel.Formula, kept_out: Forbidden, around: Around, first: bool
    ) -> _Piece:
        """UNTIL: no such event from the first event to the last, but any number before."""
        piece = self.piece(body, (*around, kept_out), first)
        if first:
            return piece
        if piece.lead != _gap((*around, kept_out)):
            raise refused(node, "UNTIL around START or UNLESS cannot be said")
        lead = _gap(around)
        return replace(piece, lead=lead, floats=lead == sremo.SKIP_ANY)

    def without(
        self, node: cel.Formula, body: cel.Formula, kept_out: Forbidden, around: Around, first: bool
    ) -> _Piece:
        """WITHOUT: no such event between the first and the last event; both are single events."""
        match body:
            case cel.As(inner, variable):
                return self.without(node, inner, kept_out, (*around, NamedAs(variable)), first)
            case cel.Filter(inner, cel.Holds(condition)):
                conditions = filter_conditions(body, condition)
                return self.without(node, inner, kept_out, (*around, *conditions), first)
            case cel.Sequence(left, right) if only_one(left) and only_one(right):
                one = self.piece(left, around, first)
                two = self.piece(right, around, True)
                gap = _gap((*around, kept_out))
                if isinstance(one.body, sremo.Terminal) and isinstance(two.body, sremo.Terminal):
                    return replace(one, body=sremo.concatenation(one.body, gap, two.body))
        raise refused(
            node,
            "WITHOUT can be said of one event and a later one",
            "A ; C WITHOUT B, or A ; (C UNLESS B) where C is no B",
        )

    # ------------------------------------------------------------ AND, strategies

    def both(
        self, node: cel.Formula, left: cel.Formula, right: cel.Formula, around: Around, first: bool
    ) -> _Piece:
        """`&`: filters around it go to the left side; both sides are the same events."""
        check_same_variables(node, left, right, around)
        one = self.piece(left, around, first)
        two = self.piece(right, without_filters(around), first)
        two = replace(two, body=_renamed(two.body, sremo.written(one.body)))
        return _joined(one, two, sremo.Intersection, together=one.lead == two.lead)

    def selected(
        self,
        node: cel.Formula,
        strategy: Strategy,
        body: cel.Formula,
        around: Around,
        anchored: bool,
    ) -> _Piece:
        if strategy is Strategy.ALL or only_one(body):
            return self.piece(body, around, anchored)
        if strategy is Strategy.STRICT:
            strict = contiguous(body)
            if strict is None:
                raise refused(node, "STRICT of NOT, PROJECT, ALL or a strategy cannot be said")
            return self.piece(strict, around, anchored)
        if strategy in (Strategy.LAST, Strategy.ANY):
            events = chain(body)
            if events and not adds_conditions(events, around):
                return self.latest(events, around, anchored)
            raise refused(
                node, f"{strategy} can be said of single events one after the other, each by itself"
            )
        raise refused(
            node,
            f"{strategy} compares all matches that end at an event, from the beginning of the "
            "stream on, and a SREMO each by itself",
        )

    def latest(
        self, events: list[tuple[cel.Type, Around]], around: Around, anchored: bool
    ) -> _Piece:
        """LAST: the latest of each event, so that no other one like it comes before the next."""
        parts: list[sremo.Sremo] = []
        for place, (event, inner) in enumerate(events):
            marked = self.marked(event, around + inner)
            parts.append(marked)
            if place < len(events) - 1:
                assert isinstance(marked, sremo.Terminal)
                like = sremo.Terminal(marked.condition, type=marked.type)
                parts.append(_gap((*around, Forbidden((like,)))))
        lead = None if anchored else _gap(around)
        return _Piece(lead, sremo.concatenation(*parts), lead == sremo.SKIP_ANY)


# ---------------------------------------------------------------- skipping and joining


def _gap(around: Around) -> sremo.Sremo:
    """The events that may be skipped: anything except what must not occur."""
    events = forbidden(around)
    return sremo.without(_either(list(events))) if events else sremo.SKIP_ANY


def _either(parts: list[sremo.Terminal]) -> sremo.Sremo:
    return reduce(sremo.Disjunction, dict.fromkeys(parts))  # type: ignore[arg-type]


def _then(left: sremo.Sremo, right: _Piece) -> sremo.Sremo:
    if right.lead != sremo.SKIP_ANY:
        lead = () if right.lead is None else (right.lead,)
        return sremo.concatenation(left, *lead, right.body)
    several = isinstance(left, sremo.Any) and len(left.parts) > 1
    first = left.parts if several and isinstance(left, sremo.Any) else (left,)
    return sremo.Any((*first, right.body))


def _joined(
    one: _Piece, two: _Piece, join: type[sremo.Disjunction | sremo.Intersection], *, together: bool
) -> _Piece:
    floats = one.floats and two.floats
    if together:
        return _Piece(one.lead, join(one.body, two.body), floats)
    return _Piece(None, join(one.expression, two.expression), floats)


def _alternative(one: _Piece, two: _Piece) -> _Piece:
    return _joined(one, two, sremo.Disjunction, together=one.lead == two.lead)


def _renamed(body: sremo.Sremo, taken: frozenset[str]) -> sremo.Sremo:
    """The right side of a `&` with its own registers."""
    written = sremo.written(body)
    names: dict[str, str] = {}
    for register in sorted(written & taken):
        fresh = (f"{register}{number}" for number in range(2, 10**9))
        names[register] = next(n for n in fresh if n not in taken | written | set(names.values()))

    def change(node: sremo.Sremo) -> sremo.Sremo:
        if not isinstance(node, sremo.Terminal):
            return node
        register = node.register and names.get(node.register, node.register)
        return replace(node, register=register, condition=renamed(node.condition, names))

    return bottom_up(body, change)
