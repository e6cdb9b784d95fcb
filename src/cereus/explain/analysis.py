"""Analyses a plan before the first event: its letters, its states, what may go wrong."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from cereus.automata.explore import Edge, Explored, explore, explore_deterministic
from cereus.automata.model import marks
from cereus.clauses.tree import EventWindow, TimeWindow
from cereus.explain.description import Description
from cereus.explain.listing import lists_exponentially
from cereus.explain.slowness import is_long, slowness
from cereus.explain.wording import test_text
from cereus.plan.alphabet import ONLY_TYPE, Alphabet, alphabet
from cereus.plan.plan import Plan

GROWS = (
    "no WITHIN: partial matches are kept for ever, so state grows with the stream; "
    "add WITHIN 10 minutes, or WITHIN 1000 EVENTS"
)
MANY_MATCHES = (
    "an event may end exponentially many matches, one for each set of events that a repetition may "
    "take: up to 2^n of n events"
)


@dataclass(frozen=True)
class PlanAnalysis:
    """The automaton of a plan over the letters that can occur, without conditions between events
    (whose automata depend on the values): `plan` is the skeleton of the `full_plan`."""

    full_plan: Plan
    description: Description

    @cached_property
    def plan(self) -> Plan:
        return self.description.skeleton(self.full_plan)

    @cached_property
    def alphabet(self) -> Alphabet:
        return alphabet(self.plan.tests, self.plan.stream)

    @cached_property
    def built(self) -> Explored:
        """The automaton as constructed, nondeterministic."""
        return explore(self.plan.automaton, self.alphabet.letters)

    @cached_property
    def run(self) -> Explored:
        """The automaton as it runs, I/O-deterministic."""
        return explore_deterministic(self.plan.automaton, self.alphabet.letters)

    @cached_property
    def joint(self) -> Explored:
        """The automaton as it runs with registers, if it has any."""
        if not self.full_plan.traits.registers or self.full_plan.tests != self.plan.tests:
            return self.run
        return explore_deterministic(self.full_plan.automaton, self.alphabet.letters)

    # ------------------------------------------------------------ questions

    @property
    def impossible_tests(self) -> list[int]:
        """Tests that no event passes, because they contradict themselves."""
        if not self.alphabet.complete:
            return []
        passed = 0
        for letter in self.alphabet.letters:
            passed |= letter
        return [bit for bit in range(len(self.plan.tests)) if not passed >> bit & 1]

    @property
    def never_matches(self) -> bool:
        """Whether it is proved that the plan never matches; False may also mean that it is not
        known."""
        if not (
            self.alphabet.complete
            and self.built.complete
            and self.description.only_adds(self.full_plan)
        ):
            return False
        if not self.built.useful.intersection(self.built.initial):
            return True
        window = self.plan.query.window
        return isinstance(window, EventWindow) and self.shortest > window.size

    @property
    def shortest(self) -> int:
        """The fewest positions that a match spans."""
        distance = dict.fromkeys(self.built.completing, 0)
        frontier = set(self.built.completing)
        while frontier:
            frontier = {e.source for e in self.built.edges if e.target in frontier} - set(distance)
            distance.update(dict.fromkeys(frontier, max(distance.values()) + 1))
        firsts = [e for e in self.built.edges if e.source in self._unmarked and _marks(e)]
        return min((1 + distance[e.target] for e in firsts if e.target in distance), default=0)

    @cached_property
    def _unmarked(self) -> set[int]:
        """The states that are reached before anything is marked."""
        reached = set(self.built.initial)
        while True:
            more = {e.target for e in self.built.edges if e.source in reached and not _marks(e)}
            if more <= reached:
                return reached
            reached |= more

    @cached_property
    def grows(self) -> bool:
        """Whether partial matches may wait for ever: there is no window, and a state after the
        first mark can be reached again while events are skipped."""
        return self.plan.query.window is None and (
            not self.run.complete or any(not _marks(edge) for edge in self._cycles)
        )

    @property
    def repeats(self) -> bool:
        """Whether a partial match can grow without end."""
        return not self.run.complete or bool(self._cycles)

    @cached_property
    def _cycles(self) -> list[Edge]:
        return _cycles(self.run)

    @staticmethod
    def lasting(explored: Explored) -> set[int]:
        """The states that partial matches can stay in, or come back to."""
        return {edge.source for edge in _cycles(explored)}

    @cached_property
    def lists_exponentially(self) -> bool:
        """Whether it is known that an event may end exponentially many matches, all listed."""
        known = self.description.fewer_matches and not self.never_matches
        return bool(known) and lists_exponentially(self)

    @property
    def nodes_per_event(self) -> int:
        """The most nodes that one event adds to the forest: marking moves on one letter."""
        useful = self.run.useful
        counts: dict[int, int] = {}
        for edge in self.run.edges:
            if _marks(edge) and edge.target in useful:
                counts[edge.letter] = counts.get(edge.letter, 0) + 1
        return max(counts.values(), default=0)


def warnings(plan: Plan, description: Description) -> list[str]:
    """Warnings that a person should read before running the query."""
    analysis = PlanAnalysis(plan, description)
    texts = []
    if analysis.never_matches:
        texts.append(f"this pattern can never match{_why(analysis)}")
    else:
        for bit in analysis.impossible_tests:
            texts.append(f"a part of the pattern can never match: {_nothing_passes(analysis, bit)}")
    if analysis.grows and not analysis.never_matches:
        texts.append(GROWS)
    if isinstance(plan.query.window, TimeWindow) and plan.stream.time is None:
        texts.append("WITHIN a length of time needs a time column: Stream(time=…)")
    if not analysis.never_matches:
        texts += description.misread(plan)
    exponential = description.exponential(plan)
    unbounded = plan.query.window is None or is_long(plan)
    if unbounded and not exponential and analysis.lists_exponentially:
        texts.append(f"{MANY_MATCHES}; {description.fewer_matches}")
    return [*texts, *exponential, *slowness(plan)]


def _why(analysis: PlanAnalysis) -> str:
    window = analysis.plan.query.window
    if analysis.impossible_tests:
        return f": {_nothing_passes(analysis, analysis.impossible_tests[0])}"
    if isinstance(window, EventWindow) and analysis.shortest > window.size:
        return f": a match spans at least {analysis.shortest} events, WITHIN allows {window.size}"
    return ": no sequence of events satisfies it"


def _nothing_passes(analysis: PlanAnalysis, bit: int) -> str:
    test, stream = analysis.plan.tests[bit], analysis.plan.stream
    if stream.type is None and test.type not in (None, ONLY_TYPE):
        return (
            f"without a type column every event is of type {ONLY_TYPE}, none is {test.type}; "
            "* is any event"
        )
    return f"no event is {test_text(test)}"


def _marks(edge: Edge) -> bool:
    return marks(edge.label)


def _cycles(explored: Explored) -> list[Edge]:
    """The moves, after the first mark, that may be made again and again."""
    useful = explored.useful
    edges = [e for e in explored.edges if e.source in useful and e.target in useful]
    begun = _closure({e.target for e in edges if _marks(e)}, edges)
    return [e for e in edges if e.source in begun and e.source in _closure({e.target}, edges)]


def _closure(states: set[int], edges: list[Edge]) -> set[int]:
    reached, todo = set(states), list(states)
    after: dict[int, set[int]] = {}
    for edge in edges:
        after.setdefault(edge.source, set()).add(edge.target)
    while todo:
        fresh = after.get(todo.pop(), set()) - reached
        reached |= fresh
        todo += fresh
    return reached
