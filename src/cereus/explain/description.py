"""What explain needs from a language to describe the plans of its patterns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from cereus.automata.model import Slot
from cereus.plan.plan import Plan

if TYPE_CHECKING:
    from cereus.explain.analysis import PlanAnalysis


class Description(ABC):
    """How one language describes its plans. What is not abstract fits a language without
    conditions between events.

    positions      what in this language looks at the positions of events
    fewer_matches  how to get fewer matches than there are sets of events; empty if its automata
                   do not tell how many there are
    """

    positions: ClassVar[str]
    fewer_matches: ClassVar[str] = ""

    @abstractmethod
    def query_text(self, plan: Plan) -> str:
        """The query as it was understood, printed."""

    def stages(self, plan: Plan) -> Iterator[str]:
        """The stages of a text before there is an automaton: parsing and rewriting."""
        return iter(())

    def between(self, analysis: PlanAnalysis) -> Iterator[str]:
        """The conditions between events, and what is remembered for them."""
        return iter(())

    def skeleton(self, plan: Plan) -> Plan:
        """The plan without conditions between events: the part that can be explored before any
        values are known."""
        return plan

    def only_adds(self, plan: Plan) -> bool:
        """Whether the skeleton has every match of the plan: nothing is negated, nothing chosen."""
        return True

    def conditions(self, plan: Plan) -> list[str]:
        """The conditions between events, printed as they stand in the query."""
        return []

    def exponential(self, plan: Plan) -> list[str]:
        """A warning for each condition that may remember as many values as there are sets of
        events."""
        return []

    def misread(self, plan: Plan) -> list[str]:
        """A warning for each part of the pattern that people tend to misread."""
        return []

    def slot_values(self, plan: Plan) -> dict[Slot, str]:
        """The contents of slots that belong to no comparison of the automaton."""
        return {}

    def values_read(self, plan: Plan) -> list[str] | None:
        """The values that states remember; None if the language does not know."""
        return None

    def each_match(self, names: tuple[str, ...]) -> str:
        """The meaning of a row of the result, if variables are selected."""
        return f"each binding of {', '.join(names)} once, with the latest start"
