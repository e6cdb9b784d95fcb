"""The names of RETURN's values where `AS TYPE(…)` gives none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from cereus.errors import RefusedError
from cereus.expr import tree as ex
from cereus.languages.sase import tree as sase

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
    values = union.blocks[0].output.values
    short = [_short_name(value) for value in values]
    shared = {name for name, times in Counter(short).items() if times > 1} | set(reserved)
    names: list[str] = []
    for value, name in zip(values, short, strict=True):
        names.append(_fresh(_qualified(value, name) if name in shared else name, names, reserved))
    return tuple(names)


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
        case sase.Aggregate(function, variable, attribute):
            return f"{function}_{attribute[-1] if attribute else variable}"
        case ex.Attribute(path) | sase.Series(_, path):
            return path[-1]
        case sase.Record(variable) | sase.Records(variable):
            return variable
    return "value"


def _qualified(value: ex.Expression, name: str) -> str:
    variable = getattr(value, "variable", None)
    return name if variable is None or name == variable else f"{variable}_{name}"


def _fresh(name: str, taken: list[str], reserved: Iterable[str]) -> str:
    if name not in taken and name not in reserved:
        return name
    return next(n for i in range(2, 10_000) if (n := f"{name}_{i}") not in taken)
