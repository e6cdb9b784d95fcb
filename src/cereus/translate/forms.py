"""Regular expressions as formulas: CEL has no ε, and room for other events only between events.

The strings of an expression are those of its *forms*, and maybe the empty one. A form is a formula
with what may be skipped around it; joined, that decides between `;` and `:`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_

from cereus.errors import RefusedError
from cereus.languages.ceql import tree as cel

MOST_FORMS = 64


@dataclass(frozen=True)
class Form:
    """A formula that reads at least one event; None reads only skipped events. `begins` and `ends`:
    whether its first, its last event is marked; None if that depends."""

    formula: cel.Formula | None
    lead: bool = False
    trail: bool = False
    begins: bool | None = True
    ends: bool | None = True


GAP = Form(None, True, True, False, False)
"""(⊤↑⊗)*, which may also be empty."""


@dataclass(frozen=True)
class Forms:
    """The forms of an expression, and whether it also reads the empty string."""

    nullable: bool
    forms: tuple[Form, ...]

    def __post_init__(self) -> None:
        if len(self.forms) > MOST_FORMS:
            raise RefusedError(
                "CEQL has no ε: every part that may read nothing is written out with and without "
                f"it, and here that makes more than {MOST_FORMS} patterns",
                hint="leave some of the ? and * out",
            )

    def changed(self, change: Callable[[cel.Formula], cel.Formula]) -> Forms:
        """The forms with every formula changed."""
        forms = (f if f.formula is None else replace(f, formula=change(f.formula)) for f in self)
        return Forms(self.nullable, tuple(forms))

    def __iter__(self) -> Iterator[Form]:
        return iter(self.forms)


EMPTY = Forms(True, ())
NO_STRING = Forms(False, ())


def one(formula: cel.Formula, *, marked: bool = True) -> Forms:
    return Forms(False, (Form(formula, begins=marked, ends=marked),))


def either(left: Forms, right: Forms) -> Forms:
    return Forms(left.nullable or right.nullable, tuple(dict.fromkeys((*left, *right))))


def then(left: Forms, right: Forms) -> Forms:
    joined = [_then(a, b) for a in left for b in right]
    if right.nullable:
        joined += left
    if left.nullable:
        joined += right
    return Forms(left.nullable and right.nullable, tuple(dict.fromkeys(joined)))


def _then(a: Form, b: Form) -> Form:
    if a.formula is None:
        return replace(b, lead=True, trail=b.trail)
    if b.formula is None:
        return replace(a, trail=True)
    join = cel.Sequence if a.trail or b.lead else cel.ContiguousSequence
    return Form(join(a.formula, b.formula), a.lead, b.trail, a.begins, b.ends)


def repeated(body: Forms, *, skipping: bool, at_all: bool) -> Forms | None:
    """e+, or e* if not `at_all`; `skipping`: anything may come between rounds. None if rounds
    differ in what may be skipped around them."""
    around = {(form.lead, form.trail) for form in body}
    if not around:
        return Forms(body.nullable or not at_all, ())
    if len(around) > 1 or GAP in body.forms:
        return None
    ((lead, trail),) = around
    kind = cel.Iteration if skipping or lead or trail else cel.ContiguousIteration
    begins, ends = ({getattr(f, edge) for f in body} for edge in ("begins", "ends"))
    form = Form(kind(disjunction(body)), lead, trail, _agreed(begins), _agreed(ends))
    return Forms(body.nullable or not at_all, (form,))


def _agreed(known: set[bool | None]) -> bool | None:
    return known.pop() if len(known) == 1 else None


def both(left: Forms, right: Forms) -> Forms | None:
    """The strings that both read with the same marks: they must begin and end with one to be in
    step."""
    known = [*left, *right]
    if not all(form.begins and form.ends and form.formula is not None for form in known):
        return None
    if any(form.trail for form in known) or len({form.lead for form in known}) > 1:
        return None
    joined = (
        Form(cel.And(a.formula, b.formula), a.lead)
        for a in left
        for b in right
        if a.formula is not None and b.formula is not None
    )
    return Forms(left.nullable and right.nullable, tuple(joined))


def disjunction(forms: Forms) -> cel.Formula:
    formulas = [form.formula for form in forms if form.formula is not None]
    return reduce(or_, formulas)
