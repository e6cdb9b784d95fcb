"""The detection of an event expression as a picture: its parts, and what each remembers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cereus.explain.dot import FONT, escaped, graph, legend
from cereus.languages.algebra.detect.instructions import NO_QUEUE
from cereus.languages.algebra.detect.layout import Addresses, lay_out
from cereus.languages.algebra.text import SIGNS, tau_text
from cereus.languages.algebra.tree import (
    Conjunction,
    EventExpression,
    Negation,
    Sequence,
    TemporalRestriction,
)

if TYPE_CHECKING:
    from cereus.languages.algebra.query import AlgebraQuery

STYLE = (
    "rankdir=BT;",
    f'graph [fontname="{FONT}", fontsize=11, labelloc=b, labeljust=l];',
    f'node [fontname="{FONT}", fontsize=11];',
    f'edge [fontname="{FONT}", fontsize=10, arrowsize=0.7];',
    "end [shape=point, width=0.08];",
)


def detection_dot(query: AlgebraQuery) -> str:
    """A node for each subexpression; equal ones are one, as in detection (Fig. 4)."""
    places = lay_out(query.expression, values=query.values).places
    numbers = {node: f"e{place}" for place, node in enumerate(places)}
    lines = [*STYLE, f'label="{_legend(query, places)}";', *_nodes(places, numbers)]
    lines.append(f"{numbers[query.expression]} -> end;")
    return graph("detection", lines)


def _legend(query: AlgebraQuery, places: dict[EventExpression, Addresses]) -> str:
    bounds = query.bounds
    lines = [
        *_names(places),
        f"at most {bounds.steps} steps a tick and {bounds.memory} memory units",
        f"{bounds.state_bytes} bytes for each key",
    ]
    return legend(lines)


def _names(places: dict[EventExpression, Addresses]) -> Iterator[str]:
    """A line for each letter in the picture: what it stands for."""
    kinds = {type(node) for node in places}
    if Conjunction in kinds:
        yield "l, r: the last instances of the left and of the right part"
    elif Sequence in kinds:
        yield "l: the last instance of the left part"
    if any(isinstance(n, Sequence) and p.queue != NO_QUEUE for n, p in places.items()):
        yield "Q: instances of the left part that are still too young to be l"
    if Negation in kinds:
        yield "t: the latest start of the right part"


def _nodes(
    places: dict[EventExpression, Addresses], numbers: dict[EventExpression, str]
) -> Iterator[str]:
    for node, place in places.items():
        kept = _kept(node, place)
        label = escaped(_operator(node)) + (f"\\n{kept}" if kept else "")
        shape = "box" if not node.children() else "ellipse"
        yield f'{numbers[node]} [label="{label}", shape={shape}];'
        sides = ("left", "right") if len(node.children()) > 1 else ("",)
        for side, child in zip(sides, node.children(), strict=False):
            yield f'{numbers[child]} -> {numbers[node]} [label="{side}"];'


def _operator(node: EventExpression) -> str:
    if isinstance(node, TemporalRestriction):
        return f"_{tau_text(node.tau)}"
    return SIGNS[type(node)] if type(node) in SIGNS else str(node)


def _kept(node: EventExpression, place: Addresses) -> str:
    """What a part remembers from one tick to the next, in the names of Fig. 4."""
    match node:
        case Conjunction():
            return "keeps l, r"
        case Negation():
            return "keeps t"
        case Sequence() if place.queue != NO_QUEUE:
            return f"keeps l, Q ≤ {place.room}"
        case Sequence():
            return "keeps l"
    return ""
