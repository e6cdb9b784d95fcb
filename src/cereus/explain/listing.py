"""Finds out whether the matches that end at one event may be exponentially many.

In `A+ ; B` each A may be taken or passed over, so n of them make 2^n matches with the same B. In `A
; B ; C` a match takes one A and one B, so there are no more than n². The automaton as it runs shows
which it is: there, two different runs mark different events. So the matches are exponentially many
exactly if two runs can part in a state, meet again, and come back to that state, on the same
events: each time round there are twice as many. Otherwise their number is a polynomial of n.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING

from cereus.automata.explore import Edge, Explored, explore_deterministic
from cereus.automata.model import NOTHING, Label
from cereus.clauses.tree import Strategy
from cereus.plan.plan import Plan

if TYPE_CHECKING:
    from cereus.explain.analysis import PlanAnalysis

MOST_PAIRS = 20_000
"""The search gives up after so many pairs of states: then nothing is known."""


def lists_exponentially(analysis: PlanAnalysis) -> bool:
    """Whether it is known that an event may end exponentially many matches, and all are listed."""
    plan, query = analysis.plan, analysis.full_plan.query
    unlisted = query.count or analysis.full_plan.traits.detects
    bounded = query.limit is not None or query.skip is not None
    if unlisted or bounded or query.strategy is not Strategy.ALL:
        return False
    if not plan.traits.hides:
        return multiplies(analysis.run)
    return multiplies(
        explore_deterministic(
            plan.automaton, analysis.alphabet.letters, seen=lambda label: seen_label(plan, label)
        )
    )


def seen_label(plan: Plan, label: Label) -> Label:
    """What of a label can be seen in a match: nothing, unless the event is marked."""
    shown = plan.label(label)
    return NOTHING if shown is None else shown or frozenset({"(not selected)"})


def multiplies(explored: Explored) -> bool:
    """Whether two runs of an I/O-deterministic automaton can part, meet again, and come back to
    where they parted, on the same events."""
    moves: dict[tuple[int, int], list[Edge]] = defaultdict(list)
    component = _components(explored)
    for edge in explored.edges:
        if component.get(edge.source) == component.get(edge.target, -1):
            moves[edge.source, edge.letter].append(edge)
    letters = sorted({letter for _, letter in moves})

    def after(one: int, other: int) -> Iterator[tuple[int, int]]:
        """The pairs of states that two runs reach with one event."""
        for letter in letters:
            for first in moves[one, letter]:
                for second in moves[other, letter]:
                    if first is not second:
                        yield first.target, second.target

    parted = {
        (first.target, second.target)
        for edges in list(moves.values())
        for first, second in combinations(edges, 2)
    }
    todo = list(parted)
    while todo and len(parted) <= MOST_PAIRS:
        one, other = todo.pop()
        if one == other:
            return True
        fresh = set(after(one, other)) - parted
        parted |= fresh
        todo += fresh
    return False


def _components(explored: Explored) -> dict[int, int]:
    """For each useful state, a number of the states that it can reach and come back from."""
    after, before = defaultdict(set), defaultdict(set)
    for edge in explored.edges:
        if edge.source in explored.useful and edge.target in explored.useful:
            after[edge.source].add(edge.target)
            before[edge.target].add(edge.source)
    component: dict[int, int] = {}
    for state in explored.useful:
        if state not in component:
            both = _reached(state, after) & _reached(state, before)
            component.update(dict.fromkeys(both, len(component)))
    return component


def _reached(state: int, after: dict[int, set[int]]) -> set[int]:
    reached, todo = {state}, [state]
    while todo:
        fresh = after.get(todo.pop(), set()) - reached
        reached |= fresh
        todo += fresh
    return reached
