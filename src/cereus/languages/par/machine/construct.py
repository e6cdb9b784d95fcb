"""Program or transitions → machine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cereus.errors import LimitError
from cereus.languages.par.machine.alphabet import Symbol, occurrences
from cereus.languages.par.machine.derivative import frontier, step
from cereus.languages.par.machine.machine import Machine, check_adequate
from cereus.languages.par.tree import Atom, Completion, Program
from cereus.languages.par.tree import atoms as atoms_of

MAX_STATES = 20_000
MAX_WORK = 1_000_000
"""The most parts of derivatives that are stepped without a limit set by the user: some seconds."""


class Entry(NamedTuple):
    """The reaction of a state to a letter."""

    after: int
    output: frozenset[str]
    completion: Completion


class StateRow(NamedTuple):
    """The reactions of a state to every letter; they depend only on the bits in `mask`."""

    mask: int
    entries: dict[int, Entry]

    def at(self, letter: int) -> Entry:
        return self.entries[letter & self.mask]


def from_program(
    program: Program, atoms: tuple[Atom, ...] | None = None, *, states: int = MAX_STATES
) -> Machine:
    """The machine of the derivatives of `program`, at most `states`, over its atoms or over more.

    A state is stepped once per combination of the atoms on which it depends, not once per letter:
    most states of a program depend on few of its atoms.
    """
    atoms = atoms_of(program) if atoms is None else atoms
    bit = {atom: 1 << i for i, atom in enumerate(atoms)}
    number, derivatives, rows = {program: 0}, [program], list[StateRow]()
    work = 0
    for state in derivatives:  # grows while it is read: breadth first
        entries = {}
        for _, symbol in occurrences(frontier(state)):
            output, completion, after = step(state, symbol)
            if after not in number:
                number[after] = len(derivatives)
                derivatives.append(after)
            entries[sum(bit[atom] for atom in symbol)] = Entry(number[after], output, completion)
        rows.append(StateRow(sum(bit[atom] for atom in frontier(state)), entries))
        work += len(entries) * sum(1 for _ in state.walk())
        too_long = work > MAX_WORK and states == MAX_STATES
        check_states(len(derivatives), min(states, len(derivatives) - 1) if too_long else states)
    return tabulate(atoms, rows, [str(state) for state in derivatives])


def check_states(count: int, most: int = MAX_STATES) -> None:
    if count > most:
        raise LimitError(
            f"the program has more than {most} derivatives",
            hint="parts that run side by side (| and unless) multiply; run them as programs "
            "of their own, or say how many there may be: Limits(states=…)",
        )


class MachineTransition(NamedTuple):
    """One transition: from `state` at `symbol` to `after`, with an output and a completion."""

    state: str
    symbol: Symbol
    after: str
    output: frozenset[str] = frozenset()
    completion: Completion = Completion.INCOMPLETE


def from_transitions(atoms: Sequence[Atom], transitions: Iterable[MachineTransition]) -> Machine:
    """A machine drawn as in Fig. 1: a symbol that is not listed changes nothing.

    It starts in the state of the first transition, and must be adequate (S1).
    """
    atoms, listed = tuple(atoms), tuple(transitions)
    bit = {atom: 1 << i for i, atom in enumerate(atoms)}
    labels = list(dict.fromkeys(name for each in listed for name in (each.state, each.after)))
    letters = [sum(bit[atom] for atom in symbol) for _, symbol in occurrences(atoms)]
    rows = [stay(state, letters) for state in range(len(labels))]
    for each in listed:
        letter = sum(bit[atom] for atom in each.symbol)
        assert letter in rows[0].entries, each.symbol
        entry = Entry(labels.index(each.after), each.output, each.completion)
        rows[labels.index(each.state)].entries[letter] = entry
    machine = tabulate(atoms, rows or [stay(0, letters)], labels or ["silent"])
    check_adequate(machine)
    return machine


def stay(state: int, letters: Iterable[int]) -> StateRow:
    nothing = Entry(state, frozenset(), Completion.INCOMPLETE)
    return StateRow(-1, dict.fromkeys(letters, nothing))


def tabulate(atoms: tuple[Atom, ...], rows: Sequence[StateRow], labels: Sequence[str]) -> Machine:
    """Tables with one column per class of letters that are alike in every row."""
    bit = {atom: 1 << i for i, atom in enumerate(atoms)}
    letters = sorted(sum(bit[atom] for atom in symbol) for _, symbol in occurrences(atoms))
    classes, representatives = partition(rows, letters)
    outputs = {frozenset[str](): 0}
    table = [[row.at(letters[i]) for i in representatives] for row in rows]
    output = [[outputs.setdefault(e.output, len(outputs)) for e in row] for row in table]
    return Machine(
        atoms=atoms,
        letters=tuple(letters),
        letter_class=classes,
        next_state=np.array([[e.after for e in row] for row in table], np.int32),
        output=np.array(output, np.int32),
        completion=np.array([[e.completion for e in row] for row in table], np.int8),
        output_sets=tuple(outputs),
        labels=tuple(labels),
    )


Indices = npt.NDArray[np.int32]


def partition(rows: Sequence[StateRow], letters: Sequence[int]) -> tuple[Indices, Indices]:
    """The class of every letter, numbered by first letter, and the first letter of each class."""
    classes = np.zeros(len(letters), np.int64)
    by_mask: dict[int, npt.NDArray[np.int64]] = {}
    for row in rows:
        if row.mask not in by_mask:
            order = {letter: i for i, letter in enumerate(sorted(row.entries))}
            by_mask[row.mask] = np.array([order[letter & row.mask] for letter in letters])
        kinds: dict[Entry, int] = {}
        entries = (row.entries[letter] for letter in sorted(row.entries))
        kind = [kinds.setdefault(entry, len(kinds)) for entry in entries]
        split = classes * len(kinds) + np.array(kind)[by_mask[row.mask]]
        classes = np.unique(split, return_inverse=True)[1]
    return by_first(classes)


def by_first(classes: npt.NDArray[np.int64]) -> tuple[Indices, Indices]:
    """Classes renumbered in the order of their first member, and those first members."""
    _, first, inverse = np.unique(classes, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(first), np.int32)
    rank[order] = np.arange(len(first), dtype=np.int32)
    return rank[inverse], first[order].astype(np.int32)
