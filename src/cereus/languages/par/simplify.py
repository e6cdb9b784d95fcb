"""Finds the smallest program that the laws reach.

First every part is made smaller while some law makes it smaller at once (`shrink`). From there
programs are searched, smallest first, by using one law at one place, even if that makes the program
no smaller. Programs that the laws SAME_UP_TO make equal are one program here: sequences lean to the
right, and selections have their operands sorted, each once.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cereus.languages.par import tree as par
from cereus.languages.par.laws import (
    LAWS,
    Law,
    selection_of,
    selection_parts,
    sequence_of,
    sequence_parts,
    splits,
)
from cereus.languages.par.tree import Program, size
from cereus.syntax.tree import rebuild

EFFORT = 4000
"""The number of rewritings after which the search stops."""

DETOUR = 1
"""How much larger than the smallest program so far a program on the way may be."""


def simplify(program: Program, *, laws: Sequence[Law] = LAWS, effort: int = EFFORT) -> Program:
    """A smallest program that `laws` reach from `program`, within `effort` rewritings."""
    best = ranked(shrink(representative(program), laws))
    seen, queue = {best.program}, [best]
    while queue:
        for rewritten in neighbours(heapq.heappop(queue).program, laws):
            if (effort := effort - 1) < 0:
                return best.program
            if size(rewritten) > best.size + DETOUR:
                continue
            candidate = representative(rewritten)
            if candidate not in seen:
                seen.add(candidate)
                heapq.heappush(queue, ranked(candidate))
                best = min(best, ranked(candidate))
    return best.program


class Ranked(NamedTuple):
    """The order of programs: smaller first; of the same size, the one that is easier to read: few
    parentheses, outputs at atoms, a short text."""

    size: int
    nesting: int
    outer_outputs: int
    length: int
    text: str
    program: Program


def ranked(program: Program) -> Ranked:
    text = str(program)
    return Ranked(size(program), text.count("("), text.count(")["), len(text), text, program)


def shrink(program: Program, laws: Sequence[Law]) -> Program:
    """`program` with every part made smaller for as long as one law does so at once."""
    program = representative(rebuild(program, lambda part: shrink(part, laws)))
    for changed in at_top(program, laws):
        if size(changed) < size(program):
            return shrink(representative(changed), laws)
    return program


def at_top(program: Program, laws: Sequence[Law]) -> Iterator[Program]:
    """The results of one law on `program` at its root, or on some operands of a selection."""
    yield from rewrites(program, laws)
    if isinstance(program, par.Selection):
        for taken, rest in splits(selection_parts(program)):
            if len(taken) > 1 and rest:
                for changed in rewrites(selection_of(taken), laws):
                    yield selection_of((changed, *rest))


def neighbours(program: Program, laws: Sequence[Law]) -> Iterator[Program]:
    """The results of one law on `program` or on one part of it."""
    yield from at_top(program, laws)
    match program:
        case par.Sequential():
            yield from in_sequence(sequence_parts(program), laws)
        case par.Selection():
            yield from in_selection(selection_parts(program), laws)
        case _:
            for child in program.children():
                for changed in neighbours(child, laws):
                    yield replaced(program, child, changed)


def rewrites(program: Program, laws: Sequence[Law]) -> Iterator[Program]:
    for law in laws:
        yield from law.rewrites(program)


def in_sequence(steps: tuple[Program, ...], laws: Sequence[Law]) -> Iterator[Program]:
    """The ends of a sequence, and its steps."""
    for i in range(1, len(steps) - 1):
        for changed in rewrites(sequence_of(steps[i:]), laws):
            yield sequence_of((*steps[:i], changed))
    for i, step in enumerate(steps):
        for changed in neighbours(step, laws):
            yield sequence_of((*steps[:i], changed, *steps[i + 1 :]))


def in_selection(operands: tuple[Program, ...], laws: Sequence[Law]) -> Iterator[Program]:
    """The operands of a selection."""
    for i, operand in enumerate(operands):
        for changed in neighbours(operand, laws):
            yield selection_of((*operands[:i], changed, *operands[i + 1 :]))


def replaced(program: Program, child: Program, changed: Program) -> Program:
    return rebuild(program, lambda each: changed if each is child else each)


def representative(program: Program) -> Program:
    """The representative of all programs that the laws SAME_UP_TO make equal to this one."""
    program = rebuild(program, representative)
    if isinstance(program, par.Sequential):
        return sequence_of(sequence_parts(program))
    if isinstance(program, par.Selection):
        operands = dict.fromkeys(selection_parts(program))
        return selection_of(tuple(sorted(operands, key=str)))
    return program
