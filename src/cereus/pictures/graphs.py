"""Reads a picture in DOT as a graph, from which other forms are made."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import import_module
from typing import Any
from warnings import catch_warnings, simplefilter

from cereus.errors import CereusError, LimitError

PARTS = {"node", "edge", "graph"}
"""The names of DOT's defaults, which are not nodes."""
ESCAPES = {"n": "\n", "l": "\n", "r": "\n"}


@dataclass(frozen=True)
class GraphNode:
    """A node. `accepting` has a double border, `point` is the start, `plain` has no border."""

    name: str
    lines: tuple[str, ...]
    box: bool = False
    accepting: bool = False
    point: bool = False
    plain: bool = False
    dashed: bool = False


@dataclass(frozen=True)
class GraphEdge:
    tail: str
    head: str
    lines: tuple[str, ...] = ()
    dashed: bool = False


@dataclass(frozen=True)
class Picture:
    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    caption: tuple[str, ...] = ()


def library(name: str) -> Any:
    """A library that only pictures need."""
    try:
        return import_module(name)
    except ImportError:
        raise CereusError(
            f"{name} is not installed", hint="pip install 'cereus[notebook]'"
        ) from None


MOST_SIGNS = 30_000
"""The longest DOT text that is drawn here; reading it takes a second."""


def graph_of(dot: str) -> Picture:
    """The graph that a text in DOT describes."""
    if len(dot) > MOST_SIGNS:
        raise LimitError(
            "this query is too large for a picture",
            hint="take its DOT, show.diagram(query).dot, and draw it with graphviz",
        )
    with catch_warnings():  # the versions of pydot and pyparsing do not always fit
        simplefilter("ignore", DeprecationWarning)
        (read,) = library("pydot").graph_from_dot_data(dot)
    nodes: dict[str, GraphNode] = {}
    edges: list[GraphEdge] = []
    caption: list[str] = []
    _collect(read, nodes, edges, caption)
    for edge in edges:  # a node that is only mentioned by its edges
        for name in (edge.tail, edge.head):
            nodes.setdefault(name, GraphNode(name, (name,)))
    return Picture(tuple(nodes.values()), tuple(edges), tuple(caption))


def _collect(
    part: Any, nodes: dict[str, GraphNode], edges: list[GraphEdge], caption: list[str]
) -> None:
    caption += _lines(part.get_attributes().get("label"))
    for node in part.get_nodes():
        name = _name(node.get_name())
        if name not in PARTS:
            nodes[name] = _node(name, node.get_attributes(), nodes.get(name))
    for edge in part.get_edges():
        given = edge.get_attributes()
        ends = (_name(edge.get_source()), _name(edge.get_destination()))
        edges.append(GraphEdge(*ends, _lines(given.get("label")), "dashed" in _style(given)))
        for name in ends:
            nodes.setdefault(name, GraphNode(name, (name,)))
    for inner in part.get_subgraphs():
        _collect(inner, nodes, edges, caption)


def _node(name: str, given: dict[str, Any], before: GraphNode | None) -> GraphNode:
    shape = _plain(given.get("shape"))
    lines = (
        _lines(given["label"])
        if "label" in given
        else ((name,) if before is None else before.lines)
    )
    return GraphNode(
        name,
        () if shape == "point" else lines,
        box=shape in ("box", "ellipse"),
        accepting=shape == "doublecircle",
        point=shape == "point",
        plain=shape == "plaintext",
        dashed="dashed" in _style(given),
    )


def _style(given: dict[str, Any]) -> str:
    return _plain(given.get("style"))


def _name(written: Any) -> str:
    return _plain(written).split(":")[0]


def _plain(written: Any) -> str:
    return str(written or "").strip().strip('"')


def _lines(written: Any) -> tuple[str, ...]:
    text = str(written or "").strip()
    if text.startswith('"') and text.endswith('"'):
        text = text[1:-1]
    read = re.sub(r"\\(.)", lambda sign: ESCAPES.get(sign[1], sign[1]), text)
    return tuple(line for line in read.split("\n") if line)
