"""How queries are going to be run over a DataFrame of history, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cereus.spark.batch.arranging import Arrangement, Lies
from cereus.spark.batch.eventwise import Eventwise
from cereus.spark.batch.pattern import Batch
from cereus.spark.batch.several import passes
from cereus.spark.batch.together import Together
from cereus.spark.slices import Slices


def explained(parts: Mapping[str, Batch | Eventwise]) -> str:
    """A paragraph for each pass over the rows; queries that arrange them alike share one."""
    several = len(parts) > 1
    paragraphs = []
    for names in passes(parts):
        lines = [f"{', '.join(names)} in one pass"] if several else []
        paragraphs.append("\n".join([*lines, *_pass({name: parts[name] for name in names})]))
    return "\n\n".join(paragraphs)


def _pass(parts: Mapping[str, Batch | Eventwise]) -> Iterator[str]:
    first = next(iter(parts.values()))
    patterns = {name: part for name, part in parts.items() if isinstance(part, Batch)}
    whole = Together(patterns) if len(patterns) > 1 else first
    columns = len(whole.travelling)
    yield f"columns  {columns} of {len(first.df.columns)} travel: {', '.join(whole.travelling)}"
    kept = "only events that can matter" if whole.filters() else "all events, for each may matter"
    yield f"events   {kept}"
    yield f"tasks    {_tasks(first, whole.arrangement)}"
    yield f"order    {_order(whole.arrangement)}"
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
