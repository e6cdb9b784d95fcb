"""In which order the events of a formula may be marked."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

from cereus.automata.model import Label
from cereus.languages.ceql import tree as cel


class MarkedPlace(NamedTuple):
    """One place in a formula where events are marked, and by which variables."""

    place: int
    label: Label


class Order(NamedTuple):
    """The leaves of a formula, and which of them may mark an event before which other."""

    leaves: tuple[MarkedPlace, ...]
    before: frozenset[tuple[int, int]]

    def may_follow(self, earlier: str, later: str) -> bool:
        """Whether an event of `later` may be marked after one of `earlier`."""
        firsts = [leaf.place for leaf in self.leaves if earlier in leaf.label]
        seconds = [leaf.place for leaf in self.leaves if later in leaf.label]
        return any(pair in self.before for pair in product(firsts, seconds))

    def repeated(self) -> frozenset[str]:
        """The names that may hold several events."""
        labels = {leaf.place: leaf.label for leaf in self.leaves}
        return frozenset(
            name for earlier, later in self.before for name in labels[earlier] & labels[later]
        )

    def comes_first(self, name: str) -> bool:
        """Whether an event of `name` is always the first that is marked."""
        followers = {second for _, second in self.before}
        return not any(name in leaf.label and leaf.place in followers for leaf in self.leaves)


def leaf_order(formula: cel.Formula) -> Order:
    """Leaves and their order, as far as the formula's shape shows it (it errs on the safe side)."""
    counter = iter(range(10**9))

    def visit(node: cel.Formula) -> Order:
        match node:
            case cel.Type(name, stream):
                label = frozenset({name} if stream is None else {name, f"{stream}>{name}"})
                return Order((MarkedPlace(next(counter), label),), frozenset())
            case cel.Not():
                return Order((), frozenset())
            case cel.As(body, variable):
                leaves, before = visit(body)
                return Order(tuple(MarkedPlace(p, lab | {variable}) for p, lab in leaves), before)
            case cel.Project(names, body):
                leaves, before = visit(body)
                return Order(tuple(MarkedPlace(p, lab & names) for p, lab in leaves), before)
            case cel.Unless(left, _):
                return visit(left)
            case (
                cel.Sequence(left, right)
                | cel.ContiguousSequence(left, right)
                | cel.Gapped(left, right)
            ):
                return _both(visit(left), visit(right), forward=True, backward=False)
            case cel.Or(operands):
                return _either([visit(part) for part in operands])
            case cel.And(left, right) | cel.All(left, right):
                return _both(visit(left), visit(right), forward=True, backward=True)
            case cel.Repeated(body, _, 1):
                return visit(body)
            case cel.Iteration(body) | cel.ContiguousIteration(body) | cel.Repeated(body):
                leaves, _ = visit(body)
                return Order(leaves, _pairs(leaves, leaves))
        (body,) = node.children()
        return visit(body)

    return visit(formula)


def _pairs(
    first: tuple[MarkedPlace, ...], second: tuple[MarkedPlace, ...]
) -> frozenset[tuple[int, int]]:
    return frozenset((a.place, b.place) for a in first for b in second)


def _either(orders: list[Order]) -> Order:
    leaves = tuple(leaf for order in orders for leaf in order.leaves)
    return Order(leaves, frozenset[tuple[int, int]]().union(*(order.before for order in orders)))


def _both(left: Order, right: Order, *, forward: bool, backward: bool) -> Order:
    before = left.before | right.before
    if forward:
        before |= _pairs(left.leaves, right.leaves)
    if backward:
        before |= _pairs(right.leaves, left.leaves)
    return Order(left.leaves + right.leaves, before)
