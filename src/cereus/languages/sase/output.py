"""The output of RETURN: the names of its values, and flat columns if there is no RETURN."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pyarrow as pa

from cereus.errors import RefusedError
from cereus.expr import tree as ex
from cereus.languages.sase import tree as sase
from cereus.plan.returned import distinct_names, short_name

NO_TYPE = "EVENT"
"""The type of output events without `AS TYPE`, as of events in a stream without types."""


def output_type(union: sase.Union) -> str:
    return next((b.output.type for b in union.blocks if b.output.type is not None), NO_TYPE)


def output_names(union: sase.Union, reserved: Iterable[str] = ()) -> tuple[str, ...]:
    """One name per value: those after AS, in the first block that gives some; else each value's own
    name, `symbol` for `a[1].symbol`. It gets its variable in front, `a_symbol`, where two would be
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


# ---------------------------------------------------------------- flat columns


def flattened(program: sase.Program, result: sase.Union, schema: pa.Schema) -> sase.Program:
    """The text that returns the attributes of its variables, `a_price`: for a Kleene variable, a
    list of tuples."""
    (block,) = result.blocks
    columns = tuple((name,) for name in schema.names)
    values: list[ex.Expression] = []
    names: list[str] = []
    for component in block.components:
        variable = component.variable
        if isinstance(component, sase.Kleene):
            values.append(sase.Records(variable, columns))
            names.append(variable)
            continue
        values += [ex.Attribute(path, variable) for path in columns]
        names += [f"{variable}_{name}" for name in schema.names]
    output = replace(block.output, values=tuple(values), names=tuple(names))
    made = replace(result, blocks=(replace(block, output=output),))
    queries = tuple(made if each is result else each for each in program.queries)
    return replace(program, queries=queries)
