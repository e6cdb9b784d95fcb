"""Equations between PAR programs: each holds for all programs in place of its letters.

`x y z` stand for programs, `a` for an atom, `A B` for sets of outputs. The first eight are those of
the paper's §6. The others are ours; the decision procedure found them, and the tests check every
law with it again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from cereus.languages.par import tree as par
from cereus.languages.par.text import parse
from cereus.languages.par.tree import Program
from cereus.syntax.tree import rebuild

PROGRAMS = frozenset("xyz")
MOST_SUBSETS = 5
"""A selection of more operands than this is matched by one or two operands only."""

Parts = tuple[Program, ...]
Bindings = Mapping[str, Program | frozenset[str]]


@dataclass(frozen=True)
class Law:
    """`left = right`, for all programs in place of its letters."""

    name: str
    equation: str

    @cached_property
    def sides(self) -> tuple[Program, Program]:
        left, right = self.equation.split(" = ")
        return parse(left), parse(right)

    @cached_property
    def directions(self) -> tuple[tuple[Program, Program], ...]:
        """The directions in which the law can be used: not from a bare letter, and not to letters
        that the other side does not have."""
        return tuple(
            (source, target)
            for source, target in (self.sides, self.sides[::-1])
            if not isinstance(source, par.Simple) and letters(target) <= letters(source)
        )

    def rewrites(self, program: Program) -> Iterator[Program]:
        """The results of the law on `program` at its root."""
        for source, target in self.directions:
            for bindings in match(source, program, {}):
                yield instantiate(target, bindings)


SAME_UP_TO = (
    Law("selection commutes", "x | y = y | x"),
    Law("selection associates", "x | (y | z) = (x | y) | z"),
    Law("selection of the same", "x | x = x"),
    Law("sequence associates", "x ; (y ; z) = (x ; y) ; z"),
)
"""Laws of §6 that are built into `simplify`: it keeps one representative of programs that they make
equal."""

PAPER = (
    Law("double negation", "!!x = x"),
    Law("negated sequence", "!(x ; y) = !x | x ; !y"),
    Law("sequence into try", "x ; try y unless z = try x ; y unless x ; z"),
    Law("repeat unfolds", "repeat x = x ; repeat x"),
)
"""The other laws of §6."""

OURS = (
    Law("sequence into selection", "x ; (y | z) = x ; y | x ; z"),
    Law("on failure", "!(!x ; !y) = x | !x ; y"),
    Law("already succeeded", "x | x ; y = x"),
    Law("one attempt is enough", "x | (try y unless x) = x | y"),
    Law("repeat never succeeds", "(repeat x) ; y = repeat x"),
    Law("repeat has no output of its own", "(repeat x)[A] = repeat x"),
    Law("repeat of repeat", "repeat repeat x = repeat x"),
    Law("repeat that ends in repeat", "repeat (x ; repeat y) = x ; repeat y"),
    Law("repeat of a double", "repeat (x ; x) = repeat x"),
    Law("repeat rotates", "x ; repeat (y ; x) = repeat (x ; y)"),
    Law("repeat that ends in silence", "repeat (x ; silent) = x ; silent"),
    Law("repeat of an atom", "repeat a = silent"),
    Law("atom before silence", "a ; silent = silent"),
    Law("repeat of silence", "repeat silent = silent"),
    Law("nothing after silence", "silent ; x = silent"),
    Law("negated silence", "!silent = silent"),
    Law("output of silence", "silent[A] = silent"),
    Law("empty output", "x[] = x"),
    Law("output of output", "x[A][B] = x[A, B]"),
    Law("output of selection", "(x | y)[A] = x[A] | y[A]"),
    Law("output of sequence", "(x ; y)[A] = x ; y[A]"),
    Law("output of try", "(try x unless y)[A] = try x[A] unless y"),
    Law("output already there", "x[A] | x = x[A]"),
    Law("unless silence", "try x unless silent = x"),
    Law("unless itself", "try x unless x = x"),
    Law("unless its output", "try x unless x[A] = x[A]"),
    Law("with output unless itself", "try x[A] unless x = x[A]"),
    Law("unless its failure", "try x unless !x = x"),
    Law("unless it went on", "try x unless (x ; y) = x"),
    Law("unless its failure went on", "try x unless (!x ; y) = x"),
    Law("unless itself or", "try x unless (x | y) = try x unless y"),
    Law("unless tried first", "try x unless (try y unless x) = try x unless y"),
    Law("try of try", "try (try x unless y) unless z = try x unless (y | z)"),
    Law("try of selection", "try x | y unless z = (try x unless z) | (try y unless z)"),
)

LAWS = PAPER + OURS


def letters(program: Program) -> frozenset[str]:
    """The letters of one side of a law."""
    names: set[str] = set()
    for node in program.walk():
        if isinstance(node, par.Simple) and node.atom.type is not None:
            names.add(node.atom.type)
        elif isinstance(node, par.Output):
            names |= node.names
    return frozenset(names)


def instantiate(side: Program, bindings: Bindings) -> Program:
    """One side of a law with programs in place of its letters."""
    if isinstance(side, par.Simple):
        bound = bindings[side.atom.type or ""]
        assert isinstance(bound, Program)
        return bound
    changed = rebuild(side, lambda part: instantiate(part, bindings))
    if isinstance(changed, par.Output):
        sets = [bindings[name] for name in changed.names]
        names = frozenset[str]().union(*(each for each in sets if isinstance(each, frozenset)))
        return par.Output(changed.body, names)
    return changed


def match(side: Program, program: Program, bound: Bindings) -> Iterator[Bindings]:
    """The ways to replace the letters of `side` by programs so that it becomes `program`, up to the
    laws SAME_UP_TO."""
    if isinstance(side, par.Simple):
        yield from bind(side.atom.type or "", program, bound)
    elif type(side) is not type(program):
        return
    elif isinstance(side, par.Output) and isinstance(program, par.Output):
        for with_names in bind_names(side.names, program.names, bound):
            yield from match(side.body, program.body, with_names)
    else:
        for parts in decompositions(program):
            yield from match_all(side.children(), parts, bound)


def match_all(sides: Parts, programs: Parts, bound: Bindings) -> Iterator[Bindings]:
    if not sides:
        yield bound
        return
    for with_first in match(sides[0], programs[0], bound):
        yield from match_all(sides[1:], programs[1:], with_first)


def bind(letter: str, program: Program, bound: Bindings) -> Iterator[Bindings]:
    fits = letter in PROGRAMS or isinstance(program, par.Simple)
    if fits and bound.get(letter, program) == program:
        yield {**bound, letter: program}


def bind_names(
    letters: frozenset[str], names: frozenset[str], bound: Bindings
) -> Iterator[Bindings]:
    if not letters:
        if not names:
            yield bound
    elif len(letters) == 1:
        (letter,) = letters
        if bound.get(letter, names) == names:
            yield {**bound, letter: names}


def decompositions(program: Program) -> Iterator[Parts]:
    """The children of a node, also in other bracketings of it."""
    if isinstance(program, par.Sequential):
        steps = sequence_parts(program)
        for at in range(1, len(steps)):
            yield sequence_of(steps[:at]), sequence_of(steps[at:])
    elif isinstance(program, par.Selection):
        for left, right in splits(selection_parts(program)):
            if right:
                yield selection_of(left), selection_of(right)
    else:
        yield program.children()


def splits(parts: Parts) -> Iterator[tuple[Parts, Parts]]:
    """The ways to take some operands of a selection, and the rest; for many operands: one, two or
    all but one."""
    counts = range(1, len(parts) + 1) if len(parts) <= MOST_SUBSETS else (1, 2, len(parts) - 1)
    for count in counts:
        for taken in combinations(range(len(parts)), count):
            left = tuple(part for i, part in enumerate(parts) if i not in taken)
            yield tuple(parts[i] for i in taken), left


def sequence_parts(program: Program) -> Parts:
    if isinstance(program, par.Sequential):
        return sequence_parts(program.first) + sequence_parts(program.second)
    return (program,)


def selection_parts(program: Program) -> Parts:
    if isinstance(program, par.Selection):
        return selection_parts(program.left) + selection_parts(program.right)
    return (program,)


def sequence_of(parts: Parts) -> Program:
    first, *others = parts
    return par.Sequential(first, sequence_of(tuple(others))) if others else first


def selection_of(parts: Parts) -> Program:
    first, *others = parts
    return par.Selection(first, selection_of(tuple(others))) if others else first
