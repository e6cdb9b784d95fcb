"""Decides whether a plan may gather the events of each part of an ALL on its own."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from cereus.automata.beside import Interleaving
from cereus.automata.construct import ConcatenationAutomaton
from cereus.automata.gathering import Gathering, atoms_of
from cereus.automata.model import Automaton, Label
from cereus.automata.selection import NamedAutomaton
from cereus.clauses.tree import Strategy

if TYPE_CHECKING:
    from cereus.plan.plan import Plan

FEWEST_PARTS = 5
"""With fewer parts, ALL has so few states that gathering gains nothing."""


def gathering_of(plan: Plan) -> Gathering | None:
    """The automaton that gathers the events of an ALL of single events, maybe followed by one
    event. None if an automaton has to follow the matches: they are compared, or totals of them are
    kept, or not all of their events are shown."""
    body = plan.automaton
    if isinstance(body, NamedAutomaton):
        body = body.body
    last: tuple[Automaton, ...] = ()
    if isinstance(body, ConcatenationAutomaton) and not (body.contiguous or body.right_optional):
        last = (body.right,)
        body = body.left
    if not isinstance(body, Interleaving) or len(body.parts) < FEWEST_PARTS:
        return None
    if any(body.optional) or _asks_for_more(plan):
        return None
    parts = (*body.parts, *last)
    kinds = [_types(part, plan) for part in parts]
    alone = all(kinds) and not any(one & other for one, other in combinations(kinds, 2))
    return Gathering(parts, ends=bool(last)) if alone else None


def _asks_for_more(plan: Plan) -> bool:
    query, traits = plan.query, plan.traits
    late = query.skip is not None or query.unfollowed is not None or query.timeouts
    chooses = query.strategy is not Strategy.ALL
    return bool(query.totals or late or chooses or traits.correlated or traits.hides)


def _types(part: Automaton, plan: Plan) -> frozenset[str]:
    """The types of the events that a part takes. Empty if the part does not take one event in one
    way, if the event may be of any type, or if it is not shown."""
    atoms = atoms_of(part) or []
    tests = [plan.tests[atom.bit] for atom in atoms]
    types = frozenset(test.type for test in tests if test.type is not None)
    typed = all(test.type is not None and not test.negated for test in tests)
    shown = _shown(part, plan)
    one_way = len(shown) == 1 or len(types) == len(tests)
    return types if typed and one_way and all(shown) else frozenset()


def _shown(part: Automaton, plan: Plan) -> set[Label | None]:
    """The visible labels of the events that the part takes."""
    letter = (1 << len(plan.tests)) - 1
    moves = (move for begin in part.initial() for move in part.moves(begin, letter))
    return {plan.label(move.label) for move in moves if move.label}
