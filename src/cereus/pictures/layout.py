"""Places the nodes of a graph: in layers from left to right, as igraph arranges them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cereus.pictures.graphs import GraphNode, Picture, library

LINE = 15
"""The height of a line of text."""
LETTER = 6.4
"""About how wide a letter is, in a font of 11 pixels."""
SMALLEST, GAP, ROW_GAP = 34.0, 36.0, 30.0


@dataclass(frozen=True)
class Spot:
    """The middle of a node, and its size."""

    x: float
    y: float
    width: float
    height: float


def text_width(lines: tuple[str, ...]) -> float:
    return max((len(line) for line in lines), default=0) * LETTER


def size_of(node: GraphNode) -> tuple[float, float]:
    if node.point:
        return 8, 8
    width = text_width(node.lines) + (0 if node.plain else 18)
    height = LINE * max(len(node.lines), 1) + (4 if node.plain else 16)
    if node.box or node.plain:
        return max(width, SMALLEST), max(height, SMALLEST * 0.8)
    side = max(width, height, SMALLEST)
    return side, side


def laid_out(graph: Picture) -> dict[str, Spot]:
    """The place of every node."""
    igraph = library("igraph")
    names = [node.name for node in graph.nodes]
    number = {name: place for place, name in enumerate(names)}
    pairs = [(number[e.tail], number[e.head]) for e in graph.edges if e.tail != e.head]
    drawn = igraph.Graph(n=len(names), edges=pairs, directed=True)
    layers = _layers(graph, drawn)
    coords = drawn.layout_sugiyama(layers=layers, maxiter=100).coords
    layer = dict(zip(names, layers, strict=True))
    rows = _beside_neighbours([float(row) for row, _ in coords], layers, drawn)
    first = min(rows, default=0.0)
    row = {name: each - first for name, each in zip(names, rows, strict=True)}
    xs = _layer_places(graph, layer)
    step = _row_height(graph)
    return {
        node.name: Spot(xs[layer[node.name]], row[node.name] * step, *size_of(node))
        for node in graph.nodes
    }


def _beside_neighbours(rows: list[float], layers: list[int], drawn: Any) -> list[float]:
    """The rows, where a node that is alone in its layer and has one neighbour is in the row of
    that: igraph may put a beginning far away from what begins there."""
    rows = list(rows)
    for place in range(len(rows)):
        neighbours = set(drawn.neighbors(place))
        if layers.count(layers[place]) == 1 and len(neighbours) == 1:
            rows[place] = rows[neighbours.pop()]
    return rows


def _layers(graph: Picture, drawn: Any) -> list[int]:
    """The layers. Without cycles, every node comes after all that lead to it; else its layer is its
    distance from the start, and nodes that lead nowhere are at the end."""
    if drawn.is_dag():
        return _longest_ways(drawn)
    first = [place for place, node in enumerate(graph.nodes) if not drawn.indegree(place)]
    ways = drawn.distances(source=first or [0])
    reached = [[way for way in column if way != float("inf")] for column in zip(*ways, strict=True)]
    layers = [int(min(each, default=0)) for each in reached]
    last = max(layers, default=0)
    ends = {place for place in range(len(layers)) if not drawn.outdegree(place)}
    leading = (before for end in ends for before in drawn.predecessors(end) if before not in ends)
    end = max([last, *(layers[before] + 1 for before in leading)])
    return [end if place in ends else layer for place, layer in enumerate(layers)]


def _longest_ways(drawn: Any) -> list[int]:
    layers = [0] * drawn.vcount()
    for place in drawn.topological_sorting():
        for after in drawn.successors(place):
            layers[after] = max(layers[after], layers[place] + 1)
    return layers


def _row_height(graph: Picture) -> float:
    """The distance between rows: enough for the largest node, and for the text at its loops."""
    tallest = max((size_of(node)[1] for node in graph.nodes), default=0)
    loops = max((len(e.lines) for e in graph.edges if e.tail == e.head), default=-2)
    return tallest + (loops + 2) * LINE + ROW_GAP


def _layer_places(graph: Picture, layer: dict[str, int]) -> dict[int, float]:
    """The middle of each layer: there is room for its nodes and for the text between layers."""
    width = {
        place: max(size_of(n)[0] for n in graph.nodes if layer[n.name] == place)
        for place in set(layer.values())
    }
    places: dict[int, float] = {}
    x = 0.0
    for place in sorted(width):
        x += width[place] / 2
        places[place] = x
        x += width[place] / 2 + _between(graph, layer, place)
    return places


def _between(graph: Picture, layer: dict[str, int], place: int) -> float:
    """The room for the text on edges to the next layer, and at loops in this one."""
    wide = [
        text_width(e.lines)
        for e in graph.edges
        if {layer[e.tail], layer[e.head]} == {place, place + 1}
    ]
    loops = [
        text_width(e.lines) * 0.6
        for e in graph.edges
        if e.tail == e.head and layer[e.tail] in (place, place + 1)
    ]
    return GAP + max([*wide, *loops], default=20.0)
