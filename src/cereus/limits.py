"""Limits on what a run may use."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from cereus.errors import CereusError, switch

UNLIMITED = ("matches_per_event", "steps_per_event")
"""The limits that may be None."""


@dataclass(frozen=True)
class Limits:
    """What a run may use. Reaching a limit is an error that names it, never a silent loss.

    nodes              nodes of partial matches, 32 bytes each; sets of values that they
                       remember count by their bytes
    configurations     states with different remembered values, for the key at hand
    states             states of the determinised automaton
    matches_per_event  matches reported at one event
    steps_per_event    configurations that read one event; where states remember values, the
                       runs and values that a state has, of which 1,000 are the most if this
                       is None
    shed               go on all the same: matches past their limit are left out, and at the other
                       limits the partial matches of the key at hand are dropped; the results say
                       so (`Matches.shed`)
    """

    nodes: int = 200_000_000
    configurations: int = 20_000_000
    states: int = 100_000
    matches_per_event: int | None = None
    steps_per_event: int | None = None
    shed: bool = False

    @property
    def runs(self) -> tuple[str, int]:
        """The smaller of the two limits on runs at one event, and its name. It is for languages in
        which each run is a configuration and takes a step."""
        if self.steps_per_event is None or self.configurations <= self.steps_per_event:
            return "configurations", self.configurations
        return "steps_per_event", self.steps_per_event

    @property
    def given(self) -> dict[str, Any]:
        """The limits that differ from their defaults."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: value for name, value in values.items() if value != getattr(Limits, name)}

    def __post_init__(self) -> None:
        object.__setattr__(self, "shed", switch("shed", self.shed))
        for name in ("nodes", "configurations", "states", *UNLIMITED):
            value = getattr(self, name)
            integer = isinstance(value, int) and not isinstance(value, bool) and value >= 0
            if not integer and (value is not None or name not in UNLIMITED):
                raise CereusError(
                    f"the limit {name} is {value!r}", hint="write a whole number of at least 0"
                )
