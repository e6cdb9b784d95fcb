"""Random PAR programs, inputs and machines for the property tests."""

from __future__ import annotations

from hypothesis import strategies as st

from cereus.languages.par.machine.alphabet import Symbol, occurrences
from cereus.languages.par.machine.construct import MachineTransition, from_transitions
from cereus.languages.par.machine.machine import Machine
from cereus.languages.par.text import parse
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
    Simple,
)


def atom(text: str) -> Atom:
    program = parse(text)
    assert isinstance(program, Simple)
    return program.atom


TYPES = tuple(atom(text) for text in "abc")
OVERLAPPING = (*TYPES, atom("a(v > 1)"), atom("*(v > 1)"), atom("b(w = 'x')"), atom("*"))

outputs = st.frozensets(st.sampled_from("AB"), max_size=2)


def programs(atoms: tuple[Atom, ...] = OVERLAPPING, leaves: int = 6) -> st.SearchStrategy[Program]:
    simple = st.sampled_from([Simple(each) for each in atoms])
    return st.recursive(
        simple | simple | st.just(SILENT),
        lambda x: st.one_of(
            st.builds(Negation, x),
            st.builds(Selection, x, x),
            st.builds(Sequential, x, x),
            st.builds(Repetition, x),
            st.builds(Output, x, outputs),
            st.builds(Preemption, x, x),
        ),
        max_leaves=leaves,
    )


def symbols(atoms: tuple[Atom, ...] = OVERLAPPING) -> st.SearchStrategy[Symbol]:
    """The sets of atoms that one event can satisfy."""
    return st.sampled_from([symbol for _, symbol in occurrences(atoms)])


def inputs(
    atoms: tuple[Atom, ...] = OVERLAPPING, length: int = 12
) -> st.SearchStrategy[list[Symbol]]:
    return st.lists(symbols(atoms), min_size=1, max_size=length)


@st.composite
def machines(draw: st.DrawFn) -> Machine:
    """Adequate machines: whatever completes leads to the silent state `end`."""
    atoms = draw(st.sampled_from([TYPES, TYPES[:2], (OVERLAPPING[3], OVERLAPPING[4], TYPES[1])]))
    states = [f"q{i}" for i in range(draw(st.integers(1, 3)))]
    completions = st.sampled_from([Completion(each) for each in (0, 0, 0, 0, 1, -1)])
    listed = [MachineTransition("q0", frozenset(), "q0")]
    for state in states:
        for _, symbol in occurrences(atoms):
            if draw(st.integers(0, 9)) < 4:
                continue
            completion = draw(completions)
            after = "end" if completion else draw(st.sampled_from(states))
            output = draw(outputs) if draw(st.booleans()) else frozenset()
            listed.append(MachineTransition(state, symbol, after, output, completion))
    return from_transitions(atoms, listed)
