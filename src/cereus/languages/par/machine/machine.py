"""Event-pattern machines (Definition 1), finite and deterministic, as tables.

The *letters* of a machine are the sets of its atoms that can occur together, as bitmasks (bit i
is `atoms[i]`). Letters that every state treats alike form a *class*, and the tables have one
column per class. State 0 is where the machine starts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from cereus.errors import RefusedError
from cereus.languages.par.machine.alphabet import Symbol, describe, occurrences
from cereus.languages.par.tree import Atom, Completion
from cereus.pictures.diagram import Diagram

Table = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Machine:
    """A finite machine as tables. `next_state`, `output` and `completion` are ∂, o and α: one row
    per state, one column per class. `output` holds indices into `output_sets`, of which 0 is the
    empty set."""

    atoms: tuple[Atom, ...]
    letters: tuple[int, ...]
    letter_class: Table
    next_state: Table
    output: Table
    completion: npt.NDArray[np.int8]
    output_sets: tuple[frozenset[str], ...]
    labels: tuple[str, ...]

    @property
    def states(self) -> int:
        return len(self.next_state)

    @property
    def classes(self) -> int:
        return int(self.next_state.shape[1])

    @property
    def sizes(self) -> dict[str, int]:
        return {
            "states": self.states,
            "classes": self.classes,
            "letters": len(self.letters),
            "atoms": len(self.atoms),
        }

    @cached_property
    def class_of(self) -> Mapping[int, int]:
        return dict(zip(self.letters, self.letter_class.tolist(), strict=True))

    @cached_property
    def silent(self) -> npt.NDArray[np.bool_]:
        """The largest silent set of states (Definition 1)."""
        quiet = ((self.output == 0) & (self.completion == 0)).all(axis=1)
        while True:
            stays = quiet & quiet[self.next_state].all(axis=1)
            if (stays == quiet).all():
                return np.asarray(quiet)
            quiet = stays

    def letter(self, symbol: Symbol) -> int:
        return sum(1 << i for i, atom in enumerate(self.atoms) if atom in symbol)

    def step(self, state: int, symbol: Symbol) -> tuple[frozenset[str], Completion, int]:
        """The output, the completion and the next state at one input symbol."""
        column = self.class_of[self.letter(symbol)]
        return (
            self.output_sets[self.output[state, column]],
            Completion(self.completion[state, column]),
            int(self.next_state[state, column]),
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Machine) and self.content() == other.content()

    def __hash__(self) -> int:
        return hash(self.content())

    def content(self) -> tuple[object, ...]:
        """Everything but the labels, in a form that can be compared."""
        tables = (self.letter_class, self.next_state, self.output, self.completion)
        return (self.atoms, self.letters, self.output_sets, *(t.tobytes() for t in tables))

    def __str__(self) -> str:
        from cereus.languages.par.machine.show import machine_text

        return machine_text(self)

    def _repr_svg_(self) -> str | None:
        """In a notebook, dark or light as it is."""
        return Diagram(self.dot())._repr_svg_()

    def dot(self) -> str:
        """The machine as a DOT graph, drawn as in Fig. 1."""
        from cereus.languages.par.machine.show import machine_dot

        return machine_dot(self)


def check_adequate(machine: Machine) -> None:
    """Condition (S1) of Definition 1: success and failure are followed by silence."""
    for state, column in np.argwhere(machine.completion != 0):
        after = machine.next_state[state, column]
        if not machine.silent[after]:
            letter = machine.letters[int(np.argmax(machine.letter_class == column))]
            raise RefusedError(
                f"state {machine.labels[state]} completes with "
                f"{Completion(machine.completion[state, column]).symbol} at "
                f"{letter_text(machine, letter)} and goes on to state {machine.labels[after]}, "
                "which is not silent: no PAR program does that (condition S1 of the paper)",
                hint="let a completing step lead to a state without output and completion",
            )


def letter_text(machine: Machine, letter: int) -> str:
    """The event that a letter stands for, in words."""
    for occurrence, symbol in occurrences(machine.atoms):
        if machine.letter(symbol) == letter:
            return describe(occurrence, machine.atoms)
    raise KeyError(letter)
