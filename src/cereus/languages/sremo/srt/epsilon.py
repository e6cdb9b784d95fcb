"""ε-elimination (Lemma 29, Algorithm 2), and other ways to tidy a transducer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from cereus.languages.sremo.srt.transducer import Transducer, Transition

NO_WRITES: frozenset[str] = frozenset()


def eliminate_epsilon(transducer: Transducer) -> Transducer:
    """Lemma 29: the same matches without ε. A state's moves are those of its closure."""
    moves: list[Transition] = []
    final: set[int] = set()
    for state in range(transducer.states):
        closure = epsilon_closure(transducer, {state})
        if closure & transducer.final:
            final.add(state)
        reachable = (move for q in closure for move in transducer.by_source[q])
        moves += [m._replace(source=state) for m in reachable if m.condition is not None]
    unique = tuple(dict.fromkeys(moves))
    return trimmed(replace(transducer, final=frozenset(final), transitions=unique))


def epsilon_closure(transducer: Transducer, states: Iterable[int]) -> set[int]:
    """All states that ε alone leads to."""
    reached, todo = set(states), list(states)
    while todo:
        for move in transducer.by_source[todo.pop()]:
            if move.condition is None and move.target not in reached:
                reached.add(move.target)
                todo.append(move.target)
    return reached


def trimmed(transducer: Transducer) -> Transducer:
    """The transducer with only the reachable states, numbered in the order in which they are
    reached."""
    numbers, todo = {transducer.start: 0}, [transducer.start]
    for state in todo:  # grows while it is read
        for move in transducer.by_source[state]:
            if move.target not in numbers:
                numbers[move.target] = len(numbers)
                todo.append(move.target)
    moves = tuple(
        move._replace(source=numbers[move.source], target=numbers[move.target])
        for state in todo
        for move in transducer.by_source[state]
    )
    final = frozenset(numbers[q] for q in transducer.final if q in numbers)
    return Transducer(len(numbers), 0, final, transducer.registers, moves)
