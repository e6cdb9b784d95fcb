"""Draws a graph as SVG, without another program; its colours follow the page, dark or light."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from math import hypot

import numpy as np

from cereus.pictures.graphs import GraphEdge, GraphNode, Picture
from cereus.pictures.layout import LINE, Spot, laid_out, text_width

MARGIN = 16.0
MOST_ABOVE = 22.0
"""How far a text may be above the slanting line that it belongs to."""
LIGHT = "--ink:#1b1f24;--soft:#6b7280;--fill:#eaf3fb;--paper:#fff;--line:#0072b2;--end:#d55e00"
DARK = "--ink:#e6e8eb;--soft:#9aa4b2;--fill:#16293a;--paper:#111418;--line:#56b4e9;--end:#e69f00"
NOTEBOOKS = {
    LIGHT: ('[data-jp-theme-light="true"]', "body.vscode-light", 'html[theme="light"]'),
    DARK: ('[data-jp-theme-light="false"]', "body.vscode-dark", 'html[theme="dark"]'),
}
"""How JupyterLab, VS Code and Colab show that they are light or dark: a notebook need not look like
the rest of the screen."""


def _themes() -> Iterator[str]:
    """The colours of the page; those of a notebook come before those of the system."""
    yield f".cereus-graph{{font:11px Helvetica,Arial,sans-serif;{LIGHT}}}"
    yield f"@media screen and (prefers-color-scheme:dark){{.cereus-graph{{{DARK}}}}}"
    for colours, themes in NOTEBOOKS.items():
        chosen = ",".join(f"{theme} .cereus-graph" for theme in themes)
        yield f"@media screen{{{chosen}{{{colours}}}}}"


STYLE = (
    "\n".join(_themes())
    + """
.cereus-graph text{fill:var(--ink);stroke:var(--paper);stroke-width:3px;paint-order:stroke;
stroke-linejoin:round}
.cereus-graph text.in{stroke:none}
.cereus-graph .node{fill:var(--fill);stroke:var(--line);stroke-width:1.4}
.cereus-graph .end{stroke:var(--end)}
.cereus-graph .edge{fill:none;stroke:var(--ink);stroke-width:1.1}
.cereus-graph .dashed{stroke-dasharray:4 3}
.cereus-graph .edge.dashed{stroke:var(--soft)}
.cereus-graph .soft{fill:var(--soft)}
.cereus-graph .begin{fill:var(--ink)}
"""
)
ARROW = (
    '<defs><marker id="cereus-arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
    'markerHeight="7" orient="auto-start-reverse"><path d="M0 0L8 4L0 8z" '
    'fill="context-stroke"/></marker></defs>'
)
Point = tuple[float, float]
Corners = tuple[Point, Point]
SHARES = (0.5, 0.35, 0.65, 0.25, 0.75)
"""The places of a text along an edge, the best first."""
POINTS = 24
"""An edge is taken for so many points, and one more, when texts are kept clear of it."""
OF_TEXT = 100
"""How much worse it is to write on a text or a node than on a point of an edge."""
MOST_CROSSED = 400
"""With more edges than this, texts are not kept clear of them."""


def svg_of(graph: Picture, title: str = "automaton") -> str:
    """The picture, with the lines of its caption below."""
    graph = joined(graph)
    spots = laid_out(graph)
    drawn = Drawn(graph, spots)
    body = [*drawn.edges(), *(line for n in graph.nodes for line in _node(n, spots[n.name]))]
    left, top, right, bottom = drawn.bounds()
    caption = [
        _text([line], left, bottom + LINE * (place + 1), "start")
        for place, line in enumerate(graph.caption)
    ]
    right = max(right, left + text_width(graph.caption))
    bottom += LINE * (len(graph.caption) + 1)
    box = (left - MARGIN, top - MARGIN, right - left + 2 * MARGIN, bottom - top + 2 * MARGIN)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="cereus-graph" role="img" '
        f'aria-label="{escape(title)}" viewBox="{" ".join(f"{each:.0f}" for each in box)}" '
        f'width="{box[2]:.0f}" height="{box[3]:.0f}">'
    )
    return "\n".join([head, f"<style>{STYLE}</style>", ARROW, *body, *caption, "</svg>"])


def joined(graph: Picture) -> Picture:
    """The graph with edges of one kind between the same nodes as one, whose text has several
    lines."""
    lines: dict[tuple[str, str, bool], tuple[str, ...]] = {}
    for edge in graph.edges:
        ends = (edge.tail, edge.head, edge.dashed)
        lines[ends] = lines.get(ends, ()) + edge.lines
    edges = (GraphEdge(*ends[:2], lines=of, dashed=ends[2]) for ends, of in lines.items())
    return replace(graph, edges=tuple(edges))


class Drawn:
    """Edges, and the room that they need."""

    def __init__(self, graph: Picture, spots: dict[str, Spot]) -> None:
        self.graph, self.spots = graph, spots
        self.texts: list[Corners] = []
        """The corners of the texts at edges so far."""
        self.crossed = np.zeros((0, 2))
        """Points of all edges."""
        self.written: list[str] = []
        """The texts at edges."""
        self.points: list[Point] = [
            (s.x + sx * s.width / 2, s.y + sy * s.height / 2)
            for s in spots.values()
            for sx, sy in ((-1, -1), (1, 1))
        ]

    def bounds(self) -> tuple[float, float, float, float]:
        xs, ys = [x for x, _ in self.points] or [0.0], [y for _, y in self.points] or [0.0]
        return min(xs), min(ys), max(xs), max(ys)

    def edges(self) -> Iterator[str]:
        seen: dict[tuple[str, str], int] = {}
        lines = []
        for edge in self.graph.edges:
            pair = (edge.tail, edge.head)
            seen[pair] = seen.get(pair, 0) + 1
            lines.append(self._line(edge, seen[pair] - 1))
        every = [point for line in lines for point in line.points]
        self.points += every
        self.crossed = np.array(every if len(lines) <= MOST_CROSSED else []).reshape(-1, 2)
        for line in sorted(lines, key=lambda line: len(line.places)):  # the fixed ones first
            self._write(line)
        yield from (line.drawn() for line in lines)
        yield from self.written  # last, so that no line crosses a text

    def _line(self, edge: GraphEdge, before: int) -> _Line:
        tail, head = self.spots[edge.tail], self.spots[edge.head]
        if edge.tail == edge.head:
            return _loop(edge, tail, before)
        if abs(tail.x - head.x) < 1:
            return self._upright(edge, tail, head, before)
        bend = self._bend(edge, tail, head)
        bend += (26.0 if bend > 0 else -26.0) * before
        middle = ((tail.x + head.x) / 2, (tail.y + head.y) / 2 + bend)
        curve = _Curve(_border(tail, middle), middle, _border(head, middle))
        return _Line(edge, curve.path, curve.points, tuple(_places(edge, curve)))

    def _upright(self, edge: GraphEdge, tail: Spot, head: Spot, before: int) -> _Line:
        """An edge between nodes of one layer: it passes other nodes on the right when it goes down,
        on the left when it goes up, with its text beside it."""
        low, high = sorted((tail.y, head.y))
        between = [
            spot for spot in self.spots.values() if abs(spot.x - tail.x) < 1 and low < spot.y < high
        ]
        widest = max((spot.width for spot in between), default=0.0)
        side = 1 if head.y > tail.y else -1
        bend = side * (18.0 + widest + 26.0 * before)
        middle = (tail.x + bend, (tail.y + head.y) / 2)
        curve = _Curve(_border(tail, middle), middle, _border(head, middle))
        beside = curve.at(0.5)[0] + side * (text_width(edge.lines) / 2 + 5)
        at = (beside, middle[1] + 4 - LINE * (len(edge.lines) - 1) / 2)
        return _Line(edge, curve.path, curve.points, (at,))

    def _write(self, line: _Line) -> None:
        """Write the text of an edge at the place where it hides least."""
        edge = line.edge
        if not edge.lines:
            return
        at = min(line.places, key=lambda place: self._hidden(_corners(edge, place)))
        corners = _corners(edge, at)
        self.points += corners
        self.texts.append(corners)
        self.written.append(_text(edge.lines, *at, "middle", "soft" if edge.dashed else ""))

    def _hidden(self, corners: Corners) -> int:
        """How much a text would hide, or be hidden by: other texts, nodes, and edges."""
        nodes = (
            ((s.x - s.width / 2, s.y - s.height / 2), (s.x + s.width / 2, s.y + s.height / 2))
            for s in self.spots.values()
        )
        texts = sum(overlap(corners, other) for other in self.texts)
        (left, top), (right, bottom) = corners
        x, y = self.crossed.T
        crossed = np.count_nonzero((left < x) & (x < right) & (top < y) & (y < bottom))
        return OF_TEXT * (texts + sum(overlap(corners, node) for node in nodes)) + int(crossed)

    def _bend(self, edge: GraphEdge, tail: Spot, head: Spot) -> float:
        """Edges over other layers pass above them, edges back below."""
        between = [
            spot
            for spot in self.spots.values()
            if min(tail.x, head.x) < spot.x < max(tail.x, head.x)
        ]
        back = head.x <= tail.x
        if back:
            return 40.0 + 22.0 * len(between) + tail.height / 2
        returns = any(e.tail == edge.head and e.head == edge.tail for e in self.graph.edges)
        if not between:
            return -22.0 if returns else 0.0
        below = tail.y > sum(spot.y for spot in between) / len(between) + 1
        return (46.0 + 16.0 * len(between)) * (1 if below else -1)


@dataclass(frozen=True)
class _Line:
    """An edge as it is drawn: its path, some points of that, and the places where its text may be,
    the best first."""

    edge: GraphEdge
    path: str
    points: tuple[Point, ...]
    places: tuple[Point, ...]

    def drawn(self) -> str:
        dashed = " dashed" if self.edge.dashed else ""
        return f'<path class="edge{dashed}" d="{self.path}" marker-end="url(#cereus-arrow)"/>'


@dataclass(frozen=True)
class _Curve:
    """A curve from one point to another that is drawn towards a third."""

    start: Point
    middle: Point
    end: Point

    @property
    def path(self) -> str:
        start, middle, end = (f"{x:.1f} {y:.1f}" for x, y in (self.start, self.middle, self.end))
        return f"M{start}Q{middle} {end}"

    @property
    def points(self) -> tuple[Point, ...]:
        return tuple(self.at(place / POINTS) for place in range(POINTS + 1))

    @property
    def slope(self) -> float:
        (x, y), (to_x, to_y) = self.start, self.end
        return abs(to_y - y) / max(abs(to_x - x), 1)

    def at(self, share: float) -> Point:
        """A place on the curve; 0 is its start, 1 its end."""
        before, between, behind = (1 - share) ** 2, 2 * share * (1 - share), share**2
        parts = zip(self.start, self.middle, self.end, strict=True)
        x, y = (before * a + between * b + behind * c for a, b, c in parts)
        return x, y


def _places(edge: GraphEdge, curve: _Curve) -> Iterator[Point]:
    """Where the text of an edge may be: above it, else below."""
    apart = min(curve.slope * text_width(edge.lines) / 2, MOST_ABOVE)
    above = -5 - apart - LINE * (len(edge.lines) - 1)
    for away in (above, LINE + apart):
        for share in SHARES:
            x, y = curve.at(share)
            yield x, y + away


def _loop(edge: GraphEdge, spot: Spot, before: int) -> _Line:
    """Above the node; a second one below it."""
    side = 1 if before % 2 else -1
    reach = 30.0 + 26.0 * (before // 2)
    x, y = spot.x, spot.y + side * (spot.height / 2 - 1)
    turn = y + side * reach
    turns = f"{x - 22:.1f} {turn:.1f} {x + 22:.1f} {turn:.1f}"
    path = f"M{x - 7:.1f} {y:.1f}C{turns} {x + 7:.1f} {y:.1f}"
    highest = y + side * reach * 0.75
    near = highest + side * 4
    at = (x, near + LINE - 4 if side > 0 else near - LINE * (len(edge.lines) - 1))
    return _Line(edge, path, ((x - 11, (y + highest) / 2), (x + 11, (y + highest) / 2)), (at,))


def _corners(edge: GraphEdge, at: Point) -> Corners:
    """The corners of the text at an edge."""
    half = text_width(edge.lines) / 2
    return (at[0] - half, at[1] - LINE), (at[0] + half, at[1] + LINE * (len(edge.lines) - 1))


def overlap(one: Corners, other: Corners) -> bool:
    (left, top), (right, bottom) = one
    (other_left, other_top), (other_right, other_bottom) = other
    across = left < other_right and other_left < right
    return across and top < other_bottom and other_top < bottom


def _border(spot: Spot, towards: Point) -> Point:
    """Where a line from the middle of a node leaves it."""
    dx, dy = towards[0] - spot.x, towards[1] - spot.y
    far = hypot(dx, dy) or 1.0
    if abs(spot.width - spot.height) < 1:
        reach = spot.width / 2 + 2
        return spot.x + dx / far * reach, spot.y + dy / far * reach
    share = min(
        (spot.width / 2 + 2) / abs(dx) if dx else 9e9,
        (spot.height / 2 + 2) / abs(dy) if dy else 9e9,
    )
    return spot.x + dx * share, spot.y + dy * share


def _node(node: GraphNode, spot: Spot) -> Iterator[str]:
    if node.point:
        yield f'<circle class="begin" cx="{spot.x:.1f}" cy="{spot.y:.1f}" r="4"/>'
        return
    names = "node" + (" end" if node.accepting else "") + (" dashed" if node.dashed else "")
    if node.box:
        x, y = spot.x - spot.width / 2, spot.y - spot.height / 2
        yield (
            f'<rect class="{names}" x="{x:.1f}" y="{y:.1f}" width="{spot.width:.1f}" '
            f'height="{spot.height:.1f}" rx="5"/>'
        )
    elif not node.plain:
        for inset in (0, 4) if node.accepting else (0,):
            radius = spot.width / 2 - inset
            yield f'<circle class="{names}" cx="{spot.x:.1f}" cy="{spot.y:.1f}" r="{radius:.1f}"/>'
    first = spot.y - LINE * (len(node.lines) - 1) / 2 + 4
    yield _text(node.lines, spot.x, first, "middle", "in")


def _text(lines: Sequence[str], x: float, y: float, anchor: str, kind: str = "") -> str:
    spans = "".join(
        f'<tspan x="{x:.1f}" y="{y + LINE * place:.1f}">{escape(line)}</tspan>'
        for place, line in enumerate(lines)
    )
    of = f' class="{kind}"' if kind else ""
    return f'<text{of} text-anchor="{anchor}">{spans}</text>'
