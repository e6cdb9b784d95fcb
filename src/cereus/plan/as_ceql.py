"""A SREMO query as CEQL, where CEQL can say it: `as_sremo` read backwards.

Registers become variables, and conditions on them filters between variables. That is the same
where a register is stored exactly once, on every way, before it is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from cereus.errors import RefusedError
from cereus.lang import cel, sremo
from cereus.lang import expression as ex
from cereus.plan.rewrite import about
from cereus.plan.sremo import outermost_window
from cereus.plan.tests import conjuncts


def as_ceql(query: cel.Query) -> cel.Query:
    """The query in CEQL, or RefusedError that says what cannot be said."""
    if not isinstance(query.formula, sremo.Pattern):
        return query
    query = outermost_window(query)
    pattern = query.formula
    assert isinstance(pattern, sremo.Pattern)
    if pattern.detect:
        raise RefusedError("CEQL has no DETECT", span=query.span, hint="write LIMIT 1")
    formula = _Translation(pattern.expression).whole()
    return replace(query, formula=formula, text=None)


class _Translation:
    def __init__(self, expression: sremo.Sremo) -> None:
        self.expression = expression
        self.stored = set(_certain(expression))
        self.so_far: set[str] = set()
        self.filters: list[ex.Expression] = []
        self.names = (f"e{number}" for number in range(1, 10**9))
        self.taken = {n.register for n in expression.walk() if isinstance(n, sremo.Terminal)}

    def whole(self) -> cel.Formula:
        formula = self.formula(self.expression)
        for condition in self.filters:
            formula = cel.Filter(formula, cel.Holds(condition))
        return formula

    def formula(self, node: sremo.Sremo) -> cel.Formula:
        match node:
            case sremo.Terminal():
                return self.event(node)
            case sremo.Any((sremo.Plus(body),)):
                return cel.Iteration(self.formula(body))
            case sremo.Any((first, *rest)):
                formula = self.formula(first)
                for part in rest:
                    formula = cel.Sequence(formula, self.formula(part))
                return formula
            case sremo.Concatenation(sremo.Concatenation(left, sremo.SKIP_ANY), right):
                return cel.Sequence(self.formula(left), self.formula(right))
            case sremo.Concatenation(left, right):
                return cel.ContiguousSequence(self.formula(left), self.formula(right))
            case sremo.Disjunction(left, right):
                return cel.Or(self.formula(left), self.formula(right))
            case sremo.Plus(body):
                return cel.ContiguousIteration(self.formula(body))
        raise RefusedError(f"CEQL has nothing like {node}", span=node.span)

    def event(self, node: sremo.Terminal) -> cel.Formula:
        if not node.marks:
            raise RefusedError(f"CEQL has nothing like {node}", span=node.span)
        self._check_reads(node)
        name = node.type or "*"
        between = [c for c in conjuncts(node.condition) if ex.variables(c)]
        local = [c for c in conjuncts(node.condition) if not ex.variables(c) and c != sremo.TRUE]
        variable = node.register
        if variable is None and (between or (local and name == "*")):
            variable = next(n for n in self.names if n not in self.taken)
        formula: cel.Formula = cel.Type(name)
        if variable is not None:
            formula = cel.As(formula, variable)
        for condition in local:
            formula = cel.Filter(formula, cel.Holds(_of(condition, variable or name)))
        self.filters += [_of(condition, variable or name) for condition in between]
        if node.register is not None:
            self.so_far.add(node.register)
        return formula

    def _check_reads(self, node: sremo.Terminal) -> None:
        unsure = node.reads - (self.stored & self.so_far)
        plain = all(
            isinstance(c, ex.Comparison) for c in conjuncts(node.condition) if ex.variables(c)
        )
        if node.register in node.reads or unsure or not plain:
            raise RefusedError(
                f"in CEQL a variable holds all its events: {node} cannot be said",
                span=node.span,
                hint="registers that are stored once, before they are read, in comparisons",
            )


def _of(condition: ex.Expression, variable: str) -> ex.Expression:
    """The condition with the event at hand read from a variable."""
    if isinstance(condition, ex.Attribute):
        return condition if condition.variable is not None else about(condition, variable)
    return ex.rebuild(condition, lambda child: _of(child, variable))


def _certain(expression: sremo.Sremo) -> Iterator[str]:
    """The registers that every match stores into exactly once."""
    spine: list[sremo.Terminal] = []

    def visit(node: sremo.Sremo) -> None:
        if isinstance(node, sremo.Terminal):
            spine.append(node)
        elif isinstance(node, sremo.Concatenation | sremo.Any) and not (
            isinstance(node, sremo.Any) and len(node.parts) == 1
        ):
            for part in node.children():
                visit(part)

    visit(expression)
    written = [n.register for n in expression.walk() if isinstance(n, sremo.Terminal)]
    for node in spine:
        if node.register is not None and written.count(node.register) == 1:
            yield node.register
