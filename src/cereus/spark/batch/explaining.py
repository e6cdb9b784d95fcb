"""Describes how queries will be run over a DataFrame of history."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from cereus.spark.batch.arranging import Arrangement, Lies
from cereus.spark.batch.eventwise import Eventwise
from cereus.spark.batch.pattern import Batch
from cereus.spark.batch.several import Alone, Job, jobs
from cereus.spark.batch.together import Together
from cereus.spark.slices import Slices


def explained(parts: Mapping[str, Batch | Eventwise]) -> str:
    """A paragraph for each pass over the rows; queries that arrange them alike share one."""
    return "\n\n".join("\n".join(_job(each, several=len(parts) > 1)) for each in jobs(parts))


def _job(job: Job, *, several: bool) -> Iterator[str]:
    if isinstance(job, Alone):
        if several:
            yield f"{job.name}, by itself"
        yield from _pass(job.part, job.part, job.part.arrangement)
    elif isinstance(job, Together):
        yield f"{', '.join(job.parts)} in one pass"
        yield from _pass(job.first, job, job.arrangement)
    else:
        yield f"{len(job.passes)} passes over one scan"
        for each in job.passes:
            yield f"{', '.join(each.parts)} in one pass"
            shared = replace(each.arrangement, by_time=job.by_time, spread=True)
            yield from _pass(each.first, each, shared)


def _pass(
    first: Batch | Eventwise, shared: Batch | Eventwise | Together, arrangement: Arrangement
) -> Iterator[str]:
    columns = len(shared.travelling)
    yield f"columns  {columns} of {len(first.df.columns)} travel: {', '.join(shared.travelling)}"
    kept = "only events that can matter" if shared.filters() else "all events, for each may matter"
    yield f"events   {kept}"
    yield f"tasks    {_tasks(first, arrangement)}"
    yield f"order    {_order(arrangement)}"
    if isinstance(first, Batch) and first.groups:
        yield f"cut      {_cut(first)}"


def _tasks(first: Batch | Eventwise, arrangement: Arrangement) -> str:
    if first.one_task is not None:
        return f"one: {first.one_task}"
    by = ", ".join(".".join(path) for path in first.groups if not path[0].startswith("__"))
    several = "many" if arrangement.tasks is None else f"{arrangement.tasks:,}"
    how = "shuffled" if arrangement.lies is Lies.ANYHOW else arrangement.lies.value
    return f"{several}, by {by or 'slices of time'}; rows are {how}"


def _order(arrangement: Arrangement) -> str:
    time = ".".join(arrangement.order[0])
    if arrangement.groups and not arrangement.sorted_by:
        return f"by {time}; the engine keeps the keys apart"
    return f"by key, then {time}" if arrangement.groups else f"by {time}"


def _cut(part: Batch) -> str:
    if not isinstance(part.slices, Slices):
        return f"no: {part.slices}"
    long = "" if part.slices.long is None else f": {part.slices.long.text}"
    return f"into {part.slices.text}{long}"
