"""Keys → steps: how many keys took each step, how many went no further, how long it took."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cereus.funnels.run import ENTERED, LEVEL, TOOK
from cereus.funnels.spec import FunnelSpec
from cereus.stream import UNITS

PERIOD = "period"
Group = tuple[Any, ...]
"""The values of the segments, and the period."""


class Taken(NamedTuple):
    """A step in one group: its number from 1, the keys that took it, and their seconds since the
    step before."""

    group: Group
    step: int
    keys: int
    mean: float | None
    median: float | None


def group_names(spec: FunnelSpec) -> list[str]:
    return [*spec.by, *([PERIOD] if spec.period is not None else [])]


def taken_steps(spec: FunnelSpec, keys: pa.Table) -> list[Taken]:
    """Every step in every group that has taken it."""
    begun = keys.filter(pc.greater(keys.column(LEVEL), 0))
    groups = [begun.column(name).to_pylist() for name in spec.by]
    if spec.period is not None:
        groups.append(periods(spec, begun.column(ENTERED)).to_pylist())
    groups = [[_one_nan(value) for value in column] for column in groups]
    values = list(zip(*groups, strict=True)) if groups else [()] * begun.num_rows
    distinct = list(dict.fromkeys(values))
    numbers = {group: number for number, group in enumerate(distinct)}
    of_key = np.array([numbers[group] for group in values], np.int64)
    levels = begun.column(LEVEL).to_numpy()
    took = begun.column(TOOK).combine_chunks()
    return [
        Taken(
            distinct[group], 1 + step, *_measured(took, step, (of_key == group) & (levels > step))
        )
        for group in range(len(distinct))
        for step in range(int(levels[of_key == group].max()))
    ]


def _measured(took: Any, step: int, those: Any) -> tuple[int, float | None, float | None]:
    """How many keys, and their mean and median time since the step before."""
    chosen = np.flatnonzero(those)
    if not step:
        return len(chosen), None, None
    offsets = np.asarray(took.offsets)[chosen]
    seconds = np.asarray(took.values)[offsets + step - 1]
    return len(chosen), float(np.mean(seconds)), float(np.median(seconds))


def periods(spec: FunnelSpec, entered: pa.ChunkedArray) -> pa.ChunkedArray:
    """The period in which each key began, by its first moment."""
    kind = entered.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        micros = pc.multiply(entered.cast(pa.float64()), UNITS[spec.stream.unit or "us"])
        entered = pc.round(micros).cast(pa.int64()).cast(pa.timestamp("us"))
    assert spec.period is not None
    return pc.floor_temporal(entered.cast(pa.timestamp("us")), unit=spec.period)


def steps_table(spec: FunnelSpec, taken: Iterable[Taken]) -> pa.Table:
    """One row for each step of each group, in the order of the groups and the steps."""
    known: dict[Group, dict[int, Taken]] = {}
    for each in taken:
        group = tuple(_one_nan(value) for value in each.group)
        known.setdefault(group, {})[each.step] = each
    groups = sorted(known, key=_sortable) or ([()] if not group_names(spec) else [])
    rows = [row for group in groups for row in _rows(spec, group, known.get(group, {}))]
    fields = [
        ("step", pa.int32()),
        ("name", pa.string()),
        ("keys", pa.int64()),
        ("conversion", pa.float64()),
        ("from_previous", pa.float64()),
        ("dropped", pa.int64()),
        ("mean_seconds", pa.float64()),
        ("median_seconds", pa.float64()),
    ]
    names = group_names(spec)
    columns = {name: _column([row[at] for row in rows]) for at, name in enumerate(names)}
    for at, (name, kind) in enumerate(fields, len(names)):
        columns[name] = pa.array([row[at] for row in rows], kind)
    return pa.table(columns)


def _column(values: list[Any]) -> pa.Array:
    """A column of values of any type; Arrow reads whole numbers as signed."""
    large = any(isinstance(value, int) and value >= 2**63 for value in values)
    return pa.array(values, pa.uint64()) if large else pa.array(values)


def _rows(spec: FunnelSpec, group: Group, taken: dict[int, Taken]) -> Sequence[tuple[Any, ...]]:
    counts = [taken[n].keys if n in taken else 0 for n in range(1, len(spec.steps) + 1)]
    rows = []
    for number, name in enumerate(spec.names, 1):
        here, before = counts[number - 1], counts[max(0, number - 2)]
        after = counts[number] if number < len(counts) else here
        each = taken.get(number)
        rows.append(
            (
                *group,
                number,
                name,
                here,
                _share(here, counts[0]),
                _share(here, before),
                here - after,
                None if each is None else each.mean,
                None if each is None else each.median,
            )
        )
    return rows


def _share(part: int, of: int) -> float | None:
    return part / of if of else None


NAN = float("nan")


def _one_nan(value: Any) -> Any:
    """The value; all NaN are the same object, so that they are one segment."""
    return NAN if isinstance(value, float) and value != value else value


def _sortable(group: Group) -> tuple[Any, ...]:
    """A sort key: nulls last, NaN before them, and values of any type."""
    ranks = [2 if value is None else int(value is NAN) for value in group]
    return tuple((rank, 0 if rank else value) for rank, value in zip(ranks, group, strict=True))
