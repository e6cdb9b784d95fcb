"""Writes out counts and options, for a language that has neither.

`φ{2,3}` is `(φ ; φ) OR (φ ; φ ; φ)`, and `φ? ; ψ` is `ψ OR (φ ; ψ)`.
"""

from __future__ import annotations

from functools import reduce
from itertools import islice
from operator import or_

from cereus.languages.ceql import tree as cel
from cereus.languages.ceql.operators.counts import may_be_nothing
from cereus.syntax.tree import rebuild
from cereus.translate.limits import refused

MOST_PARTS = 500


def unrolled(formula: cel.Formula) -> cel.Formula:
    """The same pattern without counts and options; refused if it would become too long."""
    made = _unrolled(formula)
    if any(islice(made.walk(), MOST_PARTS, None)):  # parts are shared: there may be 2**300
        raise refused(
            formula,
            f"counts and options are written out, and here that makes more than {MOST_PARTS} parts",
            "use smaller counts",
        )
    return made


def _unrolled(node: cel.Formula) -> cel.Formula:
    match node:
        case cel.Optional(body):
            return _unrolled(body)
        case cel.Gapped() | cel.Repeated(gap=cel.GapLength()):
            raise refused(node, "SREMO has no gaps between events", "compare times with FILTER")
        case cel.Within():
            raise refused(node, "in CEQL's translation to SREMO only a whole pattern has a window")
        case cel.Repeated():
            return _rounds(node)
    made = rebuild(node, _unrolled)
    if not isinstance(node, cel.Sequence | cel.ContiguousSequence | cel.All):
        return made
    left, right = made.children()
    alone = [right] if may_be_nothing(node.left) else []
    alone += [left] if may_be_nothing(node.right) else []
    return reduce(or_, alone, made)


def _rounds(node: cel.Repeated) -> cel.Formula:
    body = _unrolled(node.body)
    fewest = 1 if may_be_nothing(node.body) else max(node.least, 1)
    most = fewest if node.most is None else node.most
    if most * (most + 1) > 2 * MOST_PARTS:
        raise refused(node, f"written out, {most} rounds are too long", "use smaller counts")
    if node.most is None:
        last = cel.ContiguousIteration if node.contiguous else cel.Iteration
        return _in_a_row([*[body] * (fewest - 1), last(body)], node.contiguous)
    rounds = [_in_a_row([body] * count, node.contiguous) for count in range(fewest, most + 1)]
    return reduce(or_, rounds)


def _in_a_row(parts: list[cel.Formula], contiguous: bool) -> cel.Formula:
    join = cel.ContiguousSequence if contiguous else cel.Sequence
    return reduce(join, parts)
