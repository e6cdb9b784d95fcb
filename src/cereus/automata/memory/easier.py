"""Says which values satisfy a condition more easily: for `a.x < b.x`, smaller values of `a.x`.

Of two partial matches in one state, one can do all that the other can if its values are easier to
satisfy, whatever comes. So where few matches are wanted, the other may be left out
(`engine.kernel.scopes`). That takes a side of a comparison that never falls while the value grows:

* Rounding keeps the order, and what is added later to two totals leaves the greater one greater.
* Integers that overflow become NULL, for which no condition holds. So nothing is known of
  arithmetic with them, except of sums with their carries: the kernel notes where these overflow.
* Floats that overflow are infinite, which is as great as can be. But infinities of both signs add
  up to NaN, for which no condition holds either. Where the greater value has become NaN and the
  other has not, the other is infinite with the wrong sign: `<` and `>` do not hold for it, but `<=`
  and `>=` may. For these, nothing that depends on the value may overflow before something is added
  to it. The value itself does not: the kernel compares finite ones only, and later events make the
  extremes of both infinite, or of none; only a sum may overflow alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from cereus.automata.memory.terms import Term, has_hole, leaf
from cereus.automata.memory.totals import COUNTS, TOTALS

SMALLER, GREATER = "smaller", "greater"
ON_THE_LEFT = {"<": SMALLER, "<=": SMALLER, ">": GREATER, ">=": GREATER}
"""The values of the left side that satisfy a comparison more easily."""
OPPOSITE = {SMALLER: GREATER, GREATER: SMALLER}


def easier(condition: Term, hows: Sequence[str], place: int) -> str:
    """Which values in a hole of a condition satisfy it more easily: the `smaller` or the `greater`;
    "" if neither is known to. `hows` says of each hole what fills it (`filters.Value`)."""
    op, sides = condition
    on_the_left = ON_THE_LEFT.get(op.partition(" ")[0])
    if on_the_left is None or hows[place] not in ("set", *TOTALS):
        return ""
    depending = [side for side in sides if has_hole(side, place)]
    if len(depending) != 1 or not _grows(depending[0], hows, place):
        return ""
    if "=" in op and (hows[place] == "sum float" or _adds_infinities(depending[0], place)):
        return ""
    return on_the_left if depending[0] is sides[0] else OPPOSITE[on_the_left]


def _grows(term: Term, hows: Sequence[str], place: int) -> bool:
    """Whether a term never falls while the value in a hole grows."""
    op, operands = term
    if op in ("to float", "join int", "add float"):
        return all(_grows(each, hows, place) for each in operands if has_hole(each, place))
    if op in ("multiply float", "divide float"):
        body, scale = operands
        positive = _is_positive(scale) or (op == "divide float" and _is_count(scale, hows))
        return positive and not has_hole(scale, place) and _grows(body, hows, place)
    return term == leaf(place)


def _is_positive(term: Term) -> bool:
    """Whether a term is a finite constant above zero."""
    if term.op == "to float":
        return _is_positive(term.operands[0])
    return term.op == "constant" and term.operands[0] is not None and 0 < term.operands[0] < inf


def _is_count(term: Term, hows: Sequence[str]) -> bool:
    """Whether a term is a number of values, as of a mean; what is divided by none is NULL."""
    (first, *_) = term.operands
    return term.op == "to float" and first.op == "leaf" and hows[first.operands[0]] in COUNTS


def _adds_infinities(term: Term, place: int) -> bool:
    """Whether what depends on a hole may be infinite where something is added to it, although the
    value in the hole is finite."""
    depending = [part for part in _parts(term) if has_hole(part, place)]
    computed = [part for part in depending if part != leaf(place)]
    return (term.op == "add float" and not all(_largest(part) < inf for part in computed)) or any(
        _adds_infinities(part, place) for part in depending
    )


def _largest(term: Term) -> float:
    """What the absolute value of a term of floats does not exceed, as far as integers and constants
    bound it."""
    op, operands = term
    if op == "constant":
        return abs(float(operands[0] or 0))
    if op == "to float":
        return _largest(operands[0]) if operands[0].op == "constant" else 2.0**63
    if op == "add float":
        return _largest(operands[0]) + _largest(operands[1])
    if op == "multiply float":
        return _largest(operands[0]) * _largest(operands[1])
    if op == "divide float" and operands[1].op == "to float":
        return _largest(operands[0])  # by an integer, which is not 0: that is NULL
    if op == "divide float" and _is_positive(operands[1]):
        return _largest(operands[0]) / _largest(operands[1])
    return inf


def is_float(term: Term, place: int) -> bool:
    """Whether a term reads the value in a hole as a float."""
    parts = _parts(term)
    if leaf(place) in parts:
        return term.op.endswith(" float") and term.op != "to float"
    return any(is_float(part, place) for part in parts)


def may_not_fit(term: Term, place: int) -> bool:
    """Whether a hole is half of a sum of integers that is NULL where it does not fit 64 bits."""
    parts = _parts(term)
    return (term.op == "join int" and leaf(place) in parts) or any(
        may_not_fit(part, place) for part in parts
    )


def _parts(term: Term) -> list[Term]:
    return [each for each in term.operands if isinstance(each, Term)]
