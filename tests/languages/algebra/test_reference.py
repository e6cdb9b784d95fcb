"""The reference evaluator: Definitions 6, 9 and 13 by hand."""

from __future__ import annotations

import pytest

from cereus.errors import DataError
from cereus.reference.algebra import (
    Instance,
    con,
    dis,
    interpret,
    neg,
    restriction_faults,
    seq,
    tim,
)

from .drawing import A, B

S = frozenset({Instance(1, 2), Instance(4, 4)})
T = frozenset({Instance(2, 3), Instance(5, 5)})


def test_definition_9() -> None:
    assert dis(S, T) == S | T
    assert con(S, T) == {Instance(1, 3), Instance(1, 5), Instance(2, 4), Instance(4, 5)}
    assert seq(S, T) == {Instance(1, 5), Instance(4, 5)}
    assert neg(con(S, T), T) == frozenset()
    assert neg(S, frozenset({Instance(2, 2)})) == {Instance(4, 4)}
    assert neg(S, frozenset({Instance(0, 2)})) == S
    assert tim(con(S, T), 2) == {Instance(1, 3), Instance(2, 4), Instance(4, 5)}


def test_definition_6_one_instance_of_a_primitive_at_a_time() -> None:
    with pytest.raises(DataError, match="A occurs twice at time 3"):
        interpret([(3, [A]), (3, [B]), (3, [A])])


FULL = [Instance(1, 4), Instance(2, 4), Instance(2, 6)]


def test_definition_13_holds() -> None:
    assert restriction_faults(FULL, [Instance(2, 4), Instance(2, 6)]) == []


@pytest.mark.parametrize(
    ("detected", "fault"),
    [
        ([Instance(2, 4), Instance(2, 6), Instance(0, 9)], "is no instance of the full semantics"),
        ([Instance(2, 4)], "nothing detected at 6"),
        ([Instance(1, 4), Instance(2, 6)], "detected at 4 from 1"),
        (FULL, "more than one instance ends at 4"),
    ],
)
def test_definition_13_fails(detected: list[Instance], fault: str) -> None:
    (found,) = restriction_faults(FULL, detected)
    assert fault in found
