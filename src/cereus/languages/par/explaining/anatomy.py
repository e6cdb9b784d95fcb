"""Takes a PAR program apart: its steps, and what may be loosened in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa

from cereus.expr.print import condition_text
from cereus.expr.tree import conjunction, conjuncts
from cereus.language.anatomy import (
    TAKEN,
    Anatomy,
    Edit,
    Loosened,
    QueryRule,
    RuleKind,
    Step,
    edited,
    left_out,
    numbered_edits,
)
from cereus.languages.par import tree as par
from cereus.languages.par.text import atom_text, to_text
from cereus.plan.atoms import event_test
from cereus.syntax.tree import rebuild

if TYPE_CHECKING:
    from cereus.languages.par.query import ParQuery

REACHED, UNLESS = "reached", "unless "


def anatomy(query: ParQuery, schema: pa.Schema | None) -> Anatomy:
    return Anatomy(
        query.of(query.tree),
        lambda: _steps(query, schema),
        lambda: _loosened(query),
        complete=False,
        chain=False,
    )


def _loosened(query: ParQuery) -> Iterator[Loosened]:
    every = numbered_edits(edited(query.tree, _edits))
    marked = edited(query.tree, partial(_edits, mark=TAKEN))
    for (rule, trees), (_, (marking,)) in zip(every, marked, strict=True):
        of_one = rule.condition is not None
        yield Loosened(rule, query.of, trees, marking if of_one else None)


def _edits(node: object, mark: str | None = None) -> Iterator[Edit]:
    """The edits of a node; `mark` is an output of the part whose condition is left out."""
    match node:
        case par.Simple(par.Atom(type_name, condition)) if condition is not None:
            parts = conjuncts(condition)
            for part, rest in left_out(parts):
                text = atom_text(node.atom)  # as the program has it
                text = text if len(parts) == 1 else f"{condition_text(part)} of {text}"
                rule = QueryRule(RuleKind.CONDITION, text, part, type_name)
                loose = replace(node, atom=par.Atom(type_name, conjunction(rest)))
                yield rule, (loose if mark is None else loose[mark],)
        case par.Preemption(body, unless):
            # outputs exclude nothing, and steps have their own marks
            yield QueryRule(RuleKind.NEGATION, f"unless {_without_outputs(unless)}"), (body,)


# ---------------------------------------------------------------- steps


def _steps(query: ParQuery, schema: pa.Schema | None) -> Iterator[Step]:
    """The steps of a query: every atom is one. A separate output at each atom shows at which events
    it succeeds; outputs change nothing else, so one program counts them all."""
    atoms: dict[str, par.Atom] = {}
    marked = query.of(_marked(_without_outputs(query.tree), atoms))
    for (mark, atom), name in zip(atoms.items(), _names(query.tree), strict=True):
        test = event_test(atom.type, atom.condition, schema)
        forbidden = name.startswith(UNLESS)
        yield Step(name, (test,), marked, mark=mark, optional=forbidden)


def _names(program: par.Program, before: str = "") -> Iterator[str]:
    """Each atom as the program has it: with its outputs, and whether it ends another part."""
    match program:
        case par.Simple() | par.Output(par.Simple()):
            yield before + to_text(program)
        case par.Preemption(body, unless):
            yield from _names(body, before)
            yield from _names(unless, UNLESS)
        case _:
            for child in program.children():
                yield from _names(child, before)


def _without_outputs(program: par.Program) -> par.Program:
    if isinstance(program, par.Output):
        return _without_outputs(program.body)
    return rebuild(program, _without_outputs)


def _marked(program: par.Program, atoms: dict[str, par.Atom]) -> par.Program:
    """The program with an output at each of its atoms, which are noted by these names in the order
    of the text."""
    if isinstance(program, par.Simple):
        name = f"{REACHED}{len(atoms) + 1}"
        atoms[name] = program.atom
        return program[name]
    return rebuild(program, lambda child: _marked(child, atoms))
