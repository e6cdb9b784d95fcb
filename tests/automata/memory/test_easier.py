"""Which values satisfy a condition more easily: whatever else it reads, and whatever is added to
totals later, it holds for the easier value wherever it holds for the other."""

from __future__ import annotations

from math import inf, isfinite, nan
from operator import ge, gt, le, lt
from random import Random
from typing import Any

from cereus.automata.memory.easier import GREATER, easier, may_not_fit
from cereus.automata.memory.terms import Term, constant, leaf
from tests.volume import volume

SIGNS = {"<": lt, "<=": le, ">": gt, ">=": ge}
FLOATS, INTEGERS, SUMS, COUNTS = (0, 1, 2, 3), (4, 5, 6), (7, 8), (9, 10)
HOWS = (
    "set", "sum float", "min float", "max float", "set", "min int", "max int", "sum int",
    "carry int", "count", "tally",
)  # fmt: skip
"""What fills the holes: floats, integers, a sum with its carry, and numbers of values."""
WILD = (0.0, 1.0, -1.0, 2.5, 1e308, -1e308, 1.7e308, -1.7e308, 5e-324, inf, -inf, nan)
TAME = (0.0, 1.0, -1.0, 2.5, -3.0, 0.5)
EXTREME = (0.0, 1.0, inf, -inf)
FACTORS = (1.0, 2.0, 0.5, 1e308, 1e200, 1e-300)
Values = list[Any]


def whole(draw: Random) -> Term:
    kind = draw.randrange(4)
    if kind == 0:
        return Term("join int", tuple(map(leaf, SUMS)))
    return constant(draw.randrange(-3, 9)) if kind == 1 else leaf(draw.choice(INTEGERS + COUNTS))


def number(draw: Random, depth: int = 3) -> Term:
    kind = draw.randrange(9 if depth else 4)
    if kind < 2:
        return leaf(draw.choice(FLOATS))
    if kind == 2:
        return Term("to float", (whole(draw),))
    if kind == 3:
        return constant(draw.choice((0.0, -1.0, *FACTORS)))
    op = draw.choice(("add", "add", "multiply", "divide", "subtract"))
    if op in ("multiply", "divide") and draw.randrange(3):
        scaled = number(draw, depth - 1), constant(draw.choice(FACTORS))
        return Term(f"{op} float", scaled)
    return Term(f"{op} float", (number(draw, depth - 1), number(draw, depth - 1)))


def condition(draw: Random) -> Term:
    kind = draw.choice(("float", "float", "float", "int"))
    sides = (number(draw), number(draw)) if kind == "float" else (whole(draw), whole(draw))
    return Term(f"{draw.choice(tuple(SIGNS))} {kind}", sides)


def value(term: Term, values: Values) -> Any:
    op, operands = term
    if op == "leaf":
        return values[operands[0]]
    if op == "constant":
        return operands[0]
    known = [value(each, values) for each in operands]
    if None in known:
        return None
    if op == "to float":
        return float(known[0])
    x, y = known
    if op == "join int":
        return x + y * 2**32
    if op == "divide float":
        return x / y if y else None
    if op in ("add float", "subtract float"):
        return x + y if op == "add float" else x - y
    return x * y if op == "multiply float" else SIGNS[op.partition(" ")[0]](x, y)


def drawn(draw: Random, place: int, reals: tuple[float, ...]) -> Any:
    if place in FLOATS:
        return draw.choice(reals)
    return draw.randrange(4) if place in COUNTS else draw.randrange(-4, 5)


def later(how: str, before: Any, added: Any) -> Any:
    """A value after one more event."""
    if how == "set" or before is None:
        return before
    if how.startswith(("sum", "carry", "count", "tally")):
        return before + added
    if added != added:
        return before
    return min(before, added) if how.startswith("min") else max(before, added)


def test_what_holds_for_a_value_holds_for_an_easier_one() -> None:
    known = held = 0
    for seed in range(volume(6_000, 60_000)):
        draw = Random(seed)
        term, reals = condition(draw), draw.choice((TAME, WILD, EXTREME))
        ways = [easier(term, HOWS, place) for place in range(len(HOWS))]
        places = [place for place, way in enumerate(ways) if way]
        known += len(places)
        for _ in range(3):
            other = [drawn(draw, place, reals) for place in range(len(HOWS))]
            one = list(other)
            for place in places:
                new = drawn(draw, place, reals)
                better = new > one[place] if ways[place] == GREATER else new < one[place]
                if better and isfinite(new) and isfinite(one[place]):
                    one[place] = new
            for _ in range(draw.randrange(3)):
                for place, how in enumerate(HOWS):
                    added = drawn(draw, place, reals)
                    one[place] = later(how, one[place], added)
                    other[place] = later(how, other[place], added)
            if value(term, other):
                held += 1
                assert value(term, one), (seed, term, one, other)
    assert known > 3_000 and held > 3_000


def test_sums_with_a_carry_may_not_fit() -> None:
    halves = Term("join int", (leaf(0), leaf(1)))
    joined = Term("< int", (halves, leaf(2)))
    assert [may_not_fit(joined, place) for place in range(3)] == [True, True, False]
