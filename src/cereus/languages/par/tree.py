"""The syntax tree of PAR (Sánchez, Sipma, Slanina, Manna 2005, §2), under the paper's names.

Nodes are immutable and compare by what they say; `span` is where the text stood. Python
operators build them: `x | y`, `~x` (negation), `x >> y` (`x ; y`) and `x["A"]`.
`par.text` reads a text; `str(program)` writes it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

from cereus.errors import LimitError
from cereus.expr.tree import Expression
from cereus.syntax.tree import Tree

Rewrite = Callable[["Program"], "Program"]


class Completion(IntEnum):
    """How far a program is: it has failed, goes on, or has succeeded. It is the lattice
    C = {⊥ < ι < ⊤} of §3: meet is `min`, join is `max`, opposite is `-`."""

    FAILURE = -1
    INCOMPLETE = 0
    SUCCESS = 1

    @property
    def opposite(self) -> Completion:
        return Completion(-self)

    @property
    def symbol(self) -> str:
        return {-1: "⊥", 0: "ι", 1: "⊤"}[self]


@dataclass(frozen=True)
class Atom:
    """A test on one event: `BUY`, `BUY(price > 10)`, `*(price > 10)`, `*`.

    `type` None, written `*`, means any type. The paper's atoms are input symbols, of which
    exactly one occurs at a time; ours may overlap, so the input symbol of an event is the exact
    set of atoms that it satisfies.
    """

    type: str | None
    condition: Expression | None = None

    def __str__(self) -> str:
        from cereus.languages.par.text import atom_text

        return atom_text(self)


@dataclass(frozen=True)
class Program(Tree["Program"]):
    """A PAR expression: it reads events one at a time, outputs names, and may complete."""

    def __or__(self, other: Program) -> Program:
        return Selection(self, other)

    def __rshift__(self, other: Program) -> Program:
        return Sequential(self, other)

    def __invert__(self) -> Program:
        return Negation(self)

    def __getitem__(self, names: str | tuple[str, ...]) -> Program:
        return Output(self, frozenset((names,) if isinstance(names, str) else names))

    __iter__ = None  # x["A"] is an output, not a container

    def __str__(self) -> str:
        from cereus.languages.par.text import to_text

        return to_text(self)


@dataclass(frozen=True)
class Simple(Program):
    """`a`: ignores every event that does not satisfy `a`, succeeds at the first that does."""

    atom: Atom


@dataclass(frozen=True)
class Silent(Program):
    """`silent`: no output, never completes."""


@dataclass(frozen=True)
class Negation(Program):
    """`!x`: x with success and failure exchanged."""

    body: Program


@dataclass(frozen=True)
class Selection(Program):
    """`x | y`: both at once; succeeds with the first success, fails when both have failed."""

    left: Program
    right: Program


@dataclass(frozen=True)
class Sequential(Program):
    """`x ; y`: x, and from the event after its success on, y; fails as soon as one fails."""

    first: Program
    second: Program


@dataclass(frozen=True)
class Repetition(Program):
    """`repeat x`: starts x again whenever it succeeds; fails when it fails."""

    body: Program


@dataclass(frozen=True)
class Output(Program):
    """`x[A, B]`: outputs A and B at the event at which x succeeds."""

    body: Program
    names: frozenset[str]


@dataclass(frozen=True)
class Preemption(Program):
    """`try x unless y`: x, which fails if y succeeds before x does."""

    body: Program
    unless: Program


MAX_DEPTH = 250
SILENT = Silent()
ANY = Simple(Atom(None))


def atoms(*programs: Program) -> tuple[Atom, ...]:
    """The atoms that programs mention, in the order in which they are written."""
    nodes = (node for program in programs for node in program.walk())
    return tuple(dict.fromkeys(node.atom for node in nodes if isinstance(node, Simple)))


def size(program: Program) -> int:
    """The number of operators, atoms and output names, which `simplify` makes small."""
    names = len(program.names) if isinstance(program, Output) else 0
    return 1 + names + sum(size(child) for child in program.children())


def check_depth(program: Program) -> None:
    """Refuse a program that is nested too deeply for recursive functions."""
    level, depth = [program], 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise LimitError(
                f"the program is nested more than {MAX_DEPTH} deep",
                hint="a sequence nests once per step; split the program",
            )
        # a node that occurs in several places is followed once
        level = list({id(child): child for node in level for child in node.children()}.values())
