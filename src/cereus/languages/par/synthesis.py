"""Machine → program: every finite machine that is adequate (S1) is the machine of a program.

The paper states this (§7, expressive completeness) and leaves the proof to another; this is a
construction of our own. Each case writes the behaviour of the start state with the behaviours
of smaller machines, in which that state is not entered again:

- *silent*: nothing is shown any more: `silent`.
- *loop*, entered again, and only failure ends it: `repeat x`, where x succeeds when the machine
  is back at the start and fails when the machine fails.
- *only success* ends it: `!x`, with success and failure exchanged.
- *both ends*: `try x unless !y`, where x knows only of the successes and y of the failures.
- *stage*: `x ; y`, where x succeeds on arrival in some state, and y is what that state does.
- *choice*: not entered again. `t₁ ; x₁ | t₂ ; x₂ | …` with one test tᵢ for each next state (and
  one for success, alone): the letter at which the state is left makes one of them succeed and
  the others fail, and a selection drops what has failed.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from cereus.errors import LimitError
from cereus.languages.par.laws import LAWS, selection_of
from cereus.languages.par.letter_tests import Letters, LetterTests
from cereus.languages.par.machine.machine import Machine, check_adequate
from cereus.languages.par.machine.minimise import minimise
from cereus.languages.par.simplify import shrink, simplify
from cereus.languages.par.tree import (
    SILENT,
    Negation,
    Output,
    Preemption,
    Program,
    Repetition,
    Sequential,
    size,
)

MAX_SIZE = 20_000
SIMPLIFIED_UP_TO = 40
Bools = npt.NDArray[np.bool_]


def synthesise(machine: Machine) -> Program:
    """A program whose machine is bisimilar to `machine`."""
    check_adequate(machine)
    smallest = minimise(machine)
    program = Synthesis(LetterTests(smallest)).program(smallest)
    return simplify(program) if size(program) <= SIMPLIFIED_UP_TO else shrink(program, LAWS)


@dataclass(frozen=True)
class Synthesis:
    tests: LetterTests
    known: dict[Machine, Program] = field(default_factory=dict)

    def program(self, machine: Machine) -> Program:
        """The program of a minimal machine."""
        if machine not in self.known:
            self.known[machine] = written = self.write(machine)
            check_size(written)
        return self.known[machine]

    def write(self, machine: Machine) -> Program:
        if machine.silent[0]:
            return SILENT
        succeeds, fails = (bool((machine.completion == way).any()) for way in (1, -1))
        if not on_cycle(machine):
            return self.stage(machine) or self.choice(machine)
        if succeeds and fails:
            only_success, only_failure = without(machine, -1), without(machine, 1)
            silenced = replace(only_failure, output=np.zeros_like(only_failure.output))
            unless = Negation(self.program(minimise(silenced)))
            return Preemption(self.program(minimise(only_success)), unless)
        if succeeds:
            return Negation(self.program(exchanged(machine)))
        return Repetition(self.program(succeeding_at(machine, 0)))

    def stage(self, machine: Machine) -> Program | None:
        """The machine as `x ; y`, if that repeats fewer states than a choice does; else None."""
        first, cost = None, sum(reach(machine, after) for after in next_states(machine))
        for state in np.flatnonzero(~machine.silent).tolist()[1:]:
            until = succeeding_at(machine, state)
            new = until.states + reach(machine, state)
            if new < cost and not succeeds_before(machine, state):
                first, then, cost = until, state, new
        if first is None:
            return None
        return Sequential(self.program(first), self.program(starting_at(machine, then)))

    def choice(self, machine: Machine) -> Program:
        """One test per next state; what only fails is the negation of what only succeeds."""
        groups = grouped(machine)
        if all(after == FAILURE for after, _, _ in groups):
            return Negation(self.choice(exchanged(machine)))
        relevant = frozenset[int]().union(*(letters for _, _, letters in groups))
        tests: dict[int, list[Program]] = defaultdict(list)
        for after, output, letters in groups:
            test = self.tests.decide(letters, relevant - letters)
            if after != FAILURE:
                tests[after].append(Output(test, output) if output else test)
            elif output:  # output and fail at these letters, fail at the others
                tests[after].append(Negation(Output(test, output) | Negation(test)))
        return selection_of(
            tuple(self.then(machine, after, *each) for after, each in tests.items())
        )

    def then(self, machine: Machine, after: int, *tests: Program) -> Program:
        test = selection_of(tests)
        if after in (SUCCESS, FAILURE):
            return test
        return Sequential(test, self.program(starting_at(machine, after)))


SUCCESS, FAILURE = -1, -2
Group = tuple[int, frozenset[str], Letters]


def grouped(machine: Machine) -> list[Group]:
    """The letters at which the start state is left, by where they lead and what is output."""
    groups: dict[tuple[int, frozenset[str]], set[int]] = defaultdict(set)
    for letter, column in zip(machine.letters, machine.letter_class, strict=True):
        if not stays(machine)[0, column]:
            completion = machine.completion[0, column]
            after = {1: SUCCESS, -1: FAILURE, 0: int(machine.next_state[0, column])}[completion]
            groups[after, machine.output_sets[machine.output[0, column]]].add(letter)
    return [(after, output, frozenset(letters)) for (after, output), letters in groups.items()]


# ---------------------------------------------------------------- asking a machine


def stays(machine: Machine) -> Bools:
    """Where a step neither changes nor shows anything."""
    states = np.arange(machine.states)[:, None]
    quiet: Bools = (machine.output == 0) & (machine.completion == 0)
    quiet &= machine.next_state == states
    return quiet


def next_states(machine: Machine) -> set[int]:
    """The states that the start state leads to without completing."""
    leaves = ~stays(machine)[0] & (machine.completion[0] == 0)
    return {int(state) for state in machine.next_state[0, leaves]}


def reachable(machine: Machine, states: set[int], avoiding: int | None = None) -> set[int]:
    reached, todo = set(states), list(states)
    while todo:
        for after in set(machine.next_state[todo.pop()].tolist()) - reached - {avoiding}:
            reached.add(after)
            todo.append(after)
    return reached


def reach(machine: Machine, state: int) -> int:
    return len(reachable(machine, {state}))


def on_cycle(machine: Machine) -> bool:
    """Whether the start state can be entered again."""
    return 0 in reachable(machine, next_states(machine))


def succeeds_before(machine: Machine, state: int) -> bool:
    """Whether the machine can succeed before it arrives at `state`."""
    before = sorted(reachable(machine, {0}, avoiding=state))
    return bool((machine.completion[before] > 0).any())


# ---------------------------------------------------------------- changing a machine


def without(machine: Machine, completion: int) -> Machine:
    """The machine with silence in place of one completion."""
    kept = np.where(machine.completion == completion, 0, machine.completion)
    return replace(machine, completion=kept.astype(np.int8))


def exchanged(machine: Machine) -> Machine:
    """The machine with success and failure exchanged."""
    return replace(machine, completion=-machine.completion)


def succeeding_at(machine: Machine, state: int) -> Machine:
    """The machine that succeeds on arrival at `state`, unless it completes with that step."""
    quiet = np.full((1, machine.classes), machine.states, np.int32)
    arrives = (machine.next_state == state) & (machine.completion == 0) & ~stays(machine)
    return minimise(
        replace(
            machine,
            next_state=np.vstack([np.where(arrives, machine.states, machine.next_state), quiet]),
            output=np.vstack([machine.output, np.zeros_like(quiet)]),
            completion=np.vstack(
                [np.where(arrives, 1, machine.completion), np.zeros_like(quiet)]
            ).astype(np.int8),
            labels=(*machine.labels, "silent"),
        )
    )


def starting_at(machine: Machine, state: int) -> Machine:
    """The same machine, started in another state."""
    order = np.arange(machine.states)
    order[[0, state]] = order[[state, 0]]  # exchanging two states is its own inverse
    return minimise(
        replace(
            machine,
            next_state=order.astype(np.int32)[machine.next_state[order]],
            output=machine.output[order],
            completion=machine.completion[order],
            labels=tuple(machine.labels[i] for i in order),
        )
    )


def check_size(program: Program) -> None:
    if size(program) > MAX_SIZE:
        raise LimitError(
            f"the program of this machine has more than {MAX_SIZE} operators",
            hint="minimise and split the machine; loops that are left in several ways cost most",
        )
