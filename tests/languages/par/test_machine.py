"""Machines: the same behaviour as the reference, as few states as possible, and pictures."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given, settings

from cereus import par
from cereus.errors import CereusError, LimitError
from cereus.languages.par.bisimilarity import bisimilar
from cereus.languages.par.machine.alphabet import Symbol, occurrences
from cereus.languages.par.machine.construct import from_program
from cereus.languages.par.machine.derivative import step
from cereus.languages.par.machine.minimise import bisimilar_blocks, minimise
from cereus.languages.par.tree import Completion, Program, atoms
from cereus.reference import par as reference
from tests.volume import volume

from .random_programs import OVERLAPPING, atom, inputs, programs


@settings(max_examples=volume(20, 150))
@given(programs(leaves=10), inputs())
def test_the_minimal_machine_shows_what_the_reference_shows(
    program: Program, events: list[Symbol]
) -> None:
    machine, state = par.machine(program), 0
    for symbol, expected in zip(events, reference.run(program, events), strict=True):
        output, completion, state = machine.step(state, symbol)
        assert (output, completion) == expected


@given(programs(leaves=10), inputs())
def test_simplified_derivatives_are_bisimilar_to_those_of_the_rules(
    program: Program, events: list[Symbol]
) -> None:
    for symbol in events:
        taken = step(program, symbol)
        assert bisimilar(taken.after, reference.derivative(program, symbol))
        program = taken.after


@given(programs(leaves=8))
def test_no_two_states_of_a_minimal_machine_are_bisimilar(program: Program) -> None:
    machine = par.machine(program)
    assert len(set(bisimilar_blocks(machine).tolist())) == machine.states
    assert minimise(machine) == machine
    assert machine.states <= par.machine(program, minimal=False).states


@given(programs(leaves=4), programs(leaves=4))
def test_the_minimal_machine_is_canonical(left: Program, right: Program) -> None:
    common = atoms(left, right)
    same = minimise(from_program(left, common)) == minimise(from_program(right, common))
    assert same == bisimilar(left, right)


@given(programs(leaves=8))
def test_every_machine_of_a_program_is_adequate(program: Program) -> None:
    machine = par.machine(program, minimal=False)
    completes = machine.completion != 0
    assert machine.silent[machine.next_state[completes]].all()


@given(programs(leaves=6))
def test_machines_can_be_pickled(program: Program) -> None:
    machine = par.machine(program)
    assert pickle.loads(pickle.dumps(machine)) == machine


def test_types_exclude_each_other_and_conditions_are_free() -> None:
    plausible = {", ".join(sorted(map(str, symbol))) for _, symbol in occurrences(OVERLAPPING[:5])}
    assert plausible == {
        "a",
        "*(v > 1), a, a(v > 1)",
        "b",
        "*(v > 1), b",
        "c",
        "*(v > 1), c",
        "*(v > 1)",
        "",
    }


def test_letters_that_every_state_treats_alike_are_one_class() -> None:
    machine = par.machine("a | b | a(v > 1)")
    assert machine.sizes == {"states": 2, "classes": 2, "letters": 4, "atoms": 3}


def test_a_condition_on_a_type_implies_the_type_and_the_condition() -> None:
    assert par.equivalent("a | a(v > 1)", "a")
    assert par.equivalent("*(v > 1) | a(v > 1)", "*(v > 1)")
    assert not par.equivalent("a | *(v > 1)", "a")


def test_too_many_combinations_of_conditions_are_refused() -> None:
    text = " | ".join(f"LOG(x{i} > 1)" for i in range(17))
    with pytest.raises(LimitError, match="17 different conditions on events of type LOG"):
        par.machine(text)


def test_many_types_are_few_letters() -> None:
    text = " | ".join(f"t{i}[A{i}]" for i in range(100))
    assert par.machine(text).sizes == {"states": 2, "classes": 101, "letters": 101, "atoms": 100}


def test_outputs_that_never_come_are_found() -> None:
    assert par.dead_outputs("repeat a[A] ; b[B]") == {"B"}
    assert par.dead_outputs("try a[A] unless *(v > 1) | silent[C]") == {"C"}
    assert par.dead_outputs("a[A] ; b[B]") == set()


TEXT = """\
3 states, 3 classes, 3 letters, 2 atoms
q0  repeat (a ; try a[A] unless b)
    a → q1
q1  (try a[A] unless b) ; repeat (a ; try a[A] unless b)
    a / A → q0
    b / ⊥ → q2
q2  silent  (silent)"""

DOT = """\
digraph machine {
  graph [fontname="Helvetica"];
  node [fontname="Helvetica"];
  edge [fontname="Helvetica"];
  rankdir=LR;
  node [shape=circle];
  start [shape=point];
  start -> q0;
  q0 [tooltip="repeat (a ; try a[A] unless b)"];
  q0 -> q1 [label="a"];
  q1 [tooltip="(try a[A] unless b) ; repeat (a ; try a[A] unless b)"];
  q1 -> q0 [label="a / A"];
  q1 -> q2 [label="b / failure"];
  q2 [tooltip="silent", style=dashed];
}"""


def test_a_machine_shows_itself() -> None:
    machine = par.machine("repeat (a ; try a[A] unless b)")
    assert str(machine) == TEXT
    assert machine.dot() == DOT


def test_a_drawn_machine_must_be_adequate() -> None:
    with pytest.raises(CereusError, match=r"state q0 completes with ⊤ at a .* not silent"):
        par.draw(("q0", "a", "q1", "A", Completion.SUCCESS), ("q1", "a", "q0", "B"))


def test_a_drawn_machine_takes_conditions_and_other_events() -> None:
    machine = par.draw(("q0", "a(v > 1)", "q1"), ("q1", None, "end", "A", Completion.SUCCESS))
    assert [set(each.output) for each in par.run(machine, ["a", "a(v > 1)", "b"])] == [
        set(),
        set(),
        {"A"},
    ]
    assert machine.atoms == (atom("a(v > 1)"),)
