"""The compiled pass: the reference's answer for every key, chunk size and split of the input."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cereus import par
from cereus.languages.par.machine.alphabet import Symbol
from cereus.languages.par.machine.runner import MachineRunner
from cereus.languages.par.tree import Completion, Program, atoms
from cereus.reference import par as reference
from tests.volume import volume

from .random_programs import inputs, programs

Row = tuple[int, frozenset[str], Completion]
streams = st.lists(inputs(length=10) | st.just([]), min_size=1, max_size=4)


def expected(program: Program, keys: list[list[Symbol]]) -> list[Row]:
    """One program per key; the events with output or completion."""
    shown = [each for events in keys for each in reference.run(program, events)]
    return [(row, *each) for row, each in enumerate(shown) if each.output or each.completion]


def rows(runner: MachineRunner, keys: list[list[Symbol]], states: np.ndarray) -> list[Row]:
    machine = runner.machine
    letters = (machine.letter(symbol) for events in keys for symbol in events)
    starts = np.cumsum([0, *map(len, keys[:-1])], dtype=np.int64)
    classes = np.array([machine.class_of[letter] for letter in letters], np.int32)
    return [
        (int(row), machine.output_sets[output], Completion(completion))
        for found in runner.feed(classes, starts, states)
        for row, output, completion in zip(*found, strict=True)
    ]


@settings(max_examples=volume(15, 125))
@given(programs(leaves=8), streams, st.integers(1, 5))
def test_every_key_runs_the_program_by_itself(
    program: Program, keys: list[list[Symbol]], chunk: int
) -> None:
    runner = MachineRunner(par.machine(program), chunk=chunk)
    assert rows(runner, keys, runner.start(len(keys))) == expected(program, keys)


@given(programs(leaves=8), streams, st.integers(1, 5), st.randoms())
def test_events_of_several_keys_may_come_in_any_order(
    program: Program, keys: list[list[Symbol]], chunk: int, draw: random.Random
) -> None:
    """Interleaved, every key still runs the program by itself."""
    runner = MachineRunner(par.machine(program), chunk=chunk)
    machine = runner.machine
    order = [key for key, events in enumerate(keys) for _ in events]
    draw.shuffle(order)
    coming = [iter(events) for events in keys]
    letters = [machine.letter(next(coming[key])) for key in order]
    classes = np.array([machine.class_of[letter] for letter in letters], np.int32)
    found: list[list[tuple[frozenset[str], Completion]]] = [[] for _ in keys]
    rows_found = []
    for part in runner.feed_interleaved(
        classes, np.array(order, np.int32), runner.start(len(keys))
    ):
        for row, output, completion in zip(*part, strict=True):
            rows_found.append(int(row))
            found[order[row]].append((machine.output_sets[output], Completion(completion)))
    assert rows_found == sorted(rows_found)
    assert found == [[row[1:] for row in expected(program, [events])] for events in keys]


@given(programs(leaves=8), inputs(length=20), st.lists(st.integers(0, 20), max_size=3))
def test_states_carry_over_from_call_to_call(
    program: Program, events: list[Symbol], cuts: list[int]
) -> None:
    runner = MachineRunner(par.machine(program))
    states, found = runner.start(), list[Row]()
    bounds = [0, *sorted(min(cut, len(events)) for cut in cuts), len(events)]
    for start, end in pairwise(bounds):
        part = rows(runner, [events[start:end]], states)
        found += [(row + start, output, completion) for row, output, completion in part]
    assert found == expected(program, [events])


def test_a_program_that_has_completed_stays_silent() -> None:
    runner = MachineRunner(par.machine("a[A]"))
    a = frozenset(atoms(par.parse("a")))
    states = runner.start(2)
    assert rows(runner, [[a, a, a], [a, a]], states) == [
        (0, frozenset("A"), Completion.SUCCESS),
        (3, frozenset("A"), Completion.SUCCESS),
    ]
    assert rows(runner, [[a], [a]], states) == []


def test_no_events_and_no_keys() -> None:
    runner = MachineRunner(par.machine("a[A]"))
    none = np.zeros(0, np.int32)
    assert list(runner.feed(none, np.zeros(0, np.int64), none)) == []
    assert list(runner.feed(none, np.zeros(1, np.int64), runner.start())) == []


@pytest.mark.parametrize(
    ("classes", "key_starts", "states", "message"),
    [
        ([0, 9], [0], [0], "class outside"),
        ([0, -1], [0], [0], "class outside"),
        ([0, 0], [0], [7], "state outside"),
        ([0, 0], [1], [0], "key_starts"),
        ([0, 0], [0, 3], [0, 0], "key_starts"),
        ([0, 0], [0, 1], [0], "states"),
        ([0, 0], [], [], "no key"),
    ],
)
def test_what_the_compiled_pass_relies_on_is_checked(
    classes: list[int], key_starts: list[int], states: list[int], message: str
) -> None:
    runner = MachineRunner(par.machine("a[A]"))
    arrays = np.array(classes, np.int32), np.array(key_starts, np.int64), np.array(states, np.int32)
    with pytest.raises(ValueError, match=message):
        list(runner.feed(*arrays))
