"""Where pictures put the nodes of a graph."""

from __future__ import annotations

import pytest

import cereus
from cereus import show
from cereus.pictures.layout import laid_out

pytest.importorskip("igraph")

ALTERNATIVES = (
    "MATCH_RECOGNIZE (ALL ROWS PER MATCH PATTERN (s (d+ | u*?){2,3} e) "
    "DEFINE d AS v < PREV(v), u AS v > PREV(v))"
)


def test_the_beginning_stands_beside_what_begins_there() -> None:
    """igraph would put it many rows above that, and the picture would be half empty."""
    graph = show.diagram(cereus.compile(ALTERNATIVES, dialect="match_recognize")).graph
    spots = laid_out(graph)
    (point,) = (node.name for node in graph.nodes if node.point)
    (first,) = (edge.head for edge in graph.edges if edge.tail == point)
    assert spots[point].y == spots[first].y
    assert min(spot.y for spot in spots.values()) == 0
