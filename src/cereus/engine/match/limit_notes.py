"""Handles a limit that is reached: it raises an error, or adds a note to the results."""

from __future__ import annotations

from cereus.engine.kernel.layout import (
    TOO_MANY_CONFIGURATIONS,
    TOO_MANY_MATCHES,
    TOO_MANY_NODES,
    TOO_MANY_STEPS,
)
from cereus.errors import LimitError
from cereus.limits import Limits

MOST_NOTES = 1000
"""This many notes about what was left out are kept one by one; later ones are only counted."""
EXCEEDED = {
    TOO_MANY_NODES: ("nodes", "nodes of partial matches are alive", "add or shorten WITHIN"),
    TOO_MANY_CONFIGURATIONS: (
        "configurations",
        "configurations are alive",
        "add or shorten WITHIN, compare fewer values",
    ),
    TOO_MANY_MATCHES: ("matches_per_event", "matches end", "write LIMIT, NEXT or MAX"),
    TOO_MANY_STEPS: (
        "steps_per_event",
        "steps were made",
        "add or shorten WITHIN, compare fewer values",
    ),
}
"""For each limit: its name, what there is too much of, and what to do about it."""
LEFT_OUT = {
    TOO_MANY_NODES: "its partial matches were dropped",
    TOO_MANY_CONFIGURATIONS: "its partial matches were dropped",
    TOO_MANY_MATCHES: "the others were left out",
    TOO_MANY_STEPS: "its partial matches were dropped",
}


class LimitNotes:
    """Notes about what was left out because a limit was reached."""

    def __init__(self, limits: Limits, text: str) -> None:
        self._limits, self._text = limits, text
        self.notes: list[str] = []
        self._more = 0

    def reached(self, state: int, where: str) -> None:
        """Refuse to go on, unless the limits allow shedding; then note it."""
        name, what, advice = EXCEEDED[state]
        reached = f"more than {getattr(self._limits, name):,} {what} at {where}"
        if not self._limits.shed:
            raise LimitError(
                f"{reached}\n  in: {self._text}",
                hint=f"{advice}, raise Limits({name}=…), or go on with less: Limits(shed=True)",
            )
        self._add(f"{reached}: {LEFT_OUT[state]}")

    def _add(self, note: str) -> None:
        """Add a note. The first ones are kept; later ones are counted."""
        if len(self.notes) < MOST_NOTES:
            self.notes.append(note)
        else:
            self._more += 1
            self.notes[MOST_NOTES:] = [f"… and {self._more:,} times more"]
