"""Machine → program → machine: expressive completeness (§7), by a construction of our own."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from cereus import par
from cereus.errors import RefusedError
from cereus.languages.par.bisimilarity import distinguish
from cereus.languages.par.machine.machine import Machine
from cereus.languages.par.tree import Completion, Program
from tests.volume import volume

from .random_programs import machines, programs
from .test_paper import FIGURE_1


@settings(max_examples=volume(25, 60))
@given(machines())
def test_a_synthesised_program_is_bisimilar_to_its_machine(machine: Machine) -> None:
    program = par.synthesise(machine)
    assert distinguish(machine, program) is None
    assert distinguish(machine, par.machine(program)) is None


@settings(max_examples=volume(25, 60))
@given(programs(leaves=5))
def test_compiling_and_synthesising_gives_back_a_bisimilar_program(program: Program) -> None:
    assert distinguish(program, par.synthesise(par.machine(program))) is None


@pytest.mark.parametrize(
    "text",
    [
        "silent",
        "a ; b ; c",
        "repeat a[A]",
        "!repeat (a ; try b unless c)",
        "try a[A] unless (b | c)",
        "try a unless *",
        "!a[A]",
    ],
)
def test_some_programs_come_back_as_they_were(text: str) -> None:
    assert str(par.synthesise(par.machine(text))) == text


def test_figure_1_is_read_back() -> None:
    assert str(par.synthesise(FIGURE_1)) == "repeat (a ; try a[A] unless b)"  # Example 6


def test_an_event_of_no_atom_can_be_reacted_to() -> None:
    machine = par.draw(("q0", "a", "q0", "A"), ("q0", None, "end", "B", Completion.FAILURE))
    program = par.synthesise(machine)
    assert "*" in str(program)
    assert par.equivalent(machine, program)


def test_a_loop_left_by_success_and_by_failure() -> None:
    machine = par.draw(
        ("q0", "a", "q1", "A"),
        ("q1", "a", "q0"),
        ("q1", "b", "end", "B", Completion.SUCCESS),
        ("q0", "b", "end", (), Completion.FAILURE),
    )
    assert par.equivalent(machine, par.synthesise(machine))


def test_failing_is_not_arriving_in_the_state_of_silence() -> None:
    text = "!(b(w = 1)[A] | try *(w = 1) ; a(v > 1) unless (*(v > 1) ; c))"
    assert par.equivalent(par.synthesise(par.machine(text)), text)


def test_what_is_not_adequate_is_refused() -> None:
    machine = par.machine("repeat a[A]")
    broken = Machine(
        **{**vars(machine), "completion": (machine.output != 0).astype("int8")},
    )
    with pytest.raises(RefusedError, match="condition S1"):
        par.synthesise(broken)
