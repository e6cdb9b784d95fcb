"""The kernel's numbers for operations are those of the automata."""

from __future__ import annotations

from cereus.automata.memory.terms import OPERATIONS
from cereus.engine.kernel import layout
from cereus.engine.match.table import OPERATION

SYMBOLS = {
    "=": "equal", "!=": "not equal",
    "<": "less", "<=": "less or equal", ">": "greater", ">=": "greater or equal",
}  # fmt: skip


def constant(operation: str) -> str:
    """What `layout` calls an operation: `< int` is TERM_LESS_INT."""
    first, *rest = operation.split()
    words = " ".join([SYMBOLS.get(first, first), *rest])
    return f"TERM_{words.replace(' ', '_').upper()}"


def test_every_operation_has_its_place_as_its_number() -> None:
    assert {name: getattr(layout, constant(name)) for name in OPERATIONS} == OPERATION


def test_totals_of_slots_are_in_the_order_of_the_operations_that_add_them_up() -> None:
    kinds = ("SUM_INT", "SUM_FLOAT", "MIN_INT", "MAX_INT", "MIN_FLOAT", "MAX_FLOAT")
    for kind in kinds:
        update = getattr(layout, f"UPDATE_{kind}") - layout.UPDATE_SUM_INT
        assert update == getattr(layout, f"TERM_{kind}") - layout.TERM_SUM_INT


def test_compiled_modules_can_read_every_number_as_a_constant() -> None:
    numbers = {name: n for name, n in vars(layout).items() if name.isupper()}
    assert numbers and all(isinstance(n, int) and -(2**63) <= n < 2**63 for n in numbers.values())
