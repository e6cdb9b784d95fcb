"""One step of a PAR program: output, completion and derivative, computed together.

The rules are those of Figures 3–5 (`reference.par` has them one by one). In addition, a derivative
is simplified here as it is built, by laws that hold for every program; this keeps the number of
derivatives small. It is finite without them: a derivative of `x | y` or of `try x unless y` is made
of one derivative of each part, one of `x ; y` and of `repeat x` is `x' ; …` or what follows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

from cereus.languages.par.machine.alphabet import Symbol
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

TOP, IOTA, BOTTOM = Completion.SUCCESS, Completion.INCOMPLETE, Completion.FAILURE
NOTHING: frozenset[str] = frozenset()


class ProgramStep(NamedTuple):
    """The effects of one event, and the program that goes on after it."""

    output: frozenset[str]
    completion: Completion
    after: Program


def step(program: Program, a: Symbol) -> ProgramStep:
    """The output, completion and derivative of `program` at the input symbol `a`."""
    taken = STEPS[type(program)](program, a)
    return taken if taken.completion is IOTA else taken._replace(after=SILENT)


def simple(program: Simple, a: Symbol) -> ProgramStep:
    return ProgramStep(NOTHING, TOP if program.atom in a else IOTA, program)


def silent(program: Silent, a: Symbol) -> ProgramStep:
    return ProgramStep(NOTHING, IOTA, program)


def negation(program: Negation, a: Symbol) -> ProgramStep:
    x = step(program.body, a)
    return ProgramStep(x.output, x.completion.opposite, negate(x.after))


def output(program: Output, a: Symbol) -> ProgramStep:
    x = step(program.body, a)
    added = x.output | program.names if x.completion is TOP else x.output
    return ProgramStep(added, x.completion, announce(x.after, program.names))


def sequential(program: Sequential, a: Symbol) -> ProgramStep:
    x = step(program.first, a)
    if x.completion is TOP:
        return ProgramStep(x.output, IOTA, program.second)
    return ProgramStep(x.output, x.completion, sequence(x.after, program.second))


def repetition(program: Repetition, a: Symbol) -> ProgramStep:
    x = step(program.body, a)
    if x.completion is TOP:
        return ProgramStep(x.output, IOTA, program)
    if x.after == program.body:
        return ProgramStep(x.output, x.completion, program)
    return ProgramStep(x.output, x.completion, sequence(x.after, program))


def selection(program: Selection, a: Symbol) -> ProgramStep:
    x, y = step(program.left, a), step(program.right, a)
    both = x.output | y.output
    if x.completion is BOTTOM:
        return ProgramStep(both, y.completion, y.after)
    if y.completion is BOTTOM:
        return ProgramStep(both, x.completion, x.after)
    return ProgramStep(both, max(x.completion, y.completion), select(x.after, y.after))


def preemption(program: Preemption, a: Symbol) -> ProgramStep:
    x, y = step(program.body, a), step(program.unless, a)
    both = x.output | y.output
    if x.completion is not IOTA:
        return ProgramStep(both, x.completion, SILENT)
    if y.completion is TOP:
        return ProgramStep(both, BOTTOM, SILENT)
    if y.completion is BOTTOM:
        return ProgramStep(both, IOTA, x.after)
    return ProgramStep(both, IOTA, preempt(x.after, y.after))


STEPS: dict[type[Program], Callable[[Any, Symbol], ProgramStep]] = {
    Simple: simple,
    Silent: silent,
    Negation: negation,
    Output: output,
    Sequential: sequential,
    Repetition: repetition,
    Selection: selection,
    Preemption: preemption,
}


# ---------------------------------------------------------------- simplified as they are built


def negate(x: Program) -> Program:
    """`!!x = x`, `!silent = silent`."""
    if isinstance(x, Silent):
        return x
    return x.body if isinstance(x, Negation) else Negation(x)


def announce(x: Program, names: frozenset[str]) -> Program:
    """The program with outputs. One that never succeeds has no output: `silent[A]`, `(repeat
    x)[A]`."""
    return x if isinstance(x, Silent | Repetition) else Output(x, names)


def sequence(x: Program, y: Program) -> Program:
    """The sequence. A program that never succeeds is never followed; `(x ; y) ; z` is kept as `x ;
    (y ; z)`."""
    if isinstance(x, Silent | Repetition):
        return x
    if isinstance(x, Sequential):
        return Sequential(x.first, sequence(x.second, y))
    return Sequential(x, y)


def select(x: Program, y: Program) -> Program:
    """`x | x = x`."""
    return x if x == y else Selection(x, y)


def preempt(x: Program, y: Program) -> Program:
    """`try x unless y`; x itself where y is silent or x, so that it changes nothing."""
    return x if isinstance(y, Silent) or x == y else Preemption(x, y)


# ---------------------------------------------------------------- what the next event decides


@lru_cache(maxsize=16384)
def frontier(program: Program) -> tuple[Atom, ...]:
    """The atoms on which the next event's step depends; all others make no difference."""
    match program:
        case Simple(atom):
            return (atom,)
        case Sequential(x, _):
            return frontier(x)
        case Selection(x, y) | Preemption(x, y):
            return tuple(dict.fromkeys(frontier(x) + frontier(y)))
        case Negation(x) | Repetition(x) | Output(x, _):
            return frontier(x)
    return ()
