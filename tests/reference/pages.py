"""Where the pages of the reference are, and how their tables are written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "docs" / "reference"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [heads, ["---"] * len(heads), *([cell(each) for each in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def cell(text: str) -> str:
    """A text in a line of a table."""
    return text.replace("\n", " ")


def code(text: str) -> str:
    """A text as code, in a table too: there `|` ends a cell, even inside ticks."""
    if "|" in text or "`" in text:
        return f"<code>{escape(text, quote=False).replace('|', '&#124;')}</code>"
    return f"`{text}`"
