"""SASE+ with values in slots of the kernel: clauses that compare events as terms.

What a clause reads is renamed first, so that `a[i]`, `a[i-1]`, `a[1]`, `a[a.LEN]` and `a[..i-1]`
are different variables to `TermBuilder`; then each is read where it is: in a column of the event at
hand, or in a slot.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

from cereus.automata.memory.refusal import CannotUseSlots, naming
from cereus.automata.memory.slots import Columns
from cereus.automata.memory.term_builder import TermBuilder, ValueRead
from cereus.automata.memory.terms import Term, column, slot
from cereus.automata.memory.totals import update, with_event
from cereus.automata.model import Slot, Slots, Update
from cereus.expr import tree as ex
from cereus.expr.print import condition_text
from cereus.languages.sase import tree as sase
from cereus.languages.sase.nfa.memory import NfaMemory, SlotMemory
from cereus.languages.sase.nfa.negation import NegatedComponent
from cereus.languages.sase.nfa.nfa import Nfa
from cereus.languages.sase.nfa.stages import NfaStage, Question
from cereus.languages.sase.planning.lower import BlockLowering
from cereus.languages.sase.print import expression_text
from cereus.plan.lowered import Lowered


class SlotValue(NamedTuple):
    """A value of a variable that a slot holds: of its `first` or `last` event, or a total."""

    variable: str
    how: str
    column: int


@dataclass
class BuffersInSlots(BlockLowering):
    """Values in slots of the kernel; raises CannotUseSlots where they cannot decide."""

    columns: Columns = field(default_factory=Columns)
    slots: dict[SlotValue, Slot] = field(default_factory=dict)
    read: set[tuple[int, SlotValue]] = field(default_factory=set)

    def lowered(self) -> Lowered[Nfa]:
        made = super().lowered()
        slots = made.slots + len(self.slots)
        columns = tuple(self.columns.numbers)
        return replace(made, columns=columns, slots=slots, in_slots=True)

    def question(
        self, clauses: list[ex.Expression], bit: int | None, at: Question, stage: int
    ) -> Question:
        if not clauses:
            return at._replace(bit=bit)
        return at._replace(bit=bit, others=self._term(clauses, at, stage))

    def series(
        self, component: sase.Component, after: int, as_series: bool, deferred: bool
    ) -> NegatedComponent:
        if after == 0:
            raise CannotUseSlots(f"~{component.variable} speaks of events before the match")
        if as_series:
            raise CannotUseSlots(f"~{component.variable}[] forbids a series as a whole")
        raise CannotUseSlots(f"~{component.variable} is compared with events that come later")

    def memory(self, stages: tuple[NfaStage, ...]) -> NfaMemory:
        numbers = {(stage.variable, stage.more): n for n, stage in enumerate(stages)}
        updates = tuple(tuple(self._updates(stage)) for stage in stages)
        set_in = tuple(self._set_in(stages, number) for number in range(len(stages) + 1))
        named = {place: self._named(kept) for kept, place in self.slots.items()}
        return SlotMemory(set_in, updates, numbers, named)

    def _named(self, kept: SlotValue) -> str:
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

    def _set_in(self, stages: tuple[NfaStage, ...], number: int) -> Slots:
        """The slots that are set in a state, and that it or a later one reads."""
        have = {stage.variable for stage in stages[:number]}
        wanted = {kept for stage, kept in self.read if stage >= number}
        return frozenset(self.slots[kept] for kept in wanted if kept.variable in have)

    def _updates(self, stage: NfaStage) -> list[Update]:
        made = [
            update(place, how, number, first=not stage.more)
            for (variable, how, number), place in self.slots.items()
            if variable == stage.variable
        ]
        return [each for each in made if each is not None]

    # ------------------------------------------------------------ terms

    def _term(self, clauses: list[ex.Expression], at: Question, stage: int) -> Term:
        assert self.schema is not None
        term: Term | None = None
        for clause in clauses:
            with naming(expression_text(clause)):
                builder = TermBuilder(_renamed(clause), self.schema)
                one = builder.term(lambda reading: self._value(reading, at, stage))
            term = one if term is None else Term("and", (term, one))
        assert term is not None
        return term

    def _value(self, reading: ValueRead, at: Question, stage: int) -> Term:
        """Where a value is, when the event at hand is read for `at`."""
        variable, _, place = reading.variable.partition("[")
        number = self.columns.read(reading)
        how = reading.total or {"": "first", "1]": "first", "i]": "now"}.get(place, "last")
        here = variable == at.at
        if how == "now" or (here and at.first and how == "first"):
            return column(number)
        before = slot(self._slot(SlotValue(variable, how, number), stage))
        if not (here and at.after) or how == "first":
            return before
        return with_event(how, number, None if at.first else before)

    def _slot(self, kept: SlotValue, stage: int) -> Slot:
        self.read.add((stage, kept))
        return self.slots.setdefault(kept, Slot(True, 1 + len(self.slots), 0))


def _renamed(node: ex.Expression) -> ex.Expression:
    """Each element of an array as a variable."""
    match node:
        case sase.Item(path, variable, at):
            return ex.Attribute(path, f"{variable}[{at}]", span=node.span)
        case sase.Aggregate():
            if (
                node.k is not None
                or node.function not in sase.BUILT_IN
                or node.parameter is not None
            ):
                raise CannotUseSlots(f"{node.function} is no total that slots keep")
            name = f"{node.variable}[]"
            return ex.Aggregate(node.function, name, node.attribute, span=node.span)
    return ex.rebuild(node, _renamed)
