"""Closure of SRT under union, concatenation, Kleene-star and intersection (Theorems 31, 34).

The registers of two transducers are kept apart: those of the second are renamed where both have
one of that name, as the proofs assume without loss of generality.
"""

from __future__ import annotations

from dataclasses import replace

from cereus.expr import tree as ex
from cereus.languages.sremo.srt.epsilon import NO_WRITES, eliminate_epsilon, trimmed
from cereus.languages.sremo.srt.transducer import Transducer, Transition
from cereus.languages.sremo.tree import TRUE, conjunction


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
    """Concatenations of matches of T (Fig. 11f). As with e*, registers are not emptied between two
    rounds; Def. 30, which requires that each round starts from nothing, holds where T reads no
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

    The proof joins transitions whose outputs differ, with output ⊗. That finds matches that neither
    has: ∅ for {a} and skip{a}. So both must mark alike.
    """
    return joined(first, _with_other_registers(first, second))


def joined(first: Transducer, second: Transducer) -> Transducer:
    """The intersection of two that share registers, and write different ones."""
    one, two = eliminate_epsilon(first), eliminate_epsilon(second)
    moves = tuple(
        Transition(
            a.source * two.states + b.source,
            conjunction((a.condition or TRUE, b.condition or TRUE)),
            a.marks,
            a.writes | b.writes,
            a.target * two.states + b.target,
        )
        for a in one.transitions
        for b in two.transitions
        if a.marks == b.marks
    )
    final = frozenset(p * two.states + q for p in one.final for q in two.final)
    start = one.start * two.states + two.start
    registers = one.registers | two.registers
    return trimmed(Transducer(one.states * two.states, start, final, registers, moves))


def _epsilon(source: int, target: int) -> Transition:
    return Transition(source, None, False, NO_WRITES, target)


# ---------------------------------------------------------------- registers kept apart


def _apart(first: Transducer, second: Transducer) -> tuple[Transducer, Transducer]:
    """The two, without a common state or register."""
    other = _with_other_registers(first, second)
    return first, replace(
        other,
        start=other.start + first.states,
        final=frozenset(state + first.states for state in other.final),
        transitions=tuple(_shifted(move, first.states) for move in other.transitions),
    )


def _with_other_registers(first: Transducer, second: Transducer) -> Transducer:
    """The second with other names for the registers that the first also has."""
    names: dict[str, str] = {}
    taken = set(first.registers | second.registers)
    for register in sorted(first.registers & second.registers):
        fresh = next(n for k in range(2, len(taken) + 3) if (n := f"{register}_{k}") not in taken)
        taken.add(fresh)
        names[register] = fresh
    return renamed_registers(second, names)


def _shifted(move: Transition, offset: int) -> Transition:
    return move._replace(source=move.source + offset, target=move.target + offset)


def renamed_registers(transducer: Transducer, names: dict[str, str]) -> Transducer:
    """The transducer with other names for some registers."""

    def of(registers: frozenset[str]) -> frozenset[str]:
        return frozenset(names.get(register, register) for register in registers)

    moves = (
        move._replace(
            condition=None if move.condition is None else renamed(move.condition, names),
            writes=of(move.writes),
        )
        for move in transducer.transitions
    )
    return replace(transducer, registers=of(transducer.registers), transitions=tuple(moves))


def renamed(condition: ex.Expression, names: dict[str, str]) -> ex.Expression:
    """The condition with registers read under other names."""
    if isinstance(condition, ex.Attribute):
        register = condition.variable
        return (
            condition
            if register is None
            else replace(condition, variable=names.get(register, register))
        )
    return ex.rebuild(condition, lambda child: renamed(child, names))
