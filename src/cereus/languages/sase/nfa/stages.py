"""The parts of an NFA^b (§3.1): states, and the conditions of their edges.

States are in a line: for each component the state that selects its first event, and for a Kleene
plus then the one that selects more. Conditions are only named here; how they are decided depends on
how runs remember values (`memory`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from cereus.automata.model import Label
from cereus.languages.sase.tree import Strategy


class Question(NamedTuple):
    """A conjunction of clauses, about a run and the event at hand.

    bit     the test of the event alone; None if there is none
    others  the clauses that compare events: expressions, or one term (`automata.memory.terms`)
    at      the variable that the event at hand is read for, which it is the `first` of
    after   about the array with the event at hand added to it
    """

    bit: int | None = None
    others: Any = ()
    at: str | None = None
    first: bool = True
    after: bool = False


class NfaStage(NamedTuple):
    """A select-first state, or with `more` a select-more state.

    select     θ_select
    partition  the part of it that defines partitions (§2.2.1)
    last       the condition on the proceed edge (`a[a.LEN]`, `sum(a[].x)`), of a select-more state
    last_now   the same, for the array with the event that is being selected here
    """

    component: int
    variable: str
    more: bool
    kleene: bool
    strategy: Strategy
    stops: bool
    select: Question
    partition: Question
    last: Question | None = None
    last_now: Question | None = None

    @property
    def label(self) -> Label:
        return frozenset({self.variable})


Literal = tuple[bool, Question]
"""A question, and the answer that a move needs."""
Literals = tuple[Literal, ...]


def skips(stage: NfaStage) -> list[Literals]:
    """θ_skip (Table 1): the ways in which an event may be ignored."""
    match stage.strategy:
        case Strategy.STRICT:
            return []
        case Strategy.PARTITION:
            return [((False, stage.partition),)]
        case Strategy.NEXT:
            return [((False, stage.select),)]
        case Strategy.ANY:
            return [()]


def stuck(stage: NfaStage) -> list[Literals]:
    """The ways in which an event can neither be selected nor ignored."""
    match stage.strategy:
        case Strategy.STRICT:
            return [((False, stage.select),)]
        case Strategy.PARTITION:
            return [((False, stage.select), (True, stage.partition))]
        case Strategy.NEXT | Strategy.ANY:
            return []
