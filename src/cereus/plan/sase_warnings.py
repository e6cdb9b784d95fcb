"""What a person should know before running a SASE+ query; told by its text alone."""

from __future__ import annotations

from collections.abc import Iterator

from cereus.lang import cel, sase
from cereus.lang.sase_output import NO_TYPE
from cereus.plan.outlook import GROWS
from cereus.plan.stream import Stream


def warnings(query: sase.Query, stream: Stream) -> Iterator[str]:
    if query.window is None and any(True for _ in _waiting(query)):
        yield GROWS
    if isinstance(query.window, cel.TimeWindow) and stream.time is None:
        yield "WITHIN a length of time needs a time column: Stream(time=…), or --time"
    unknown = [c.types[0] for c in query.components if NO_TYPE not in c.types]
    if stream.type is None and unknown:
        yield (
            "this pattern can never match: without a type column every event is of type "
            f"{NO_TYPE}, none is {unknown[0]}"
        )


def _waiting(query: sase.Query) -> Iterator[str]:
    """The variables for whose events a run that has begun may wait for ever; contiguity that is
    strict never waits."""
    for place, component in enumerate(query.components):
        selected = place > 0 or isinstance(component, sase.Kleene)
        if selected and query.strategy(component.variable) is not sase.Strategy.STRICT:
            yield component.variable
