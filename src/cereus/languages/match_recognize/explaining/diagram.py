"""The automaton of a pattern as a picture, in DOT."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cereus.languages.match_recognize import tree
from cereus.languages.match_recognize.match.program import DONE, RowAutomaton


def dot(clause: tree.Clause, automaton: RowAutomaton) -> str:
    """States are variables; moves carry their rank of preference where there are several."""
    return "\n".join(["digraph pattern {", *_lines(automaton), "}"])


def _lines(automaton: RowAutomaton) -> Iterator[str]:
    yield "  rankdir=LR;"
    yield '  begin [shape=point]; done [shape=doublecircle, label=""];'
    for q, label in enumerate(automaton.labels):
        style = ", style=dashed" if automaton.excluded[q] else ""
        name = label.replace('"', '\\"')
        yield f'  s{q} [shape=circle, label="{name}"{style}];'
    yield from _moves("begin", automaton.begin[1])
    for q, moves in enumerate(automaton.moves):
        yield from _moves(f"s{q}", moves)
        if automaton.ends[q] and DONE not in moves:
            yield f'  s{q} -> done [label="$"];'


def _moves(source: str, moves: Sequence[int]) -> Iterator[str]:
    for rank, target in enumerate(moves, 1):
        to = "done" if target == DONE else f"s{target}"
        label = f' [label="{rank}"]' if len(moves) > 1 else ""
        yield f"  {source} -> {to}{label};"
