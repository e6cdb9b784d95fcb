"""PAR programs as Python objects and as text: build, compile, compare, simplify, synthesise.

    from cereus import par

    a, b = par.event("a"), par.event("b")
    program = par.repeat(a >> par.try_(a["A"], unless=b))
    assert program == par.parse("repeat (a ; try a[A] unless b)")

`x | y`, `x >> y` (`x ; y`), `~x` (`!x`) and `x["A"]` make programs from programs. Every function
here takes a program or its text.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from cereus import query
from cereus.errors import CereusError
from cereus.expr.text import parse_condition
from cereus.language.protocol import Params
from cereus.languages.par import tree
from cereus.languages.par.bisimilarity import (
    Difference,
    Observation,
    Verdict,
    compare,
    observe,
    system,
)
from cereus.languages.par.language import Par
from cereus.languages.par.laws import LAWS, Law
from cereus.languages.par.machine.alphabet import Occurrence
from cereus.languages.par.machine.construct import MachineTransition, from_program, from_transitions
from cereus.languages.par.machine.machine import Machine
from cereus.languages.par.machine.minimise import minimise
from cereus.languages.par.simplify import EFFORT
from cereus.languages.par.simplify import simplify as simplify_program
from cereus.languages.par.synthesis import synthesise
from cereus.languages.par.text import on_one_event
from cereus.languages.par.tree import ANY, SILENT, Atom, Completion, Program
from cereus.limits import Limits
from cereus.query import Query
from cereus.stream import Stream

__all__ = [
    "LAWS",
    "Atom",
    "Completion",
    "Difference",
    "Law",
    "Machine",
    "Observation",
    "Program",
    "Verdict",
    "any_event",
    "compile",
    "dead_outputs",
    "draw",
    "equivalent",
    "event",
    "machine",
    "parse",
    "repeat",
    "run",
    "silent",
    "simplify",
    "synthesise",
    "try_",
]

silent: Program = SILENT
any_event: Program = ANY
"""An event of any type: `*`."""


# ---------------------------------------------------------------- building


def parse(text: str, *, params: Params | None = None) -> Program:
    """Read a program. `params` are the values of the parameters that it names."""
    return Par().parse(text, params=params)


def event(type: str | None = None, *, where: str | None = None) -> Program:
    """The atom of a type, of a condition, or both: `event("BUY", where="price > 10")`."""
    condition = None if where is None else on_one_event(parse_condition(where))
    return tree.Simple(Atom(type, condition))


def repeat(body: Program | str) -> Program:
    """`repeat body`: begin again whenever the body succeeds."""
    return tree.Repetition(program_of(body))


def try_(body: Program | str, *, unless: Program | str) -> Program:
    """`try body unless …`: fail if the other program succeeds first."""
    return tree.Preemption(program_of(body), program_of(unless))


def program_of(program: Program | str) -> Program:
    if isinstance(program, str):
        return parse(program)
    tree.check_depth(program)
    return program


def side_of(side: Program | Machine | str) -> Program | Machine:
    return side if isinstance(side, Machine) else program_of(side)


def compile(
    source: Program | str,
    *,
    stream: Stream | None = None,
    schema: pa.Schema | None = None,
    limits: Limits | None = None,
    params: Params | None = None,
) -> Query:
    """The query of a text or a program. Of the limits it uses `states`, those of the machine."""
    return query.compile(
        source, dialect="par", stream=stream, schema=schema, limits=limits, params=params
    )


# ---------------------------------------------------------------- machines


def machine(program: Program | str, *, minimal: bool = True) -> Machine:
    """The finite machine of a program; `minimal=False` leaves one state per derivative."""
    built = from_program(program_of(program))
    return minimise(built) if minimal else built


def dead_outputs(program: Program | str) -> frozenset[str]:
    """The outputs that no input produces, as B in `repeat a[A] ; b[B]`: most likely a mistake in
    the program."""
    program = program_of(program)
    written = (node.names for node in program.walk() if isinstance(node, tree.Output))
    live = frozenset[str]().union(*from_program(program).output_sets)
    return frozenset[str]().union(*written) - live


def draw(*transitions: tuple[Any, ...]) -> Machine:
    """A machine from its transitions, as in Fig. 1 of the paper: (state, event, next state),
    then the outputs (a name or a tuple of names), then the completion, if any.

    An event is the text of an atom, or None for one that satisfies no atom of the machine. An
    event that is not listed changes nothing. The first state is where the machine starts; a
    transition that completes leads to a silent state.
    """
    for each in transitions:
        _check_drawn(each)
    atoms = tree.atoms(*(parse(each[1]) for each in transitions if each[1] is not None))
    return from_transitions(atoms, (transition(*each, atoms=atoms) for each in transitions))


def _check_drawn(drawn: tuple[Any, ...]) -> None:
    fits = isinstance(drawn, tuple) and 3 <= len(drawn) <= 5
    if not fits or not all(isinstance(each, Completion) for each in drawn[4:]):
        raise CereusError(
            f"{drawn!r} is no transition",
            hint='write ("idle", "BUY", "busy", "bought", Completion.SUCCESS): state, event, next '
            "state; outputs and completion may be left out",
        )


def transition(
    state: str,
    on: str | None,
    after: str,
    names: str | tuple[str, ...] = (),
    completion: Completion = Completion.INCOMPLETE,
    *,
    atoms: tuple[Atom, ...],
) -> MachineTransition:
    output = frozenset((names,) if isinstance(names, str) else names)
    return MachineTransition(state, occurrence(on).symbol(atoms), after, output, completion)


def run(program: Program | Machine | str, events: Iterable[str | None]) -> list[Observation]:
    """The observations of a program at each event, for trying it out.

    An event is a type, `"BUY"`, or a type and the condition that holds, `"BUY(price > 10)"`, or
    None for an event that satisfies no atom.
    """
    side = system(side_of(program))
    return list(observe(side, [occurrence(each).symbol(side.atoms) for each in events]))


def occurrence(on: str | None) -> Occurrence:
    """The event that satisfies an atom, and no other condition."""
    if on is None:
        return Occurrence(None)
    atom = parse(on)
    if not isinstance(atom, tree.Simple):
        raise CereusError(f"{on!r} is not one event", hint="write a type: BUY, BUY(price > 10)")
    condition = atom.atom.condition
    return Occurrence(atom.atom.type, frozenset() if condition is None else frozenset({condition}))


# ---------------------------------------------------------------- deciding and rewriting


def equivalent(left: Program | Machine | str, right: Program | Machine | str) -> Verdict:
    """Bisimilar, output equivalent only, or different; with a shortest input that shows it."""
    return compare(side_of(left), side_of(right))


def simplify(
    program: Program | str, *, laws: tuple[Law, ...] = LAWS, effort: int = EFFORT
) -> Program:
    """A smallest program that the laws reach, within `effort` rewritings."""
    return simplify_program(program_of(program), laws=laws, effort=effort)
