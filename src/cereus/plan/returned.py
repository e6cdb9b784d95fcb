"""The columns that a query computes for each match: `RETURN a.card, count(b) AS n`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple

from cereus.clauses.tree import TIMEOUTS, AnyQuery, Returned
from cereus.errors import RefusedError
from cereus.expr import tree as ex

Path = tuple[str, ...]
FIXED = ("start", "end", "start_time", "end_time", "deadline", "positions", "events")
"""Names of columns of matches that no computed column may have."""


class ReturnedColumn(NamedTuple):
    """A column of the result, and the expression that computes it."""

    name: str
    value: ex.Expression


def returned_columns(query: AnyQuery, keys: Iterable[Path]) -> tuple[ReturnedColumn, ...]:
    """The columns that RETURN computes, each with a name: the one after AS, or the value's own.

    A value that is the key column of an event stands for the column of that key.
    """
    if not query.returned:
        return ()
    key_names = {".".join(path): path for path in keys}
    fixed = (*FIXED, *TIMEOUTS) if query.timeouts else FIXED
    taken = {*fixed, *(output.name for output in query.select or ())}
    given = {each.name for each in query.returned if each.name is not None}
    paths = {each.value.path for each in query.returned if isinstance(each.value, ex.Attribute)}
    kept = {name for name, path in key_names.items() if path not in paths}
    unnamed = [each.value for each in query.returned if each.name is None]
    fresh = iter(distinct_names(unnamed, short_name, taken | given | kept))
    columns = [ReturnedColumn(each.name or next(fresh), each.value) for each in query.returned]
    for each, column in zip(query.returned, columns, strict=True):
        key = key_names.get(column.name)
        if column.name in taken or (key is not None and not _reads(each.value, key)):
            raise _two_columns(column.name, each, query)
        taken.add(column.name)
    return tuple(columns)


def _reads(value: ex.Expression, path: Path) -> bool:
    return isinstance(value, ex.Attribute) and value.path == path


def _two_columns(name: str, each: Returned, query: AnyQuery) -> RefusedError:
    return RefusedError(
        f"the result would have two columns {name!r}",
        text=query.text,
        span=each.span,
        hint="give the value another name: … AS name",
    )


def returned_variables(query: AnyQuery) -> frozenset[str]:
    """The variables whose events are read when a match is complete: by RETURN, and to compare them
    with what must not follow."""
    compared = () if query.unfollowed is None else query.unfollowed.read
    return frozenset(compared).union(*(ex.variables(each.value) for each in query.returned))


def shown_paths(query: AnyQuery) -> list[Path]:
    """The paths of the columns that are read only to be shown."""
    selected = [path for output in query.select or () for path in output.attributes]
    return [*selected, *(p for each in query.returned for p in sorted(ex.attributes(each.value)))]


# ---------------------------------------------------------------- names of values


def short_name(value: ex.Expression) -> str:
    """The default name of a value: its attribute, or function and attribute."""
    match value:
        case ex.Aggregate(function, variable, attribute):
            return f"{function}_{attribute[-1] if attribute else variable}"
        case ex.Attribute(path):
            return path[-1]
    return "value"


def distinct_names(
    values: Sequence[ex.Expression],
    short: Callable[[ex.Expression], str],
    reserved: Collection[str] = (),
) -> tuple[str, ...]:
    """Each value's short name. It gets its variable in front, `a_symbol`, where two would be the
    same or where it is `reserved`, and a number where that does not help."""
    names = [short(value) for value in values]
    shared = {name for name, times in Counter(names).items() if times > 1} | set(reserved)
    made: list[str] = []
    for value, name in zip(values, names, strict=True):
        chosen = _qualified(value, name) if name in shared else name
        made.append(_fresh(chosen, {*made, *reserved}))
    return tuple(made)


def _qualified(value: ex.Expression, name: str) -> str:
    variable = getattr(value, "variable", None)
    return name if variable is None or name == variable else f"{variable}_{name}"


def _fresh(name: str, taken: Collection[str]) -> str:
    if name not in taken:
        return name
    return next(n for i in range(2, 10_000) if (n := f"{name}_{i}") not in taken)
