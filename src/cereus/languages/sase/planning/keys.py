"""Finds columns by which the input of a SASE+ text can be split without changing its answer.

An equivalence test `[symbol]` keeps the events of a match together, and so splits the input of its
query. A query that reads another's output is split by an input column if it has an equivalence test
on a value that the other returns from that very column.
"""

from __future__ import annotations

from cereus.expr import tree as ex
from cereus.languages.sase.planning.program import Block, ProgramPlan, Stage


def shared_keys(plan: ProgramPlan) -> tuple[str, ...]:
    """The columns of the input, besides the stream's keys, that split every query of a text."""
    stages: list[tuple[frozenset[str], dict[str, str]]] = []
    for stage in plan.stages:
        stages.append(_stage(stage, stages))
    split = stages[-1][0] - {*plan.stream.keys} - _renamed(plan)
    return tuple(sorted(split))


def _stage(
    stage: Stage, before: list[tuple[frozenset[str], dict[str, str]]]
) -> tuple[frozenset[str], dict[str, str]]:
    """The columns that split a query, and which of its output values are such columns."""
    keys: frozenset[str] | None = None
    values: dict[str, str] | None = None
    for block in stage.blocks:
        names = None if block.source is None else before[block.source][1]
        block_keys = _block(block, names)
        returned = {
            name: column
            for name, value in zip(stage.names, block.query.output.values, strict=True)
            if (column := _column(value, names)) in block_keys
        }
        keys = block_keys if keys is None else keys & block_keys
        values = returned if values is None else dict(values.items() & returned.items())
    assert keys is not None and values is not None
    return keys, values


def _block(block: Block, names: dict[str, str] | None) -> frozenset[str]:
    paths = (path[0] for path in block.plan.keys if len(path) == 1)
    return frozenset(paths if names is None else (names[p] for p in paths if p in names))


def _column(value: ex.Expression, names: dict[str, str] | None) -> str:
    """The column of the input from which a value is read; "" if it is computed."""
    if not isinstance(value, ex.Attribute) or len(value.path) > 1:
        return ""
    return value.path[0] if names is None else names.get(value.path[0], "")


def _renamed(plan: ProgramPlan) -> set[str]:
    """Columns whose name some query gives to another value: they cannot be keys too."""
    return {
        name
        for stage in plan.stages
        for block in stage.blocks
        for name, value in zip(stage.names, block.query.output.values, strict=True)
        if not (isinstance(value, ex.Attribute) and value.path == (name,))
    }
