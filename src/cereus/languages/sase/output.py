"""The names of RETURN's values where `AS TYPE(…)` gives none."""

from __future__ import annotations

from collections.abc import Iterable

from cereus.errors import RefusedError
from cereus.expr import tree as ex
from cereus.languages.sase import tree as sase
from cereus.plan.returned import distinct_names, short_name

NO_TYPE = "EVENT"
"""The type of output events without `AS TYPE`, as of events in a stream without types."""


def output_type(union: sase.Union) -> str:
    return next((b.output.type for b in union.blocks if b.output.type is not None), NO_TYPE)


def output_names(union: sase.Union, reserved: Iterable[str] = ()) -> tuple[str, ...]:
    """One name per value: those after AS, of the first block that gives some; else each value's own
    name, `symbol` for `a[1].symbol`, with its variable in front, `a_symbol`, where two would have
    the same or where it is `reserved` (the columns of type and time), and a number where that does
    not help."""
    given = next((b.output for b in union.blocks if b.output.names), None)
    if given is not None:
        return _unreserved(given, reserved)
    return distinct_names(union.blocks[0].output.values, _short_name, tuple(reserved))


def _unreserved(output: sase.Output, reserved: Iterable[str]) -> tuple[str, ...]:
    for name in output.names:
        if name in reserved:
            raise RefusedError(
                f"{name!r} is the column of the stream's types or times, which output events have",
                span=output.span,
                hint="give the value another name; the time of an output event is that of the "
                "last event of its match",
            )
    return output.names


def _short_name(value: ex.Expression) -> str:
    match value:
        case sase.Series(_, path):
            return path[-1]
        case sase.Record(variable) | sase.Records(variable):
            return variable
    return short_name(value)
