"""A graph as a picture: DOT, Mermaid, SVG and PNG."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

from cereus.errors import CereusError
from cereus.pictures.graphs import Picture, graph_of, library
from cereus.pictures.mermaid import mermaid_of
from cereus.pictures.svg import svg_of


@dataclass(frozen=True)
class Diagram:
    """A graph in DOT, and in other forms. Notebooks show it as a picture, in their dark or light
    theme."""

    dot: str

    @cached_property
    def graph(self) -> Picture:
        """Its nodes and edges."""
        return graph_of(self.dot)

    def svg(self) -> str:
        """The picture, laid out by igraph: graphviz is not needed."""
        return svg_of(self.graph)

    def mermaid(self) -> str:
        """A flowchart in Mermaid's language."""
        return mermaid_of(self.graph)

    def png(self, scale: float = 2.0) -> bytes:
        """The picture in pixels."""
        light = self.svg().replace("context-stroke", "#1b1f24")
        paper = _without_variables(light).replace("<defs>", f"{PAPER}<defs>", 1)
        return bytes(library("vl_convert").svg_to_png(paper, scale=scale))

    def _repr_svg_(self) -> str | None:
        with suppress(CereusError):  # a library for pictures is missing
            return self.svg()
        return None

    def __str__(self) -> str:
        return self.dot


def _without_variables(svg: str) -> str:
    """The picture with the light colours written out: not every reader of SVG knows variables of
    CSS."""
    for name, colour in LIGHT.items():
        svg = svg.replace(f"var(--{name})", colour)
    return svg


PAPER = '<rect x="-9999" y="-9999" width="30000" height="30000" fill="#fff"/>'
LIGHT = {
    "ink": "#1b1f24",
    "soft": "#6b7280",
    "fill": "#eaf3fb",
    "paper": "#fff",
    "line": "#0072b2",
    "end": "#d55e00",
}
