"""The parts of a picture in DOT, the language of graphviz."""

from __future__ import annotations

from collections.abc import Iterable

FONT = "Helvetica"
FONTS = "\n  ".join(f'{part} [fontname="{FONT}"];' for part in ("graph", "node", "edge"))
"""Fonts for pictures that graphviz draws with its own sizes."""


def graph(name: str, lines: Iterable[str]) -> str:
    """A directed graph with these statements."""
    return "\n".join([f"digraph {name} {{", *(f"  {line}" for line in lines), "}"])


def escaped(text: str) -> str:
    """A text as it is written between quotes."""
    return text.replace("\\", "\\\\").replace('"', '\\"')


def legend(lines: Iterable[str]) -> str:
    """The label of a graph: lines below it, flushed left."""
    return "".join(f"{escaped(line)}\\l" for line in lines)
