"""Calls in a clause: navigation, aggregates, functions of one row."""

from __future__ import annotations

from typing import Any

from lark import Token

from cereus.errors import RefusedError, Span
from cereus.expr import tree as ex
from cereus.expr.functions import FUNCTIONS
from cereus.expr.text import scalar_call
from cereus.languages.match_recognize import tree
from cereus.languages.match_recognize.lists import COLLECTED, TAKEN
from cereus.languages.match_recognize.parsing.dates import DATES, of_dates
from cereus.languages.match_recognize.parsing.names import canonical

MOST = 2**31 - 1
"""The largest bound of a quantifier, and the largest offset."""


def called(
    function: Token,
    arguments: tuple[ex.Expression, ...],
    semantics: tree.Semantics | None,
    span: Span,
) -> ex.Expression:
    upper, lower = function.upper(), function.lower()
    upper = tree.OTHER_STEPS.get(upper, upper)
    if upper in ("FIRST", "LAST") or (upper in tree.NAVIGATION and semantics is None):
        return _step(upper, arguments, semantics, span)
    if lower in TAKEN and (_is_collection(*arguments[:1]) or lower not in FUNCTIONS):
        return taken(lower, arguments, span)
    if lower == "concat_ws" and len(arguments) == 2 and _is_collection(arguments[1]):
        joined = taken("array_join", arguments[::-1], span)
        return ex.Call("coalesce", (joined, ex.Literal("")), span=span)
    if lower in ("map", "map_union"):
        return _pairs(lower, arguments, span)
    if lower == "median":
        _arity(function, arguments, (1,), span)
        half = ex.Literal(0.5, span=span)
        return tree.Aggregate("percentile", (*arguments, half), semantics=semantics, span=span)
    if f"{lower}_n" in COLLECTED and len(arguments) == tree.ARGUMENTS[f"{lower}_n"][0]:
        lower = f"{lower}_n"
    if lower in tree.AGGREGATES:
        star = lower == "count" and not arguments
        return tree.Aggregate(lower, arguments, star, semantics=semantics, span=span)
    if semantics is not None:
        raise RefusedError(
            f"{semantics} stands before FIRST, LAST and aggregates, not before {upper}",
            span=span,
            hint=f"write PREV({semantics} LAST(x))" if upper in tree.NAVIGATION else None,
        )
    if upper == "MATCH_NUMBER":
        _arity(function, arguments, (0,), span)
        return tree.MatchNumber(span=span)
    if upper == "CLASSIFIER":
        return _classifier(function, arguments, span)
    if upper == "MATCH_SEQUENCE_NUMBER":  # Snowflake's
        _arity(function, arguments, (0,), span)
        return tree.Aggregate("count", (), True, span=span)
    if lower in DATES:
        return of_dates(lower, arguments, span)
    if lower == "try" and len(arguments) == 1:  # null if it cannot be computed
        return arguments[0]
    if lower == "if" and len(arguments) == 2:
        return ex.Case(((arguments[0], arguments[1]),), span=span)
    if lower in tree.SYNONYMS:
        function = function.update(value=tree.SYNONYMS[lower])
    return scalar_call(function, arguments, span)


def _is_collection(*values: ex.Expression) -> bool:
    return any(
        isinstance(value, tree.Taken)
        or (isinstance(value, tree.Aggregate) and value.function in COLLECTED)
        for value in values
    )


def taken(function: str, arguments: tuple[ex.Expression, ...], span: Span) -> ex.Expression:
    """A function of a list or a map; its other arguments are literals."""
    collection, given = arguments[:1], arguments[1:]
    if not _is_collection(*collection):
        raise RefusedError(
            f"{function} takes a list or a map of an aggregate",
            span=collection[0].span if collection else span,
            hint="write array_join(array_agg(a.x), ',')",
        )
    _arity(function, given, TAKEN[function], span, "more")
    literals = tuple(each for each in given if isinstance(each, ex.Literal))
    if len(literals) < len(given):
        raise RefusedError(
            f"{function} takes literals beside the list or map",
            span=span,
            hint="write the value itself: element_at(array_agg(a.x), 1)",
        )
    return tree.Taken(function, collection[0], literals, span=span)


def bracketed(
    before: ex.Expression, inside: tuple[ex.Expression, ...], span: Span
) -> ex.Expression:
    """`array_agg(a.x)[1]`, and lists that are written out: `ARRAY[a.x, 1]`."""
    if _is_collection(before) and len(inside) == 1:
        return taken("element_at", (before, *inside), span)
    if isinstance(before, ex.Attribute) and before.name.upper() == "ARRAY":
        return tree.Listed(inside, span=span)
    raise RefusedError(
        "[ ] takes a value out of a list or a map, and this is none",
        span=span,
        hint="write array_agg(a.x)[1]",
    )


def _pairs(function: str, arguments: tuple[ex.Expression, ...], span: Span) -> ex.Expression:
    """`map_union(MAP(ARRAY[k], ARRAY[v]))` is `map_agg(k, v)`."""
    if function == "map_union" and len(arguments) == 1:
        (argument,) = arguments
        if isinstance(argument, tree.Listed) and len(argument.items) == 2:
            return tree.Aggregate("map_agg", argument.items, span=span)
    if function == "map" and len(arguments) == 2:
        lists = [each.items for each in arguments if isinstance(each, tree.Listed)]
        if [len(items) for items in lists] == [1, 1]:
            return tree.Listed((lists[0][0], lists[1][0]), span=span)
    raise RefusedError(
        f"{function.upper()} is known for maps of one key only",
        span=span,
        hint="write map_agg(a.key, a.value)",
    )


def _arity(
    function: str,
    arguments: tuple[ex.Expression, ...],
    allowed: tuple[int, ...],
    span: Span,
    which: str = "",
) -> None:
    if len(arguments) not in allowed:
        numbers = " or ".join("no" if n == 0 else str(n) for n in allowed)
        plural = "s" if allowed != (1,) else ""
        kind = f"{which} argument{plural}".strip()
        raise RefusedError(
            f"{function.upper()} takes {numbers} {kind}",
            span=span,
            hint=f"here it has {len(arguments)}",
        )


def _step(
    function: str,
    arguments: tuple[ex.Expression, ...],
    semantics: tree.Semantics | None,
    span: Span,
) -> ex.Expression:
    _arity(function, arguments, (1, 2), span)
    offset = None
    if len(arguments) == 2:
        offset = _offset(function, arguments[1])
    return tree.Step(function, arguments[0], offset, semantics, span=span)


def _offset(function: str, node: ex.Expression) -> int:
    value = node.value if isinstance(node, ex.Literal) else None
    if type(value) is not int or not 0 <= value <= MOST:
        raise RefusedError(
            f"the second argument of {function} is a whole number from 0 to {MOST}",
            span=node.span,
            hint="write how many rows back or on: PREV(price, 2)",
        )
    return value


def _classifier(function: Token, arguments: tuple[ex.Expression, ...], span: Span) -> ex.Expression:
    _arity(function, arguments, (0, 1), span)
    if not arguments:
        return tree.Classifier(span=span)
    (argument,) = arguments
    if not isinstance(argument, ex.Attribute) or len(argument.path) != 1:
        raise RefusedError(
            "the argument of CLASSIFIER is a pattern variable",
            span=argument.span,
            hint="write CLASSIFIER(), or CLASSIFIER(a) for a variable a",
        )
    return tree.Classifier(canonical(argument.path[0]), span=span)


def counted(
    function: Token, names: tuple[Any, ...], semantics: tree.Semantics | None, span: Span
) -> ex.Expression:
    if function.lower() != "count":
        raise RefusedError(
            f"{function}(*) is not known: only count counts rows",
            span=span,
            hint=f"write {function}(a.price), or count(*)",
        )
    variable = canonical(names[0]) if names else None
    return tree.Aggregate("count", (), True, variable, semantics, span=span)
