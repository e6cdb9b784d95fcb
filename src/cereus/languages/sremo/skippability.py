"""Finds out whether events that satisfy no test of a SREMO can be left out of the stream.

They can if a run may skip events wherever it waits for one: between any two terminals that may
follow each other there is a (⊤↑⊗)*, or what NEXT puts there. First, last and follow are those of
Glushkov's construction.
"""

from __future__ import annotations

from dataclasses import dataclass

from cereus.clauses.tree import AttributeWindow, TimeWindow
from cereus.languages.sremo import tree as sremo

Places = frozenset[int]


class _Tight(Exception):
    """Raised where an event that satisfies no test may still matter, by its place."""


@dataclass(frozen=True)
class _Ends:
    nullable: bool
    first: Places = frozenset()
    last: Places = frozenset()


def loose(expression: sremo.Sremo) -> bool:
    """True only if leaving out such events changes no match (except for windows that count
    events)."""
    walk = _Walk()
    try:
        walk.ends(expression)
    except _Tight:
        return False
    return all(
        any(q in walk.follow[s] for s in walk.follow[p] & walk.skips)
        for p in walk.follow.keys() - walk.skips
        for q in walk.follow[p] - walk.skips
    )


class _Walk:
    def __init__(self) -> None:
        self.follow: dict[int, set[int]] = {}
        self.skips: set[int] = set()

    def ends(self, node: sremo.Sremo) -> _Ends:
        skipped, absent = sremo.stops_at(node), sremo.absent(node)
        if skipped is not None:
            waits = not skipped.is_top
        else:
            waits = node == sremo.SKIP_ANY or (absent is not None and loose(absent))
        if waits:
            place = self._place()
            self.skips.add(place)
            self.follow[place].add(place)
            return _Ends(True, frozenset({place}), frozenset({place}))
        match node:
            case sremo.Epsilon():
                return _Ends(True)
            case sremo.Nothing():
                return _Ends(False)
            case sremo.Terminal():
                if node.is_top and not node.marks:
                    raise _Tight
                taken = frozenset({self._place()})
                return _Ends(False, taken, taken)
            case sremo.Concatenation(left, right):
                one, two = self.ends(left), self.ends(right)
                self._then(one.last, two.first)
                return _Ends(
                    one.nullable and two.nullable,
                    one.first | two.first if one.nullable else one.first,
                    one.last | two.last if two.nullable else two.last,
                )
            case sremo.Disjunction(left, right):
                one, two = self.ends(left), self.ends(right)
                nullable = one.nullable or two.nullable
                return _Ends(nullable, one.first | two.first, one.last | two.last)
            case sremo.Star(body) | sremo.Plus(body) | sremo.Optional(body):
                inner = self.ends(body)
                if not isinstance(node, sremo.Optional):
                    self._then(inner.last, inner.first)
                nullable = inner.nullable or not isinstance(node, sremo.Plus)
                return _Ends(nullable, inner.first, inner.last)
            case sremo.Windowed(body, TimeWindow() | AttributeWindow()):
                return self.ends(body)
        raise _Tight

    def _place(self) -> int:
        place = len(self.follow)
        self.follow[place] = set()
        return place

    def _then(self, before: Places, after: Places) -> None:
        for place in before:
            self.follow[place] |= after
