"""Formats a text as its language prints it."""

from __future__ import annotations

import re

from cereus.errors import CereusError
from cereus.language.comments import QUOTED, with_comments, without_comments
from cereus.language.protocol import Language
from cereus.syntax.parameters import SharedValues
from cereus.syntax.parsing import errors_in

HEAD = re.compile(r"(?:[ \t]*--[^\n]*\n|\s*\n)*")
PARAMETER = re.compile(r"(?P<many>\bIN\s*)?:(?P<name>[^\W\d]\w*)", re.IGNORECASE)


def formatted(text: str, language: Language) -> str:
    """The text as `language` prints its meaning. Comments stay with the words beside them, and
    parameters stay parameters."""
    head = HEAD.match(text)
    assert head is not None
    above = [line.strip() for line in head[0].splitlines() if line.strip()]
    body = text[head.end() :]
    with errors_in(None):
        plain = without_comments(body)
        values = _values(plain)
        tree = language.parse(plain, params=values)
        printed = _with_parameters(language.printed(tree).rstrip(), values)
        made = with_comments(printed, body)
        same = language.parse(made, params=values) == tree
    if not same:
        raise CereusError("formatting would change what this means, so it is left as it is")
    return "\n".join([*above, made, ""])


def _values(text: str) -> SharedValues:
    """A value for each parameter of the text, which nothing else in the text has. Something that
    only looks like a parameter, as the type in `A:B`, uses none."""
    unquoted = QUOTED.sub("", text)
    many = {match["name"]: bool(match["many"]) for match in PARAMETER.finditer(unquoted)}
    values = {name: f"__parameter_{name}" for name in many}
    return SharedValues({name: [values[name]] if many[name] else values[name] for name in many})


def _with_parameters(printed: str, values: SharedValues) -> str:
    for name, value in values.items():
        shown = f"('{value[0]}')" if isinstance(value, list) else f"'{value}'"
        printed = printed.replace(shown, f":{name}")
    return printed
