"""What users should know about a query and its answer: `Matches.warnings`, and Python warnings."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import Any

import pyarrow as pa

from cereus.errors import CereusWarning, did_you_mean, known_names, nearest
from cereus.language.compiled import CompiledQuery
from cereus.sources import Source

MOST_TYPES = 1000
"""A column with more values than this is not taken for a list of types."""
MOST_LISTED = 5
"""How many missing types a warning lists; it only counts the others."""
FIRST_LOOK = 1 << 10
"""The number of rows that are looked at first: most types occur among them."""


class Notices:
    """The warnings of one query. Each becomes a `CereusWarning` once."""

    def __init__(self) -> None:
        self._issued: set[str] = set()

    def issue(self, texts: Iterable[str], *, above: int) -> None:
        """Warn in the name of the caller that is `above` frames above this function."""
        for text in texts:
            if text not in self._issued:
                self._issued.add(text)
                warnings.warn(text, CereusWarning, stacklevel=above + 1)


@contextmanager
def shown_elsewhere() -> Iterator[None]:
    """Issue no `CereusWarning` inside, because the same texts are printed already."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CereusWarning)
        yield


def unseen_types(needed: Collection[str], types: Collection[str]) -> tuple[str, ...]:
    """A warning about types that the query needs and no event has; `types` are those of the events.
    It is one warning, however many types are missing."""
    missing = frozenset(needed).difference(types)
    if not missing or len(types) > MOST_TYPES:
        return ()
    return _of_missing(missing, frozenset(types))


@lru_cache(maxsize=16)
def _of_missing(names: frozenset[str], types: frozenset[str]) -> tuple[str, ...]:
    """The warning about missing types. It is cached: each missing type is compared with all types,
    and a query that runs often has the same ones."""
    missing = sorted(names)
    if len(missing) == 1:
        return tuple(f"no event has the type {_with_hint(name, types)}" for name in missing)
    known = sorted(types)
    listed = ", ".join(_with_nearest(name, known) for name in missing[:MOST_LISTED])
    more = len(missing) - MOST_LISTED
    text = f"no event has the types {listed}" + (f" and {more:,} more" if more > 0 else "")
    near = any(nearest(name, known) is not None for name in missing[:MOST_LISTED])
    return (text if near or not known else f"{text}; {known_names(known)}",)


def _with_hint(name: str, types: Collection[str]) -> str:
    hint = did_you_mean(name, types)
    return repr(name) + ("" if hint is None else f"; {hint}")


def _with_nearest(name: str, known: list[str]) -> str:
    near = nearest(name, known)
    return repr(name) + ("" if near is None else f" (did you mean {near!r}?)")


def types_in(events: Source, column: str | None, needed: Collection[str]) -> set[str]:
    """The types of the events, read until all needed types were seen, or very many types."""
    types: set[Any] = set()
    if column is None or not needed:
        return types
    for part in _pieces(events, column):
        with suppress(UnicodeDecodeError):  # texts that are not UTF-8 are no types
            types.update(part.unique().to_pylist())
        types.discard(None)
        if types.issuperset(needed) or len(types) > MOST_TYPES:
            break
    return types


def _pieces(events: Source, column: str) -> Iterator[pa.Array]:
    """A column in pieces, the first one short, each later one up to twice as long as the last."""
    length = FIRST_LOOK
    for values in _arrays(events, column):
        at = 0
        while at < len(values):
            piece = values.slice(at, length)
            yield piece
            at, length = at + len(piece), max(length, 2 * len(piece))


def _arrays(events: Source, column: str) -> Iterable[pa.Array]:
    """A column from memory, or as it is read."""
    if events.table is not None:
        return list(events.table.column(column).chunks)
    return (batch.column(0) for batch in events.batches([column]))


def needed_types(query: CompiledQuery) -> set[str]:
    """The types of events that the tests of a query name."""
    if query.stream.type is None:
        return set()
    return {test.type for test in query.tests() if test.type is not None}
