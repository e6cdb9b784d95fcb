"""The options of a kernel, made from its plan."""

from __future__ import annotations

from dataclasses import dataclass

from cereus.automata.memory.chosen import LARGEST_OF_ALL, ChosenInSlots
from cereus.automata.memory.rivals import RivalRuns
from cereus.automata.memory.terms import PastKind
from cereus.automata.model import Automaton
from cereus.clauses.tree import Consume, Strategy
from cereus.engine.kernel import layout
from cereus.limits import Limits
from cereus.plan.plan import Plan
from cereus.plan.traits import CHOOSING, ChosenBy

SWEEP_AT = 1 << 16
"""Look for nodes that are no longer alive once this many were made."""

ORDER_FROM = 64
"""Order the configurations of a state once this many read an event that hardly any of them can
use."""

LEAVES_AHEAD = 1 << 12
"""Counts in the order of values have places for this many events to come, or for more."""

UNLIMITED = 1 << 62

KINDS_OF_TOTALS = {
    "sum": layout.TOTAL_SUM,
    "min": layout.TOTAL_MIN,
    "max": layout.TOTAL_MAX,
}
"""The kernel's numbers for totals over all matches."""


@dataclass(frozen=True)
class KernelOptions:
    """The options of a kernel, made from its plan.

    limit_if_distinct  a limit that holds as long as no match can be found in several ways
    parts              the parts whose events are gathered
    enough             look for no more than this many matches of an event, whichever they are
    largest            a match is reported only if no other match of the event contains it
    growing            a run that can mark an event and go on does not pass it over
                       (`automata.growing`)
    best_alone         only the best match of an event is wanted, and nothing else depends on which
                       partial matches there are
    """

    windowed: bool
    open_ended: bool
    consuming: bool
    consuming_all: bool
    limit: int | None
    max_nodes: int
    with_labels: bool
    max_configurations: int
    max_matches: int
    max_steps: int
    slots: int
    sweep_at: int = SWEEP_AT
    order_from: int = ORDER_FROM
    leaves_ahead: int = LEAVES_AHEAD
    must_show: bool = False
    watching: bool = False
    totals: tuple[int, ...] = ()
    closes: bool = False
    ends_at_marks: bool = False
    latest: bool = False
    past: tuple[PastKind, ...] = ()
    scoped: bool = False
    limit_if_distinct: int | None = None
    parts: int = 0
    enough: int | None = None
    largest: bool = False
    growing: bool = False
    best_alone: bool = False

    @classmethod
    def of(cls, plan: Plan, limits: Limits) -> KernelOptions:
        return cls(
            windowed=plan.query.window is not None,
            open_ended=plan.traits.open_ended,
            consuming=plan.query.consume is not Consume.NONE and not plan.traits.consumes_late,
            consuming_all=plan.query.consume is Consume.ANY and not plan.traits.consumes_late,
            limit=None if plan.traits.limited_late and plan.traits.limit else plan.traits.limit,
            max_nodes=limits.nodes,
            with_labels=plan.traits.labelled,
            max_configurations=limits.configurations,
            max_matches=UNLIMITED if limits.matches_per_event is None else limits.matches_per_event,
            max_steps=UNLIMITED if limits.steps_per_event is None else limits.steps_per_event,
            slots=plan.slots,
            sweep_at=SWEEP_AT,
            order_from=ORDER_FROM,
            leaves_ahead=LEAVES_AHEAD,
            must_show=plan.traits.hides and not plan.traits.chosen_late,
            totals=tuple(KINDS_OF_TOTALS[total.kind] for total in plan.totals),
            closes=plan.traits.closes,
            ends_at_marks=plan.traits.ends_at_marks,
            latest=plan.query.strategy is not Strategy.NEXT,
            past=plan.past,
            scoped=plan.scoped,
            limit_if_distinct=(
                None if plan.traits.hides or plan.traits.chosen_late else plan.traits.limit
            ),
            parts=0 if plan.gathering is None else len(plan.gathering.parts),
            enough=_enough(plan),
            largest=_has_largest(plan.automaton),
            growing=plan.traits.chosen_by in (ChosenBy.GROWTH, ChosenBy.LONGEST),
            best_alone=_best_alone(plan),
        )


def _best_alone(plan: Plan) -> bool:
    """Whether a partial match is not needed if a better one can do all that it can. Under a window
    the better ones of NEXT leave sooner, so hardly any is. CONSUME BY ANY may end the better one
    alone."""
    query, traits = plan.query, plan.traits
    waits = traits.open_ended or traits.closes or traits.hides or query.timeouts
    consumed = query.consume is Consume.ANY or traits.consumes_late or query.skip is not None
    if waits or consumed or plan.scoped or query.unfollowed is not None:
        return False
    better_lasts = query.strategy is not Strategy.NEXT or query.window is None
    return traits.chosen_by is ChosenBy.KERNEL and better_lasts


def _has_largest(automaton: Automaton) -> bool:
    """Whether the automaton reports only the largest matches among those of all scopes."""
    if isinstance(automaton, RivalRuns):
        automaton = automaton.body
    return isinstance(automaton, ChosenInSlots) and automaton.chooses == LARGEST_OF_ALL


def _enough(plan: Plan) -> int | None:
    """The LIMIT, if it does not matter which matches of an event are found: no strategy chooses
    among all of them or among those of a part."""
    query, traits = plan.query, plan.traits
    late = traits.hides or traits.open_ended or traits.closes or traits.detects
    if late or query.count or plan.scoped or query.strategy in CHOOSING:
        return None
    return query.limit
