"""Random conditions between events, put into random formulas."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from cereus.expr import functions as ex_functions
from cereus.expr import tree as ex
from cereus.languages.ceql import tree as cel
from cereus.languages.ceql.planning.rewrite import Rule
from cereus.languages.ceql.scope import bound
from cereus.languages.ceql.text import parse, to_text

from . import strategies

NUMBERS, STRINGS = ("x", "w", "t"), ("s",)


def comparison(draw: Random, names: list[str]) -> ex.Expression:
    """A condition that mentions two or three of the variables."""
    first, second = draw.sample(names, 2)
    kind = draw.randrange(10)
    if kind < 2:
        return texts(draw, _of(first, draw.choice(STRINGS)), _of(second, draw.choice(STRINGS)))
    sign = draw.choice(["=", "=", "!=", "<", "<=", ">", ">="])
    left, right = (_of(name, draw.choice(NUMBERS)) for name in (first, second))
    if kind < 7:
        return ex.Comparison(sign, _of(first, "x"), _of(second, "x"))
    if kind == 7:
        one = ex.Arithmetic("+", left, ex.Literal(draw.randrange(2)))
        return ex.Comparison(sign, one, right)
    if kind == 8:
        gap = ex.Call("abs", (ex.Arithmetic("-", left, right),))
        return ex.Comparison(sign, gap, ex.Literal(draw.randrange(3)))
    if draw.randrange(2):
        return tangled(draw, [first, second, draw.choice(names)])
    third = _of(draw.choice(names), "x")
    return ex.Comparison(sign, ex.Arithmetic("+", left, right), third)


def texts(draw: Random, left: ex.Expression, right: ex.Expression) -> ex.Expression:
    """A condition on two strings."""
    sign = draw.choice(["=", "!=", "=", "<", ">="])
    both = ex.Call("concat", (left, right))
    match draw.randrange(6):
        case 0:
            return ex.Like(both, draw.choice(["%b%", "_a%", "a%"]))
        case 1:
            return ex.Comparison(sign, ex.Call("length", (both,)), ex.Literal(draw.randrange(4)))
        case 2:
            return ex.Comparison(sign, both, ex.Literal(draw.choice(["ab", "ba", "aa"])))
    return ex.Comparison(sign, left, right)


def tangled(draw: Random, names: list[str]) -> ex.Expression:
    """A condition of any shape over the variables."""

    def number(depth: int) -> ex.Expression:
        kind = draw.randrange(8 if depth else 2)
        if kind < 2:
            return (
                ex.Literal(draw.choice([0, 1, 2, 0.5, -1.5, None]))
                if kind
                else _of(draw.choice(names), draw.choice(NUMBERS))
            )
        one, two = number(depth - 1), number(depth - 1)
        if kind < 6:
            return ex.Arithmetic(draw.choice("+-*/%"), one, two)
        if kind == 6:
            return ex.Call(draw.choice(["least", "greatest"]), (one, two))
        if draw.randrange(6) == 0:
            return ex.Call("round", (one, ex.Literal(draw.choice([0, 1, -1]))))
        if draw.randrange(6) == 0:
            return ex.Call("power", (one, two))
        return ex.Call(
            draw.choice(["abs", "floor", "ceil", "sqrt", "sign", "exp", "ln", "log10"]), (one,)
        )

    def reading() -> ex.Expression:
        """A number that surely reads an attribute."""
        return ex.Arithmetic(draw.choice("+-*/%"), _of(draw.choice(names), "x"), number(1))

    def truth(depth: int) -> ex.Expression:
        kind = draw.randrange(7 if depth else 3)
        if kind < 3:
            sign = draw.choice(["=", "!=", "<", "<=", ">", ">="])
            return ex.Comparison(sign, reading(), number(1))
        if kind == 3:
            return ex.Not(truth(depth - 1))
        if kind == 4:
            return ex.IsNull(reading())
        join = ex.And if kind == 5 else ex.Or
        return join((truth(depth - 1), truth(depth - 1)))

    return truth(2)


def aggregate(draw: Random, names: list[str]) -> ex.Expression:
    function = draw.choice(ex_functions.AGGREGATES)
    part = draw.choice((0.0, 0.3, 1.0)) if function == "percentile" else None
    node = ex.Aggregate(function, draw.choice(names), ("x",), parameter=part)
    sign = draw.choice(["=", "!=", "<", "<=", ">", ">="])
    other = draw.choice([ex.Literal(draw.randrange(4)), _of(draw.choice(names), "x")])
    return ex.Comparison(sign, node, other)


def successive(draw: Random, name: str) -> ex.Expression:
    """Each event of a variable with the one before it."""
    column = draw.choice(("x", "x", "w", "s"))
    before: ex.Expression = ex.Aggregate("prev", name, (column,))
    if column == "s":
        return ex.Comparison(draw.choice(["=", "!="]), _of(name, "s"), before)
    if draw.randrange(3) == 0:
        before = ex.Arithmetic("+", before, ex.Aggregate("prev", name, (draw.choice("xt"),)))
    sign = draw.choice(["=", "!=", "<", "<=", ">", ">="])
    return ex.Comparison(sign, _of(name, column), before)


def _of(name: str, column: str) -> ex.Attribute:
    return ex.Attribute((column,), name)


def predicate(draw: Random, names: list[str]) -> cel.Predicate:
    kind = draw.randrange(10)
    if (kind == 0 or len(names) < 2) and draw.randrange(2):
        return cel.Holds(successive(draw, draw.choice(names)))
    if kind == 0 or len(names) < 2:
        return cel.Holds(aggregate(draw, names))
    if kind < 7:
        return cel.Holds(comparison(draw, names))
    parts = tuple(cel.Holds(comparison(draw, names)) for _ in range(2))
    return cel.AllOf(parts) if kind < 9 else cel.AnyOf(parts)


def correlated(draw: Random, formula: cel.Formula, *, often: int = 3) -> cel.Formula:
    """The formula with filters between events put in here and there."""

    def change(node: cel.Formula) -> cel.Formula:
        if isinstance(node, cel.Without):
            node = replace(node, events=tuple(absent(draw, e, node.body) for e in node.events))
        if isinstance(node, cel.Type | cel.Not) or draw.randrange(often):
            return node
        names = sorted(name for name in bound(node) if ">" not in name and name != "*")
        if len(names) < 2 and draw.randrange(4):
            return node
        return cel.Filter(node, predicate(draw, names)) if names else node

    return _top_down(formula, change)


def absent(draw: Random, event: cel.Excluded, body: cel.Formula) -> cel.Excluded:
    """An event that must not occur, compared with events of the pattern."""
    others = [name for name in bound(body) if ">" not in name and name != "*"]
    if not others or not event.names or draw.randrange(4) == 0:
        return event
    between = cel.Holds(comparison(draw, [event.names[0], draw.choice(sorted(others))]))
    if event.predicate is None:
        return replace(event, predicate=between)
    join = cel.AllOf if draw.randrange(3) else cel.AnyOf
    return replace(event, predicate=join((event.predicate, between)))


def _top_down(formula: cel.Formula, change: Rule) -> cel.Formula:
    if isinstance(formula, cel.Not):
        return formula  # the body of a NOT stays a single event
    parts = {
        name: _top_down(getattr(formula, name), change)
        for name in ("body", "left", "right")
        if hasattr(formula, name) and isinstance(getattr(formula, name), cel.Formula)
    }
    rebuilt = replace(formula, **parts) if parts else formula  # type: ignore[arg-type]
    return change(rebuilt)


def case(draw: Random, *, streams: int = 2, largest: int = 7) -> strategies.Case:
    made = strategies.case(draw, streams=streams, largest=largest)
    formula = correlated(draw, made.query.formula)
    names = [name for name in sorted(bound(formula)) if ">" not in name and name != "*"]
    if len(names) >= 2 and draw.randrange(3):
        formula = cel.Filter(formula, predicate(draw, names))
    # an OR in a filter is an OR of filters, so the query is what its text says
    return replace(made, query=parse(to_text(replace(made.query, formula=formula))))
