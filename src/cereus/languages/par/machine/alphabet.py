"""The input symbols of a PAR program: which sets of atoms one event can satisfy.

An event has one type, so atoms of different types never occur together; conditions are taken
to be independent of each other. `BUY(price > 10)` occurs exactly when the event is a BUY and
`price > 10` holds, so it never occurs without `BUY`, and `*(price > 10)` occurs with it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

from cereus.errors import LimitError
from cereus.expr.print import condition_text
from cereus.expr.tree import Expression, Not, conjunction
from cereus.languages.par.text import type_text
from cereus.languages.par.tree import Atom

MAX_SYMBOLS = 1 << 16
Symbol = frozenset[Atom]


@dataclass(frozen=True)
class Occurrence:
    """A kind of event: its type (None: one that no atom names) and the conditions it meets."""

    type: str | None
    holds: frozenset[Expression] = frozenset()

    def satisfies(self, atom: Atom) -> bool:
        return (atom.type is None or atom.type == self.type) and (
            atom.condition is None or atom.condition in self.holds
        )

    def symbol(self, atoms: Iterable[Atom]) -> Symbol:
        """The exact set of `atoms` that such an event satisfies."""
        return frozenset(atom for atom in atoms if self.satisfies(atom))


@lru_cache(maxsize=256)
def occurrences(atoms: tuple[Atom, ...]) -> tuple[tuple[Occurrence, Symbol], ...]:
    """One kind of event for every set of `atoms` that can occur, types as written, other last."""
    check_limit(atoms)
    by_symbol: dict[Symbol, Occurrence] = {}
    for type_ in types(atoms):
        relevant = conditions(atoms, type_)
        for count in range(len(relevant) + 1):
            for holds in combinations(relevant, count):
                occurrence = Occurrence(type_, frozenset(holds))
                by_symbol.setdefault(occurrence.symbol(atoms), occurrence)
    return tuple((occurrence, symbol) for symbol, occurrence in by_symbol.items())


def types(atoms: Iterable[Atom]) -> tuple[str | None, ...]:
    """The event types that atoms name, and None for all the others."""
    return (*dict.fromkeys(atom.type for atom in atoms if atom.type is not None), None)


def conditions(atoms: Iterable[Atom], type_: str | None) -> tuple[Expression, ...]:
    """The conditions that matter for an event of `type_`."""
    return tuple(
        dict.fromkeys(
            atom.condition
            for atom in atoms
            if atom.condition is not None and atom.type in (None, type_)
        )
    )


def check_limit(atoms: tuple[Atom, ...]) -> None:
    """Refuse types with too many conditions, before the work is done."""
    counts = {type_: len(conditions(atoms, type_)) for type_ in types(atoms)}
    if sum(2**count for count in counts.values()) > MAX_SYMBOLS:
        worst = max(counts, key=lambda type_: counts[type_])
        of = "any type" if worst is None else f"type {worst}"
        raise LimitError(
            f"the program tests {counts[worst]} different conditions on events of {of}: "
            f"their combinations exceed the limit of {MAX_SYMBOLS} input symbols",
            hint="split the program, or compute a column that says which condition holds "
            "and test that",
        )


def describe(occurrence: Occurrence, atoms: Iterable[Atom]) -> str:
    """The event in words: `BUY where price > 10 AND NOT volume > 5`."""
    atoms = tuple(atoms)
    name = "another event" if occurrence.type is None else type_text(occurrence.type)
    if types(atoms) == (None,):
        name = "an event"
    condition = conjunction(
        each if each in occurrence.holds else Not(each)
        for each in conditions(atoms, occurrence.type)
    )
    return name if condition is None else f"{name} where {condition_text(condition)}"
