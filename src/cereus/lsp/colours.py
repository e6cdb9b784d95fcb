"""Says what each word of a text is, so that an editor can colour it. A text with errors has colours
too, so this reads words, not the tree."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from cereus.expr.functions import FUNCTIONS
from cereus.language.comments import QUOTED
from cereus.language.protocol import Language
from cereus.lsp.features import NOTHING_KNOWN, Surroundings, is_statement, keywords

COLOURED = ("comment", "string", "type", "number", "property", "function", "keyword")
"""What a word can be, by the names of the protocol."""
WORDS = re.compile(
    rf"""(?P<comment>--[^\n]*|/\*.*?(?:\*/|\Z))
    | (?P<string>'(?:[^']++|'')*+'?)
    | (?P<type>{QUOTED.pattern})
    | (?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)
    | (?P<property>(?<=\.)[^\W\d]\w*)
    | (?P<name>[^\W\d]\w*)""",
    re.DOTALL | re.VERBOSE,
)
CALL = re.compile(r"\s*\(")


class Coloured(NamedTuple):
    """What the text from one place to another is; never more than a line."""

    start: int
    end: int
    kind: str


def coloured(
    text: str, chosen: Language, known: Surroundings = NOTHING_KNOWN
) -> Iterator[Coloured]:
    """The words of a text that have a colour, in their order. A SQL statement around a clause has
    none, since an editor colours SQL itself."""
    if is_statement(text, chosen):
        return
    reserved = {word.lower() for each in keywords(chosen) for word in each.split()}
    columns = frozenset(() if known.schema is None else known.schema.names)
    for word in WORDS.finditer(text):
        kind = _kind(word, reserved, columns, known.types)
        if kind is not None:
            yield from _lines(text, *word.span(), kind)


def _kind(
    word: re.Match[str], reserved: set[str], columns: frozenset[str], types: tuple[str, ...]
) -> str | None:
    if word.lastgroup != "name":
        return word.lastgroup
    name = word[0]
    if name in types or name in columns:
        return "type" if name in types else "property"
    if name.lower() in FUNCTIONS and CALL.match(word.string, word.end()):
        return "function"
    return "keyword" if name.lower() in reserved else None


def _lines(text: str, start: int, end: int, kind: str) -> Iterator[Coloured]:
    """One range for each line."""
    for line in re.finditer(r"[^\r\n]+", text[start:end]):
        yield Coloured(start + line.start(), start + line.end(), kind)
