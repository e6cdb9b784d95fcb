"""Counts of the work that a run did: the same on every machine, so that tests can check them."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass
class Costs:
    """Counts of the work that a run did so far.

    events  rows of the input that were read
    tests   conditions that were evaluated, one for each row that was still open; what a type or a
            constant text decides is looked up and not counted
    kept    events that came to the kernel: the others cannot matter to any match
    steps   configurations (states with their values) that read an event
    nodes   nodes of partial matches that were made
    bytes   of columns that were remembered, and of results
    """

    events: int = 0
    tests: int = 0
    kept: int = 0
    steps: int = 0
    nodes: int = 0
    bytes: int = 0

    def __add__(self, other: Costs) -> Costs:
        return Costs(
            self.events + other.events,
            self.tests + other.tests,
            self.kept + other.kept,
            self.steps + other.steps,
            self.nodes + other.nodes,
            self.bytes + other.bytes,
        )

    def __str__(self) -> str:
        return ", ".join(f"{getattr(self, f.name):,} {f.name}" for f in fields(self))
