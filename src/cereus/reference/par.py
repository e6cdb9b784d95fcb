"""The meaning of PAR: the functions α, ∂ and o of Figures 3, 4 and 5, rule by rule.

Sánchez, Sipma, Slanina, Manna, "Final Semantics for Event-Pattern Reactive Programs", §4. Every
case below carries the name of its rule. Two readings of the printed figures:

- the premises `x → x'` of Fig. 4 are the paper's `x →ι x'` (x is incomplete and steps to x');
  whatever is complete steps to `silent` by the global rule Silent;
- the second rule printed as oPush₁ is oPush₂.

An input symbol is the exact set of atoms that an event satisfies, so "the symbol is a" of αEv₁ and
Ev reads "a is in the symbol".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from cereus.languages.par.tree import (
    SILENT,
    Atom,
    Completion,
    Negation,
    Output,
    Preemption,
    Program,
    Repetition,
    Selection,
    Sequential,
    Silent,
    Simple,
)

Symbol = frozenset[Atom]
"""The exact set of atoms that an event satisfies."""

TOP, IOTA, BOTTOM = Completion.SUCCESS, Completion.INCOMPLETE, Completion.FAILURE


class Observation(NamedTuple):
    """The effects of one event: ⟨o, α⟩ of Definition 2."""

    output: frozenset[str]
    completion: Completion


def alpha(program: Program, a: Symbol) -> Completion:
    """The completion function α (Fig. 3): the status that `program` declares at `a`."""
    match program:
        case Simple(atom):
            if atom in a:
                return TOP  # αEv₁
            return IOTA  # αEv₂
        case Silent():
            return IOTA  # αSilent
        case Sequential(x, _):
            return min(alpha(x, a), IOTA)  # αSeq
        case Selection(x, y):
            return max(alpha(x, a), alpha(y, a))  # αSel
        case Repetition(x):
            return min(alpha(x, a), IOTA)  # αRep
        case Output(x, _):
            return alpha(x, a)  # αPush
        case Negation(x):
            return alpha(x, a).opposite  # αNeg
        case Preemption(x, y):
            if (c := alpha(x, a)) is not IOTA:
                return c  # αTry₁
            return min(alpha(y, a).opposite, IOTA)  # αTry₂
    raise TypeError(f"not a PAR program: {program!r}")


def derivative(program: Program, a: Symbol) -> Program:
    """The step function ∂ (Fig. 4): the program that goes on after `a`."""
    if alpha(program, a) is not IOTA:
        return SILENT  # Silent
    match program:
        case Simple():
            return program  # Ev
        case Silent():
            return program  # ∂Silent
        case Negation(x):
            return Negation(derivative(x, a))  # Neg
        case Output(x, names):
            return Output(derivative(x, a), names)  # Push
        case Sequential(x, y):
            if alpha(x, a) is IOTA:
                return Sequential(derivative(x, a), y)  # Seq₁
            return y  # Seq₂
        case Selection(x, y):
            if alpha(x, a) is BOTTOM:
                return derivative(y, a)  # Sel₂
            if alpha(y, a) is BOTTOM:
                return derivative(x, a)  # Sel₃
            return Selection(derivative(x, a), derivative(y, a))  # Sel₁
        case Repetition(x):
            if alpha(x, a) is IOTA:
                return Sequential(derivative(x, a), program)  # Rep₁
            return program  # Rep₂
        case Preemption(x, y):
            if alpha(y, a) is IOTA:
                return Preemption(derivative(x, a), derivative(y, a))  # Try₁
            return derivative(x, a)  # Try₂
    raise TypeError(f"not a PAR program: {program!r}")


def output(program: Program, a: Symbol) -> frozenset[str]:
    """The output function o (Fig. 5): the names that `program` outputs at `a`."""
    match program:
        case Simple():
            return frozenset()  # oEv
        case Silent():
            return frozenset()  # oSilent
        case Negation(x):
            return output(x, a)  # oNeg
        case Sequential(x, _):
            return output(x, a)  # oSeq
        case Repetition(x):
            return output(x, a)  # oRep
        case Selection(x, y):
            return output(x, a) | output(y, a)  # oSel
        case Preemption(x, y):
            return output(x, a) | output(y, a)  # oTry
        case Output(x, names):
            if alpha(x, a) is TOP:
                return output(x, a) | names  # oPush₁
            return output(x, a)  # oPush₂
    raise TypeError(f"not a PAR program: {program!r}")


def run(program: Program, symbols: Iterable[Symbol]) -> Iterator[Observation]:
    """The behaviour ⟦program⟧ (Definition 3) along one input: an observation per event."""
    for a in symbols:
        yield Observation(output(program, a), alpha(program, a))
        program = derivative(program, a)
