"""Windows (Def. 39) on transducers: they bound the events between the first and the last mark.

This is exact for strings of any length, also where events are skipped before the first and after
the last mark; the unrolling of `determinize` bounds whole strings.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from cereus.expr import tree as ex
from cereus.languages.sremo.srt.epsilon import eliminate_epsilon, trimmed
from cereus.languages.sremo.srt.transducer import Transducer, Transition
from cereus.languages.sremo.tree import TRUE, conjunction


def within_events(transducer: Transducer, size: int) -> Transducer:
    """e[1..w]. A state says how many events there are from the first mark on: 0 (none yet) … w."""
    plain = eliminate_epsilon(transducer)

    def moves() -> Iterator[Transition]:
        for move in plain.transitions:
            for age in range(size + 1):
                if move.marks and age == size:
                    continue
                later = min(age + 1, size) if age or move.marks else 0
                yield _between(move, age, later, size + 1)

    return _of_copies(plain, size + 1, tuple(moves()))


def within_values(
    transducer: Transducer, path: tuple[str, ...], size: ex.Literal, first: str
) -> Transducer:
    """`e WITHIN size` by the values of a column. The first mark is stored in the register `first`,
    every later one is compared with it; a distance from or to NULL is never within the size."""
    plain = eliminate_epsilon(transducer)
    now, then = ex.Attribute(path), ex.Attribute(path, first)

    def near(move: Transition, since: ex.Attribute) -> Transition:
        inside = ex.Comparison("<=", ex.Arithmetic("-", now, since), size)
        return move._replace(condition=conjunction((move.condition or TRUE, inside)))

    def moves() -> Iterator[Transition]:
        for move in plain.transitions:
            if move.marks:
                begun = near(move, now)._replace(writes=move.writes | {first})
                yield _between(begun, 0, 1, 2)
                yield _between(near(move, then), 1, 1, 2)
            else:
                yield _between(move, 0, 0, 2)
                yield _between(move, 1, 1, 2)

    return _of_copies(plain, 2, tuple(moves())).with_used_registers()


def _between(move: Transition, here: int, there: int, copies: int) -> Transition:
    source, target = move.source * copies + here, move.target * copies + there
    return move._replace(source=source, target=target)


def _of_copies(plain: Transducer, copies: int, moves: tuple[Transition, ...]) -> Transducer:
    """The transducer with `copies` copies of every state, beginning in the first one."""
    final = frozenset(state * copies + copy for state in plain.final for copy in range(copies))
    start = plain.start * copies
    return trimmed(
        replace(plain, states=plain.states * copies, start=start, final=final, transitions=moves)
    )
