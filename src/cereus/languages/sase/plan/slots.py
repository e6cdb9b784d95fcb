"""SASE+ with values in slots of the kernel: clauses that compare events as terms.

What a clause reads is renamed first, so that `a[i]`, `a[i-1]`, `a[1]`, `a[a.LEN]` and `a[..i-1]`
are variables of their own to `plan.terms`; then each of them is found where it is: in a column of
the event at hand, or in a slot.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from cereus.automata.memory.compare import KINDS, CannotRegister, Column, Columns
from cereus.automata.memory.term_text import Leaf, NotATerm, Translation
from cereus.automata.memory.terms import Term, column, slot
from cereus.automata.model import Slot, Slots, Update
from cereus.expr import tree as ex
from cereus.expr.print import condition_text
from cereus.languages.sase import tree as sase
from cereus.languages.sase.nfa.memory import Memory, Slotted
from cereus.languages.sase.nfa.negation import Negation
from cereus.languages.sase.nfa.stages import Asked, Stage
from cereus.languages.sase.plan.lower import Lowering
from cereus.languages.sase.print import expression_text

COUNTS = ("count", "tally")


class Kept(NamedTuple):
    """A value of a variable that a slot holds: of its `first` or `last` event, or a total."""

    variable: str
    how: str
    column: int


@dataclass
class BySlot(Lowering):
    """Values in slots, or CannotRegister."""

    columns: Columns = field(default_factory=Columns)
    slots: dict[Kept, Slot] = field(default_factory=dict)
    read: set[tuple[int, Kept]] = field(default_factory=set)

    def asked(self, clauses: list[ex.Expression], bit: int | None, at: Asked, stage: int) -> Asked:
        if not clauses:
            return at._replace(bit=bit)
        return at._replace(bit=bit, others=self._term(clauses, at, stage))

    def series(
        self, component: sase.Component, after: int, whole: bool, deferred: bool
    ) -> Negation:
        if after == 0:
            raise CannotRegister(f"~{component.variable} speaks of events before the match")
        if whole:
            raise CannotRegister(f"~{component.variable}[] forbids a series as a whole")
        raise CannotRegister(f"~{component.variable} is compared with events that come later")

    def memory(self, stages: tuple[Stage, ...]) -> Memory:
        numbers = {(stage.variable, stage.more): n for n, stage in enumerate(stages)}
        updates = tuple(tuple(self._updates(stage)) for stage in stages)
        set_in = tuple(self._set_in(stages, number) for number in range(len(stages) + 1))
        named = {place: self._named(kept) for kept, place in self.slots.items()}
        return Slotted(set_in, updates, numbers, named)

    def _named(self, kept: Kept) -> str:
        """What a slot holds, in words."""
        name, how, number = kept
        if how == "tally":
            return f"count({name}[])"
        value = condition_text(list(self.columns.numbers)[number].expression, bare=True)
        several = isinstance(self.query.component(name), sase.Kleene)
        if how in ("first", "last"):
            place = {"first": "[1]", "last": f"[{name}.LEN]"}[how] if several else ""
            return f"{value} of {name}{place}"
        return f"{how.split()[0]}({value} of {name}[])"

    def _set_in(self, stages: tuple[Stage, ...], number: int) -> Slots:
        """The slots that are set in a state, and that it or a later one reads."""
        have = {stage.variable for stage in stages[:number]}
        wanted = {kept for stage, kept in self.read if stage >= number}
        return frozenset(self.slots[kept] for kept in wanted if kept.variable in have)

    def _updates(self, stage: Stage) -> list[Update]:
        made = []
        for (variable, how, number), place in self.slots.items():
            if variable == stage.variable and not (how == "first" and stage.more):
                plain = how in ("first", "last")
                made.append(Update(place, "set" if plain else how, number))
        return made

    # ------------------------------------------------------------ terms

    def _term(self, clauses: list[ex.Expression], at: Asked, stage: int) -> Term:
        assert self.schema is not None
        term: Term | None = None
        for clause in clauses:
            try:
                translation = Translation(_renamed(clause), self.schema)
                one = translation.term(lambda leaf: self._value(leaf, at, stage))
            except NotATerm as reason:
                raise CannotRegister(f"{expression_text(clause)}: {reason}") from None
            term = one if term is None else Term("and", (term, one))
        assert term is not None
        return term

    def _value(self, leaf: Leaf, at: Asked, stage: int) -> Term:
        """Where a value is, when the event at hand is read for `at`."""
        variable, _, place = leaf.variable.partition("[")
        number = -1  # events are counted without looking at a column
        if leaf.total != "tally":
            number = self.columns.number(Column(leaf.expression, KINDS[leaf.sort]))
        how = leaf.total or {"": "first", "1]": "first", "i]": "now"}.get(place, "last")
        own = variable == at.at
        if how == "now" or (own and at.first and how == "first"):
            return column(number)
        before = slot(self._slot(Kept(variable, how, number), stage))
        if not (own and at.after) or how == "first":
            return before
        return _added(how, number, None if at.first else before)

    def _slot(self, kept: Kept, stage: int) -> Slot:
        self.read.add((stage, kept))
        return self.slots.setdefault(kept, Slot(True, 1 + len(self.slots), 0))


def _added(how: str, number: int, before: Term | None) -> Term:
    """A value or a total, with the event at hand added."""
    if how == "last":
        return column(number)
    new = Term("constant", (1,)) if how == "tally" else column(number)
    if how == "count":
        new = Term("known", (new,))
    if before is None:
        return new
    return Term("add int" if how in COUNTS else how, (before, new))


def _renamed(node: ex.Expression) -> ex.Expression:
    """Each element of an array as a variable of its own."""
    match node:
        case sase.Item(path, variable, at):
            return ex.Attribute(path, f"{variable}[{at}]", span=node.span)
        case sase.Aggregate():
            if node.k is not None or node.function not in sase.BUILT_IN:
                raise NotATerm(f"{node.function} is no total that slots keep")
            name = f"{node.variable}[]"
            return ex.Aggregate(node.function, name, node.attribute, span=node.span)
    return ex.rebuild(node, _renamed)
