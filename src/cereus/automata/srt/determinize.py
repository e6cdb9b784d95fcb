"""Windowed unrolling, output-agnostic determinisation, complement (Lemma 46, Thm 41, Cor. 43).

Unrolling bounds the *length of strings* by w, where Def. 39 bounds the distance of the first and
the last mark: they say the same of strings that begin and end with a mark, and these are the
strings in which the proof of Theorem 41 speaks of windows.
"""

from __future__ import annotations

from itertools import product

from cereus.automata.srt.closure import renamed
from cereus.automata.srt.construct import NO_WRITES, eliminate_epsilon
from cereus.automata.srt.negation import fails
from cereus.automata.srt.transducer import Transducer, Transition
from cereus.errors import LimitError
from cereus.lang import expression as ex
from cereus.lang.sremo import TRUE

MOST_STATES = 20_000
"""Of an unrolled transducer: it is a tree of walks, so w steps may take many."""
MOST_CONDITIONS = 12
"""Of one state: its minterms are 2 to this power."""


def unroll(transducer: Transducer, w: int) -> Transducer:
    """Algorithms 4–6: the runs of length up to w, as a tree. Every write has a register of its
    own, and a condition reads the last copy that was written on the way to it."""
    plain = eliminate_epsilon(transducer)
    copies: list[int] = [plain.start]
    latest: list[dict[str, str]] = [{}]
    moves: list[Transition] = []
    frontier = [0]
    for _ in range(w):
        reached: list[int] = []
        for state in frontier:
            for move in plain.by_source[copies[state]]:
                target = len(copies)
                if target >= MOST_STATES:
                    raise LimitError(
                        f"unrolling to length {w} needs more than {MOST_STATES:,} states",
                        hint="take a smaller window",
                    )
                fresh = {register: f"{register}_{target}" for register in move.writes}
                copies.append(move.target)
                latest.append(latest[state] | fresh)
                assert move.condition is not None
                condition = _from_copies(move.condition, latest[state])
                writes = frozenset(fresh.values())
                moves.append(Transition(state, condition, move.marks, writes, target))
                reached.append(target)
        frontier = reached
    final = frozenset(q for q, copied in enumerate(copies) if copied in plain.final)
    registers = frozenset().union(*(move.writes for move in moves))
    return Transducer(len(copies), 0, final, registers, tuple(moves))


def _from_copies(condition: ex.Expression, latest: dict[str, str]) -> ex.Expression:
    """FindLastAppearance; a register that was never written stays empty under a name of its own."""
    never = {name: f"{name}_0" for name in ex.variables(condition)}
    return renamed(condition, never | latest)


def determinize(transducer: Transducer, w: int) -> Transducer:
    """Algorithm 7: one run per string, and the language of `transducer` on strings of length up
    to w. Outputs are left aside."""
    tree = unroll(transducer, w)
    numbers: dict[frozenset[int], int] = {frozenset({tree.start}): 0}
    todo = list(numbers)
    moves: list[Transition] = []
    for states in todo:  # grows while it is read
        going = [move for q in sorted(states) for move in tree.by_source[q]]
        for signs in minterms([m.condition for m in going if m.condition is not None]):
            taken = [move for move in going if signs.get(move.condition, False)]  # type: ignore[arg-type]
            if not taken:
                continue
            target = frozenset(move.target for move in taken)
            if target not in numbers:
                numbers[target] = len(numbers)
                todo.append(target)
            writes = NO_WRITES.union(*(move.writes for move in taken))
            condition = conjunction(signs)
            moves.append(Transition(numbers[states], condition, False, writes, numbers[target]))
    final = frozenset(n for states, n in numbers.items() if states & tree.final)
    return Transducer(len(numbers), 0, final, tree.registers, tuple(moves))


def minterms(conditions: list[ex.Expression]) -> list[dict[ex.Expression, bool]]:
    """All combinations of signs; ⊤ is only ever true. One that contradicts itself is harmless: no
    event satisfies it."""
    distinct = list(dict.fromkeys(conditions))
    if len(distinct) > MOST_CONDITIONS:
        raise LimitError(
            f"a state asks {len(distinct)} conditions: too many combinations",
            hint="take a smaller window",
        )
    choices = [(True,) if condition == TRUE else (True, False) for condition in distinct]
    return [dict(zip(distinct, signs, strict=True)) for signs in product(*choices)]


def conjunction(signs: dict[ex.Expression, bool]) -> ex.Expression:
    """A minterm."""
    return ex.And(tuple(c if sign else fails(c) for c, sign in signs.items()) or (TRUE,))


def complement(transducer: Transducer, w: int) -> Transducer:
    """Algorithm 8: accepts what `transducer` does not, of the strings of length up to w (and
    every longer one). Marks nothing."""
    known = determinize(transducer, w)
    dead = known.states
    moves = list(known.transitions)
    for state in range(known.states):
        asked = [m.condition for m in known.by_source[state] if m.condition is not None]
        nothing = conjunction(dict.fromkeys(asked, False)) if asked else TRUE
        moves.append(Transition(state, nothing, False, NO_WRITES, dead))
    moves.append(Transition(dead, TRUE, False, NO_WRITES, dead))
    final = frozenset(range(known.states + 1)) - known.final
    return Transducer(known.states + 1, 0, final, known.registers, tuple(moves))
