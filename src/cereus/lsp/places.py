"""Places in a text, as the protocol counts them: lines, and units in them. Editor and server agree
on the unit at the start: bytes of UTF-8, halves of UTF-16, or letters.

pygls takes more characters than the protocol for the end of a line (U+2028, a form feed), so lines
are counted here.
"""

from __future__ import annotations

import re

from lsprotocol import types as lsp
from pygls.workspace import TextDocument

LINE_END = re.compile(r"\r\n|\n|\r")


def range_of(document: TextDocument, start: int, end: int) -> lsp.Range:
    return lsp.Range(position_of(document, start), position_of(document, end))


def position_of(document: TextDocument, offset: int) -> lsp.Position:
    """The line and column of a place, given the number of letters before it."""
    lines = LINE_END.split(document.source[:offset])
    return lsp.Position(len(lines) - 1, document.position_codec.client_num_units(lines[-1]))


def offset_of(document: TextDocument, position: lsp.Position) -> int:
    """The number of letters before a line and column; a column after the end of its line is its
    end."""
    text = document.source
    begins = [0, *(end.end() for end in LINE_END.finditer(text))]
    if position.line >= len(begins):
        return len(text)
    begin = begins[position.line]
    line = LINE_END.split(text[begin:], maxsplit=1)[0]
    units = document.position_codec.client_num_units
    passed = 0
    for place, letter in enumerate(line):
        if passed >= position.character:
            return begin + place
        passed += units(letter)
    return begin + len(line)
