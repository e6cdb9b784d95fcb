"""The automaton of a pattern as a picture, in DOT."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cereus.explain.diagram import MOST_STATES
from cereus.explain.dot import FONTS, escaped, graph, legend
from cereus.languages.match_recognize import tree
from cereus.languages.match_recognize.match.program import DONE, RowAutomaton
from cereus.languages.match_recognize.print import value_text, variable_text

RANKS = "1, 2, …: the way that is tried first, then the others"


def dot(clause: tree.Clause, automaton: RowAutomaton) -> str:
    """The picture: states are variables; moves carry their rank of preference where there are
    several. The conditions of the variables are below."""
    return graph("pattern", [FONTS, *_lines(automaton), *_legend(clause, automaton)])


def _legend(clause: tree.Clause, automaton: RowAutomaton) -> Iterator[str]:
    seen = set(automaton.labels[:MOST_STATES])
    lines = [
        f"{variable_text(each.variable)}: {value_text(each.condition)}"
        for each in clause.define
        if each.variable in seen
    ]
    if any(len(moves) > 1 for moves in (automaton.begin[1], *automaton.moves)):
        lines.append(RANKS)
    if lines:
        yield f'label="{legend(lines)}";'


def _lines(automaton: RowAutomaton) -> Iterator[str]:
    yield "rankdir=LR;"
    yield 'begin [shape=point]; done [shape=doublecircle, label=""];'
    reached = _reached(automaton)
    for q, label in enumerate(automaton.labels[:MOST_STATES]):
        if q in reached:
            style = ", style=dashed" if automaton.excluded[q] else ""
            yield f's{q} [shape=circle, label="{escaped(label)}"{style}];'
    if len(automaton.labels) > MOST_STATES:
        yield 'more [label="…", style=dashed];'
    yield from _moves("begin", automaton.begin[1])
    for q, moves in enumerate(automaton.moves[:MOST_STATES]):
        if q not in reached:
            continue
        yield from _moves(f"s{q}", moves)
        if automaton.ends[q] and DONE not in moves:
            yield f's{q} -> done [label="$"];'


def _reached(automaton: RowAutomaton) -> set[int]:
    """The states that a match may come to. `A{2,3}?` at the end never takes the third A."""
    reached: set[int] = set()
    waiting = [q for moves in automaton.begin for q in moves if q != DONE]
    while waiting:
        q = waiting.pop()
        if q not in reached:
            reached.add(q)
            waiting += [each for each in automaton.moves[q] if each != DONE]
    return reached


def _moves(source: str, moves: Sequence[int]) -> Iterator[str]:
    for rank, target in enumerate(moves[:MOST_STATES], 1):
        to = "done" if target == DONE else f"s{target}" if target < MOST_STATES else "more"
        label = f' [label="{rank}"]' if len(moves) > 1 else ""
        yield f"{source} -> {to}{label};"
