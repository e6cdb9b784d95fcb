"""Flat columns: `a_price` in place of row numbers, where a text has no RETURN."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from cereus.expr import tree as ex
from cereus.languages.sase import tree as sase


def flattened(program: sase.Program, result: sase.Union, schema: pa.Schema) -> sase.Program:
    """The text with the attributes of its variables returned: of a Kleene variable, a list of
    tuples."""
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
