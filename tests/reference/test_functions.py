"""The page of functions is the registry, with the worked examples that every evaluator is tested
against."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from cereus.expr import functions as registry
from cereus.expr import tree as ex
from cereus.expr.functions import FUNCTIONS, Function
from cereus.expr.print import condition_text
from cereus.expr.types import Kind
from tests.expr.examples import EXAMPLES
from tests.golden import Golden
from tests.reference.pages import FOLDER, code, table

INTRODUCTION = """\
# Functions

What [conditions](../conditions.md) can compute, in every language and on every engine. A function \
of a null is null, unless its line says otherwise. Every example here is a test.

Under each function stand the kinds of its arguments and of what it gives. Kinds in *italics* are \
literals or parameters: such arguments are prepared once for a query."""
GROUPS = {
    "Numbers": registry.NUMBERS,
    "Texts": registry.TEXTS,
    "Times": registry.TIMES,
    "Casts": registry.CASTS,
    "Others": registry.OTHERS,
}
WORDS = {
    Kind.NUMBER: "number",
    Kind.STRING: "text",
    Kind.TIMESTAMP: "time",
    Kind.BOOLEAN: "true or false",
    Kind.ANY: "anything",
    Kind.INTEGER: "integer",
    Kind.FLOAT: "double",
}
MOST_EXAMPLES = 3
ODD = re.compile(r"NULL|nan|inf|e\+|\d{10}")
"""Edges of a domain, which explain a function less than its middle does."""


def test_the_page_is_the_registry(golden: Golden) -> None:
    golden.text(FOLDER / "functions.md", "\n\n".join([INTRODUCTION, *groups()]))


def test_every_function_is_in_a_group() -> None:
    assert {name for group in GROUPS.values() for name in group} == set(FUNCTIONS)


def groups() -> Iterator[str]:
    heads = ["function", "gives", "examples"]
    for title, functions in GROUPS.items():
        yield f"## {title}"
        yield table(heads, [row(name, each) for name, each in functions.items()])


def row(name: str, function: Function) -> list[str]:
    kinds = f"{taken(function)} → {given(function)}"
    return [f"{code(function.signature)}<br>{kinds}", function.about, "<br>".join(examples(name))]


def taken(function: Function) -> str:
    kinds = [
        f"*{WORDS[kind]}*" if place in function.literals else WORDS[kind]
        for place, kind in enumerate(function.parameters)
    ]
    return ", ".join([*kinds, "…"] if function.variadic else kinds)


def given(function: Function) -> str:
    if isinstance(function.result, Kind):
        return WORDS[function.result]
    kinds = [WORDS[each] for each in function.parameters]
    return "number" if set(kinds) == {"number"} else "as its arguments"


def examples(name: str) -> list[str]:
    """Some examples that are a call of this function, the plain ones first."""
    shown = [
        f"{code(condition_text(expression))} is {code(value_text(value))}"
        for expression, value in EXAMPLES.values()
        if isinstance(expression, ex.Call) and expression.function == name
    ]
    return sorted(shown, key=lambda each: (bool(ODD.search(each)), len(each)))[:MOST_EXAMPLES]


def value_text(value: Any) -> str:
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, timedelta):
        return str(value)
    return condition_text(ex.Literal(value))
