"""Closure of SRT under union, concatenation, Kleene-star and intersection (Theorems 31, 34).

The registers of two transducers are kept apart: those of the second are renamed where both have
one of that name, as the proofs assume without loss of generality.
"""

from __future__ import annotations

from dataclasses import replace

from cereus.automata.srt.construct import NO_WRITES, eliminate_epsilon
from cereus.automata.srt.transducer import Transducer, Transition
from cereus.lang import expression as ex
from cereus.lang.sremo import TRUE


def union(first: Transducer, second: Transducer) -> Transducer:
    """Match(T, S) = Match(T1, S) ∪ Match(T2, S) (Fig. 11e)."""
    one, two = _apart(first, second)
    start = one.states + two.states
    moves = (_epsilon(start, one.start), _epsilon(start, two.start))
    return Transducer(
        start + 1,
        start,
        one.final | two.final,
        one.registers | two.registers,
        (*one.transitions, *two.transitions, *moves),
    )


def concatenation(first: Transducer, second: Transducer) -> Transducer:
    """Match(T, S) = Match(T1, S1) · Match(T2, S2) for S = S1 · S2 (Fig. 11d)."""
    one, two = _apart(first, second)
    moves = (_epsilon(state, two.start) for state in sorted(one.final))
    return Transducer(
        one.states + two.states,
        one.start,
        two.final,
        one.registers | two.registers,
        (*one.transitions, *two.transitions, *moves),
    )


def star(transducer: Transducer) -> Transducer:
    """Concatenations of matches of T (Fig. 11f). As with e*, registers are not emptied between
    two rounds; Def. 30, which asks that each round starts from nothing, holds where T reads no
    register before writing it."""
    start = transducer.states
    again = (_epsilon(state, start) for state in sorted(transducer.final))
    moves = (*transducer.transitions, _epsilon(start, transducer.start), *again)
    return replace(
        transducer,
        states=start + 1,
        start=start,
        final=frozenset({start}),
        transitions=moves,
    )


def intersection(first: Transducer, second: Transducer) -> Transducer:
    """Match(T, S) = Match(T1, S) ∩ Match(T2, S) (Theorem 34), without ε.

    The proof joins transitions whose outputs differ, with output ⊗. That finds matches that
    neither has: of {a} and skip{a}, ∅. Both must mark alike.
    """
    one, two = _apart(eliminate_epsilon(first), eliminate_epsilon(second))
    offset = one.states
    moves = tuple(
        Transition(
            a.source * two.states + b.source - offset,
            _both(a.condition, b.condition),
            a.marks,
            a.writes | b.writes,
            a.target * two.states + b.target - offset,
        )
        for a in one.transitions
        for b in two.transitions
        if a.marks == b.marks
    )
    final = frozenset(p * two.states + q - offset for p in one.final for q in two.final)
    return Transducer(
        one.states * two.states,
        one.start * two.states + two.start - offset,
        final,
        one.registers | two.registers,
        moves,
    )


def _both(one: ex.Expression | None, two: ex.Expression | None) -> ex.Expression:
    parts = tuple(c for c in (one, two) if c is not None and c != TRUE)
    return ex.And(parts) if len(parts) == 2 else (*parts, TRUE)[0]


def _epsilon(source: int, target: int) -> Transition:
    return Transition(source, None, False, NO_WRITES, target)


# ---------------------------------------------------------------- registers kept apart


def _apart(first: Transducer, second: Transducer) -> tuple[Transducer, Transducer]:
    """The two with no state and no register in common."""
    names: dict[str, str] = {}
    taken = set(first.registers | second.registers)
    for register in sorted(first.registers & second.registers):
        fresh = next(n for k in range(2, len(taken) + 3) if (n := f"{register}_{k}") not in taken)
        taken.add(fresh)
        names[register] = fresh
    moved = tuple(_shifted(m, first.states, names) for m in second.transitions)
    return first, Transducer(
        second.states,
        second.start + first.states,
        frozenset(state + first.states for state in second.final),
        frozenset(names.get(register, register) for register in second.registers),
        moved,
    )


def _shifted(move: Transition, offset: int, names: dict[str, str]) -> Transition:
    return Transition(
        move.source + offset,
        None if move.condition is None else renamed(move.condition, names),
        move.marks,
        frozenset(names.get(register, register) for register in move.writes),
        move.target + offset,
    )


def renamed(condition: ex.Expression, names: dict[str, str]) -> ex.Expression:
    """The condition with registers read under other names."""
    if isinstance(condition, ex.Attribute):
        own = condition.variable
        return condition if own is None else replace(condition, variable=names.get(own, own))
    return ex.rebuild(condition, lambda child: renamed(child, names))
