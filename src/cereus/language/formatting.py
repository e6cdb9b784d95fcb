"""A text of a language, laid out as the language prints it."""

from __future__ import annotations

import re

from cereus.errors import CereusError
from cereus.language.protocol import Language
from cereus.syntax.parsing import errors_in

QUOTED = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"")
COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
HEAD = re.compile(r"(?:[ \t]*--[^\n]*\n|\s*\n)*")


def formatted(text: str, language: Language) -> str:
    """The text as `language` prints what it means. Comments above it stay; a comment inside would
    be lost, so such a text is refused."""
    head = HEAD.match(text)
    assert head is not None
    comments = [line.strip() for line in head[0].splitlines() if line.strip()]
    body = text[head.end() :]
    if COMMENT.search(QUOTED.sub("", body)):
        raise CereusError(
            "there is a comment inside the query, and formatting would lose it",
            hint="move it above the query",
        )
    with errors_in(None):
        tree = language.parse(body)
        printed = language.printed(tree)
        same = language.parse(printed) == tree
    if not same:
        raise CereusError("formatting would change what this means, so it is left as it is")
    return "\n".join([*comments, printed.rstrip(), ""])
