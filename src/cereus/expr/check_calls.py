"""Checks of functions: their names, how many arguments they have, and literals that they need."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_network

import pyarrow as pa
import pyarrow.compute as pc

from cereus.errors import ConditionTypeError, UnknownNameError, did_you_mean, shortened
from cereus.expr import tree as ex
from cereus.expr.functions import AGGREGATES, FUNCTIONS, TRUNCATIONS, Function
from cereus.expr.text_patterns import groups
from cereus.expr.types import Kind

LONGEST_PATTERN = 20_000
"""The most characters of a LIKE or a regular expression; RE2 has no room for twice as many."""
CAST_HINTS = {
    ("to_string", Kind.FLOAT): "a double has no one text: CAST(CAST(x AS integer) AS string)",
    ("to_integer", Kind.TIMESTAMP): "write epoch(t)",
    ("to_double", Kind.TIMESTAMP): "write epoch(t)",
}
"""What to write in place of a CAST that there is not."""
OTHER_NAMES = {
    **dict.fromkeys(("mean", "average"), "write avg(b.x)"),
    "median": "write percentile(b.x, 0.5)",
    **dict.fromkeys(("std", "stdev", "stddev_samp"), "write stddev(b.x)"),
    **dict.fromkeys(("quantile", "percentile_cont"), "write percentile(b.x, 0.95)"),
    **dict.fromkeys(("len", "char_length"), "write length(x) for a text, count(b) for events"),
    **dict.fromkeys(("ifnull", "nvl", "fillna"), "write coalesce(x, y)"),
    **dict.fromkeys(("isnull", "isna"), "write x IS NULL"),
    **dict.fromkeys(
        ("datediff", "date_diff", "timestampdiff", "timediff"),
        "subtract the times: b.ts - a.ts < 5 minutes",
    ),
    **dict.fromkeys(("unix_timestamp", "timestamp"), "write epoch(t) for the seconds of a time"),
    **dict.fromkeys(("lag", "previous"), "write prev(b.x) in CEQL, PREV(x) in MATCH_RECOGNIZE"),
    **dict.fromkeys(("iif", "iff"), "write if(c, x, y)"),
    **dict.fromkeys(("lcase", "casefold"), "write lower(x)"),
    **dict.fromkeys(("instr", "strpos", "position"), "write contains(x, 'text')"),
    **dict.fromkeys(("now", "current_timestamp"), "give the time as a parameter: ts > :now"),
}
"""Functions by the names that they have elsewhere, and what to write."""


def unknown_function(node: ex.Expression, name: str) -> UnknownNameError:
    hint = OTHER_NAMES.get(name) or did_you_mean(name, [*FUNCTIONS, *AGGREGATES])
    return UnknownNameError(f"unknown function {name!r}", span=node.span, hint=hint)


def check_arity(node: ex.Expression, name: str, function: Function, given: int) -> None:
    if function.takes_count(given):
        return
    most = len(function.parameters)
    least = most - function.optional
    count = f"{least} or more" if function.variadic else f"{least}"
    count = f"{least} to {most}" if function.optional else count
    raise ConditionTypeError(
        f"{name} takes {count} arguments, not {given}",
        span=node.span,
        hint=f"write {function.signature}",
    )


def check_literals(name: str, function: Function, arguments: Sequence[ex.Expression]) -> None:
    for index in function.literals:
        if index < len(arguments) and not isinstance(arguments[index], ex.Literal):
            raise ConditionTypeError(
                f"argument {index + 1} of {name} is a literal value",
                span=arguments[index].span,
                hint="write the value itself, or a parameter",
            )
    if name in ("regexp", "regexp_extract") and isinstance(arguments[1], ex.Literal):
        check_regex(str(arguments[1].value), arguments[1])
    values = [each.value if isinstance(each, ex.Literal) else None for each in arguments]
    match name, values:
        case "cidr_match", [_, *blocks]:
            for block, node in zip(blocks, arguments[1:], strict=True):
                _check_block(str(block), node)
        case "date_trunc", [str(unit), _] if unit.lower() not in TRUNCATIONS:
            hint = did_you_mean(unit.lower(), TRUNCATIONS) or f"there are {', '.join(TRUNCATIONS)}"
            raise ConditionTypeError(f"no unit {unit!r}", span=arguments[0].span, hint=hint)
        case "split_part", [_, _, int(part)] if part == 0:
            raise ConditionTypeError(
                "parts are counted from 1", span=arguments[2].span, hint="the first part is 1"
            )
        case "regexp_extract", [_, str(pattern), int(group)] if not 0 <= group <= groups(pattern):
            raise ConditionTypeError(
                f"the pattern has no group {group}",
                span=arguments[2].span,
                hint=f"its groups are numbered from 1 to {groups(pattern)}; 0 is all of it",
            )


def _check_block(block: str, node: ex.Expression) -> None:
    try:
        ip_network(block, strict=False)
    except ValueError:
        raise ConditionTypeError(
            f"{block!r} is no block of addresses", span=node.span, hint="write '10.0.0.0/8'"
        ) from None


def check_length(pattern: str, node: ex.Expression) -> None:
    """Refuse a pattern that is too long for Arrow, which prints a line for many of its
    characters."""
    if len(pattern) > LONGEST_PATTERN:
        raise ConditionTypeError(
            f"a pattern of {len(pattern):,} signs is too long",
            span=node.span,
            hint=f"it may have {LONGEST_PATTERN:,}; compare with IN, or write several conditions",
        )


def check_regex(pattern: str, node: ex.Expression) -> None:
    check_length(pattern, node)
    # Arrow compiles the pattern with the first string, so there has to be one
    try:
        pc.match_substring_regex(pa.array([""]), pattern)
    except pa.ArrowInvalid as error:
        reason = str(error).removeprefix("Invalid regular expression: ")
        raise ConditionTypeError(
            f"bad regular expression: {shortened(reason)}",
            span=node.span,
            hint="it is written as RE2 has it, where a sign for itself has \\ before it",
        ) from None
