"""A PAR program taken apart: its steps, and what may be loosened in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

from cereus.expr.print import condition_text
from cereus.expr.tree import And
from cereus.language.anatomy import Anatomy, Edit, Loosened, QueryRule, RuleKind, Step, edited
from cereus.languages.par import tree as par
from cereus.plan.atoms import event_test
from cereus.plan.tests import conjuncts

if TYPE_CHECKING:
    from cereus.languages.par.query import ParQuery

REACHED = "reached"


def anatomy(query: ParQuery, schema: pa.Schema | None) -> Anatomy:
    plain = query.of(query.program)
    loosened = (
        Loosened(rule, tuple(map(query.of, trees))) for rule, trees in edited(query.program, _edits)
    )
    return Anatomy(
        plain, tuple(_steps(query, schema)), tuple(loosened), complete=False, chain=False
    )


def _edits(node: object) -> Iterator[Edit]:
    match node:
        case par.Simple(par.Atom(type_name, condition)) if condition is not None:
            parts = conjuncts(condition)
            for place, part in enumerate(parts):
                rest = (*parts[:place], *parts[place + 1 :])
                joined = And(rest) if len(rest) > 1 else (*rest, None)[0]
                text = f"{condition_text(part)} of {type_name or '*'}"
                rule = QueryRule(RuleKind.CONDITION, text, part, type_name)
                yield rule, (replace(node, atom=par.Atom(type_name, joined)),)
        case par.Preemption(body, unless):
            yield QueryRule(RuleKind.NEGATION, f"unless {unless}"), (body,)


# ---------------------------------------------------------------- steps


def _steps(query: ParQuery, schema: pa.Schema | None) -> Iterator[Step]:
    """Every atom is a step. An output at the atom tells which events it succeeds at; outputs
    change nothing else."""
    silent = _without_outputs(query.program)
    atoms = sum(1 for node in silent.walk() if isinstance(node, par.Simple))
    for number in range(atoms):
        marked, atom = _marked(silent, number)
        test = event_test(atom.type, atom.condition, schema)
        yield Step(atom.type or "*", (test,), query.of(marked))


def _without_outputs(program: par.Program) -> par.Program:
    if isinstance(program, par.Output):
        return _without_outputs(program.body)
    return par.rebuild(program, _without_outputs)


def _marked(program: par.Program, number: int) -> tuple[par.Program, par.Atom]:
    """The program with an output at its atom of this number, in the order of the text."""
    seen: list[par.Atom] = []

    def mark(node: par.Program) -> par.Program:
        if isinstance(node, par.Simple):
            seen.append(node.atom)
            return node[REACHED] if len(seen) == number + 1 else node
        return par.rebuild(node, mark)

    marked = mark(program)
    return marked, seen[number]
