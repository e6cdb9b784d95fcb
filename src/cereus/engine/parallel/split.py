"""Decides how the input of a query may be cut into independent parts.

By time: a match that depends on nothing outside its window is found by whoever reads the window. So
the input is cut into slices, and each is read together with one window before it. By key: what
happens in one key does not depend on the others, so keys are dealt out. Spark's batches are cut by
the same rules.
"""

from __future__ import annotations

from dataclasses import dataclass

from cereus.clauses.tree import Consume, EventWindow, Window
from cereus.plan.plan import Plan
from cereus.plan.traits import COUNTS_EVENTS

Path = tuple[str, ...]
FEW = 4
"""The number of threads that reading keeps busy where matching is `light`."""


@dataclass(frozen=True)
class Split:
    """The cuts that a query allows.

    keys      the columns whose values may be dealt out; () if none may
    window    the length that slices overlap by, in time or in rows; None if there are no slices
    pieces    what the input falls into when all of it was read; "" if nothing
    ahead     events are tested one by one, which threads may do before they are read
    light     matching costs little beside reading: a few threads share the reading alone, which
              costs less than to deal out keys
    uncut     batches are read as they come, in one piece: what is found depends on where they end
    why_not   why there is no slice, or no cut at all
    """

    keys: tuple[Path, ...] = ()
    window: Window | None = None
    pieces: str = ""
    ahead: bool = True
    light: bool = False
    uncut: bool = False
    why_not: str = ""

    @property
    def possible(self) -> bool:
        return bool(self.keys) or self.window is not None

    @property
    def shared(self) -> bool:
        """Whether there is any work that several threads may share."""
        return self.possible or bool(self.pieces) or self.ahead

    def words(self) -> str:
        """The text for `explain`."""
        names = ", ".join(".".join(path) for path in self.keys)
        if self.window is not None:
            dealt = f"; where times are not in order, {names} is dealt out" if names else ""
            slices = "slices" if isinstance(self.window, EventWindow) else "slices of time"
            return f"the input is cut into {slices} that overlap by the window{dealt}"
        if self.keys:
            few = f"up to {FEW} test events ahead, and one matches; " if self.light else ""
            more = "of more, " if self.light else ""
            return f"{few}{more}the values of {names} are dealt out"
        if self.pieces:
            return f"all rows are read, then {self.pieces} are dealt out"
        ahead = ", and the others test events ahead" if self.ahead else ""
        return f"one{ahead}: {self.why_not}"


def apart(plan: Plan) -> tuple[Path, ...]:
    """The keys of a plan, if what happens in one does not depend on the others."""
    return () if plan.query.consume is Consume.ANY else plan.keys


def _counts_rows(plan: Plan) -> bool:
    """Whether the window counts rows of the input: every row is an event, and all have one key.
    Slices must overlap too; otherwise time that goes backwards between two of them would not be
    seen."""
    one_key = not plan.keys and not plan.query.streams and plan.stream.where is None
    window = plan.query.window
    return one_key and isinstance(window, EventWindow) and window.size > 1


def split_of_plan(plan: Plan) -> Split:
    """The cuts that a plan for the automaton kernel allows."""
    keys, reason = apart(plan), plan.traits.looks_back
    if reason == COUNTS_EVENTS and _counts_rows(plan):
        reason = None
    if plan.query.unfollowed is not None:
        return Split(why_not="NOT FOLLOWED BY makes matches wait for each other's events")
    if plan.traits.limit is not None:
        reason = "LIMIT keeps the first matches of an event, as one thread finds them"
        return Split(uncut=True, why_not=reason)
    if plan.query.timeouts:
        return Split(
            why_not="WITH TIMEOUTS reads the windows of all starts at the end of each batch"
        )
    if reason is None and plan.traits.emits_late:
        reason = "matches are emitted after later events"
    if plan.keys and not keys:
        reason = "CONSUME BY ANY lets a match of one key end those of all"
    window = plan.query.window if reason is None else None
    return Split(keys, window, why_not=reason or "there is no key")
