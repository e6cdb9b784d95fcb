"""Places in a text as an editor and the server count them."""

from __future__ import annotations

import pytest

pytest.importorskip("pygls")

from lsprotocol import types as lsp
from pygls.workspace import PositionCodec, TextDocument

from cereus.lsp.places import offset_of, position_of

TEXT = "-- é🌵\r\nSELECT *\nWHERE 🌵 ; b"
PLACE = TEXT.index("; b")


def document(text: str, unit: str = "utf-16") -> TextDocument:
    return TextDocument("file:///q.ceql", text, position_codec=PositionCodec(unit))


@pytest.mark.parametrize(("unit", "column"), [("utf-8", 11), ("utf-16", 9), ("utf-32", 8)])
def test_columns_are_counted_in_the_unit_that_the_editor_chose(unit: str, column: int) -> None:
    position = lsp.Position(2, column)
    assert position_of(document(TEXT, unit), PLACE) == position
    assert offset_of(document(TEXT, unit), position) == PLACE


@pytest.mark.parametrize("sign", ["\u2028", "\x0c", "\x85", "\x1c"])
def test_only_the_ends_of_lines_that_the_protocol_knows_end_a_line(sign: str) -> None:
    text = f"-- a{sign}b\nSELECT *"
    assert position_of(document(text), text.index("SELECT")) == lsp.Position(1, 0)
    assert offset_of(document(text), lsp.Position(1, 2)) == text.index("LECT")


def test_a_place_behind_a_line_or_the_text_is_its_end() -> None:
    assert offset_of(document(TEXT), lsp.Position(0, 99)) == TEXT.index("\r")
    assert offset_of(document(TEXT), lsp.Position(9, 0)) == len(TEXT)
    assert offset_of(document(""), lsp.Position(0, 0)) == 0


def test_every_place_is_found_again() -> None:
    for unit in ("utf-8", "utf-16", "utf-32"):
        of = document(TEXT, unit)
        places = [at for at in range(len(TEXT) + 1) if TEXT[at - 1 : at + 1] != "\r\n"]
        assert [offset_of(of, position_of(of, at)) for at in places] == places
