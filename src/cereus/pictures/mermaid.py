"""A graph as a flowchart in Mermaid, which many places draw from a text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from cereus.pictures.graphs import GraphEdge, GraphNode, Picture


def mermaid_of(graph: Picture) -> str:
    return "\n".join(["flowchart LR", *(f"  {line}" for line in _lines(graph))])


def _lines(graph: Picture) -> Iterator[str]:
    names = {node.name: f"n{place}" for place, node in enumerate(graph.nodes)}
    for node in graph.nodes:
        yield f"{names[node.name]}{_shape(node)}"
    for edge in _one_loop_each(graph.edges):
        yield _edge(edge, names[edge.tail], names[edge.head])
    if graph.caption:
        yield f'caption["{_text(graph.caption)}"]'
        yield "style caption fill:none,stroke:none,text-align:left"


def _one_loop_each(edges: Iterable[GraphEdge]) -> list[GraphEdge]:
    """The loops of a node as one: Mermaid draws them over one another, so that only the text of the
    last could be read."""
    made: dict[object, GraphEdge] = {}
    for place, edge in enumerate(edges):
        at = edge.tail if edge.tail == edge.head else place
        before = made.get(at)
        if before is not None:
            edge = replace(
                edge, lines=before.lines + edge.lines, dashed=before.dashed and edge.dashed
            )
        made[at] = edge
    return list(made.values())


def _shape(node: GraphNode) -> str:
    text = _text(node.lines) or " "
    if node.accepting:
        return f'((("{text}")))'
    if node.box or node.plain:
        return f'["{text}"]'
    return f'(("{text}"))'


def _edge(edge: GraphEdge, tail: str, head: str) -> str:
    arrow = "-.->" if edge.dashed else "-->"
    label = f'|"{_text(edge.lines)}"|' if edge.lines else ""
    return f"{tail} {arrow}{label} {head}"


def _text(lines: Iterable[str]) -> str:
    """The text with every character that is not a letter, a digit or a blank as its number: so
    nothing in a name is read as syntax."""
    return "<br>".join("".join(map(_sign, line)) for line in lines)


def _sign(sign: str) -> str:
    return sign if sign.isalnum() or sign == " " else f"#{ord(sign)};"
