"""Finds the orders in which the events of a formula may be marked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from operator import or_
from typing import NamedTuple

from cereus.automata.model import Label
from cereus.languages.ceql import tree as cel

ANY_TYPE = "*"
"""The name of a leaf that any event satisfies."""


class MarkedPlace(NamedTuple):
    """One place in a formula where events are marked, and by which variables."""

    place: int
    label: Label


class LeafOrder(NamedTuple):
    """The leaves of a formula, and for each the places that may mark an event after it, as bits."""

    leaves: tuple[MarkedPlace, ...]
    after: Mapping[int, int]

    def may_follow(self, earlier: str, later: str) -> bool:
        """Whether an event of `later` may be marked after one of `earlier`."""
        behind = self._places(later)
        return any(self.after[leaf.place] & behind for leaf in self.leaves if earlier in leaf.label)

    def repeated(self) -> frozenset[str]:
        """The names that may hold several events."""
        places: dict[str, int] = {}
        for leaf in self.leaves:
            for name in leaf.label:
                places[name] = places.get(name, 0) | 1 << leaf.place
        return frozenset(
            name
            for leaf in self.leaves
            for name in leaf.label
            if self.after[leaf.place] & places[name]
        )

    def comes_first(self, name: str) -> bool:
        """Whether an event of `name` is always the first that is marked."""
        followers = self.followers()
        return not any(name in leaf.label and leaf.place in followers for leaf in self.leaves)

    def followers(self) -> frozenset[int]:
        """The places that may mark an event after another one."""
        bits = reduce(or_, self.after.values(), 0)
        return frozenset(leaf.place for leaf in self.leaves if bits >> leaf.place & 1)

    def _places(self, name: str) -> int:
        """The places where events get a name, as bits."""
        return _bits(leaf for leaf in self.leaves if name in leaf.label)


def leaf_order(formula: cel.Formula) -> LeafOrder:
    """The leaves and their order, as far as the shape of the formula shows it (it errs on the safe
    side)."""
    counter = iter(range(10**9))

    def visit(node: cel.Formula) -> LeafOrder:
        match node:
            case cel.Type(name, stream):
                label = frozenset({name} if stream is None else {name, f"{stream}>{name}"})
                place = next(counter)
                return LeafOrder((MarkedPlace(place, label),), {place: 0})
            case cel.Not():
                return LeafOrder((), {})
            case cel.As(body, variable):
                leaves, after = visit(body)
                return LeafOrder(
                    tuple(MarkedPlace(p, lab | {variable}) for p, lab in leaves), after
                )
            case cel.Project(names, body):
                leaves, after = visit(body)
                return LeafOrder(tuple(MarkedPlace(p, lab & names) for p, lab in leaves), after)
            case cel.Unless(left, _):
                return visit(left)
            case (
                cel.Sequence(left, right)
                | cel.ContiguousSequence(left, right)
                | cel.Gapped(left, right)
            ):
                return _both(visit(left), visit(right), backward=False)
            case cel.Or(operands):
                return _either([visit(part) for part in operands])
            case cel.And(left, right) | cel.All(left, right):
                return _both(visit(left), visit(right), backward=True)
            case cel.Repeated(body, _, 1):
                return visit(body)
            case cel.Iteration(body) | cel.ContiguousIteration(body) | cel.Repeated(body):
                leaves, _ = visit(body)
                return LeafOrder(leaves, dict.fromkeys((p for p, _ in leaves), _bits(leaves)))
        (body,) = node.children()
        return visit(body)

    return visit(formula)


def _bits(leaves: Iterable[MarkedPlace]) -> int:
    return reduce(or_, (1 << leaf.place for leaf in leaves), 0)


def _either(orders: list[LeafOrder]) -> LeafOrder:
    leaves = tuple(leaf for order in orders for leaf in order.leaves)
    return LeafOrder(leaves, {place: bits for each in orders for place, bits in each.after.items()})


def _both(left: LeafOrder, right: LeafOrder, *, backward: bool) -> LeafOrder:
    """The order where events of the right may come after those of the left, and the other way
    round."""
    behind, before = _bits(right.leaves), _bits(left.leaves) if backward else 0
    after = {place: bits | behind for place, bits in left.after.items()}
    after |= {place: bits | before for place, bits in right.after.items()}
    return LeafOrder(left.leaves + right.leaves, after)
