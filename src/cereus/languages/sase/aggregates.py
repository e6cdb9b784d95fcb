"""Aggregates that a user adds to SASE+: their checks, and their errors with the place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cereus.errors import CereusError, QueryError, Span
from cereus.languages.sase import tree as sase

LONGEST = 60


def checked(aggregates: Any) -> dict[str, sase.UserAggregate]:
    """Aggregates by name, each with `identity` and `combine`."""
    if not isinstance(aggregates, Mapping | None):
        raise CereusError(
            f"aggregates are given by name, in a dict, not as {type(aggregates).__name__}",
            hint='write aggregates={"name": object}',
        )
    for name, aggregate in (aggregates or {}).items():
        if name in sase.BUILT_IN:
            raise CereusError(
                f"there is an aggregate {name!r} already", hint="give your own another name"
            )
        if not hasattr(aggregate, "identity") or not callable(getattr(aggregate, "combine", None)):
            raise CereusError(
                f"the aggregate {name!r} has no `identity` and `combine`",
                hint="give an object with both: combine(a, b) is associative, and "
                "combine(identity, a) is a",
            )
    return dict(aggregates or {})


def guarded(
    aggregates: Mapping[str, sase.UserAggregate], program: sase.Program
) -> dict[str, sase.UserAggregate]:
    """The aggregates wrapped, so that their exceptions name the aggregate and the place of its
    use."""
    places: dict[str, Span | None] = {}
    for node in _aggregates(program):
        places.setdefault(node.function, node.span)
    return {
        name: Guarded(name, aggregate, program.text, places.get(name))
        for name, aggregate in aggregates.items()
    }


def _aggregates(program: sase.Program) -> Iterator[sase.Aggregate]:
    for block in (block for union in program.queries for block in union.blocks):
        having = () if block.having is None else (block.having,)
        expressions = (
            *(clause.condition for clause in block.clauses),
            *having,
            *block.output.values,
        )
        yield from (n for each in expressions for n in each.walk() if isinstance(n, sase.Aggregate))


@dataclass(frozen=True)
class Guarded:
    """A user's aggregate; `span` is where `text` first uses it."""

    name: str
    aggregate: sase.UserAggregate
    text: str | None
    span: Span | None

    @property
    def identity(self) -> Any:
        return self.aggregate.identity

    def combine(self, left: Any, right: Any) -> Any:
        try:
            return self.aggregate.combine(left, right)
        except CereusError:
            raise
        except Exception as error:
            raise QueryError(
                f"the aggregate {self.name!r} failed: {type(error).__name__}: {error}",
                text=self.text,
                span=self.span,
                hint=f"its combine was called with {_shown(left)} and {_shown(right)}",
            ) from error


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= LONGEST else text[:LONGEST] + "…"
