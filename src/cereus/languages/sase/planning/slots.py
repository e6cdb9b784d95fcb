"""SASE+ with values in slots of the kernel: clauses that compare events become terms.

The identifiers of a clause are renamed first, so that `a[i]`, `a[i-1]`, `a[1]`, `a[a.LEN]` and
`a[..i-1]` are different variables to `TermBuilder`; then each is read where it is: in a column of
the event at hand, or in a slot.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

from cereus.automata.memory.refusal import CannotUseSlots, naming
from cereus.automata.memory.slots import Columns
from cereus.automata.memory.term_builder import TermBuilder, ValueRead
from cereus.automata.memory.terms import Absent, PastKind, Term, column, slot
from cereus.automata.memory.terms import past as past_value
from cereus.automata.memory.totals import BASE, SPREAD, update, with_event
from cereus.automata.model import Slot, Slots, Update
from cereus.expr import tree as ex
from cereus.expr.print import condition_text
from cereus.languages.sase import tree as sase
from cereus.languages.sase.nfa.memory import NfaMemory, SlotMemory
from cereus.languages.sase.nfa.negation import ForbiddenPast, NegatedComponent
from cereus.languages.sase.nfa.nfa import Nfa
from cereus.languages.sase.nfa.stages import NfaStage, Question
from cereus.languages.sase.places import identifiers
from cereus.languages.sase.planning.lower import FIRST, BlockLowering, alone, is_local, paths_of
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
    past: list[PastKind] = field(default_factory=list)

    def lowered(self) -> Lowered[Nfa]:
        made = super().lowered()
        return replace(
            made,
            columns=tuple(self.columns.numbers),
            slots=made.slots + len(self.slots),
            correlated=made.correlated or bool(self.past),
            in_slots=True,
            past=tuple(self.past),
        )

    def question(
        self, clauses: list[ex.Expression], bit: int | None, at: Question, stage: int
    ) -> Question:
        if not clauses:
            return at._replace(bit=bit)
        return at._replace(bit=bit, others=self._term(clauses, at, stage))

    def series(
        self, component: sase.Component, after: int, as_series: bool, deferred: bool
    ) -> NegatedComponent:
        if as_series:
            raise CannotUseSlots(f"~{component.variable}[] forbids a series as a whole")
        if after == 0 and self.query.skip is not None:
            raise CannotUseSlots(f"~{component.variable} is about events before those skipped")
        variable, components = component.variable, self.query.components
        clauses = self._placed(variable, FIRST)
        local = [c for c in clauses if is_local(c, variable, Question(at=variable))]
        others = [c for c in clauses if c not in local]
        decided = self._decided_at(variable, after, others)
        bit = self.tests.bit(self._test(component.types, tuple(map(alone, local))))
        stage, at = list(self._first_stages())[decided], Question(at=components[decided].variable)
        columns: dict[int, None] = {}
        term = None
        if others:
            self.compared.update(*map(paths_of, others))
            term = self._term(others, at, stage, past=(variable, columns))
        before = after - 1 if after else None
        event = Absent(
            len(self.past),
            None if before is None else self._ordinal(components[before], "last", stage),
            None if decided == after else self._ordinal(components[after], "first", stage),
            term,
        )
        self.past.append(PastKind(bit, tuple(columns), always=after == 0))
        return ForbiddenPast(after, stage, event)

    def _decided_at(self, variable: str, after: int, clauses: list[ex.Expression]) -> int:
        """The component whose first event decides whether an event is forbidden."""
        components = self.query.components
        several = [isinstance(each, sase.Kleene) for each in components]
        names = [each.variable for each in components]
        if after == 0:
            if several[-1]:
                raise CannotUseSlots(f"~{variable} is about a window whose end is not known")
            return len(components) - 1
        read = {node.variable for clause in clauses for node in identifiers(clause)}
        places = [place for place, name in enumerate(names) if name in read and place >= after]
        latest = max((place + several[place] for place in places), default=after)
        if latest == len(components):
            raise CannotUseSlots(f"~{variable} is compared with a Kleene plus at the end")
        return max(after, latest)

    def _ordinal(self, component: sase.Component, which: str, stage: int) -> Slot:
        """The slot with the ordinal of the first or the last event of a component."""
        return self._slot(SlotValue(component.variable, f"{which} ordinal", -1), stage)

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
        several = isinstance(self.query.component(name), sase.Kleene)
        if number < 0:
            place = {"first ordinal": "[1]", "last ordinal": f"[{name}.LEN]"}[how]
            return f"which event {name}{place if several else ''} is"
        value = condition_text(list(self.columns.numbers)[number].expression, bare=True)
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
            update(
                place,
                how.removesuffix(" ordinal"),
                number,
                first=not stage.more,
                base=self.slots.get(SlotValue(variable, BASE, number)),
            )
            for (variable, how, number), place in self.slots.items()
            if variable == stage.variable
        ]
        return [
            each._replace(how="ordinal") if each.how == "set" and each.column < 0 else each
            for each in made
            if each is not None
        ]

    # ------------------------------------------------------------ terms

    def _term(
        self,
        clauses: list[ex.Expression],
        at: Question,
        stage: int,
        past: tuple[str, dict[int, None]] = ("", {}),
    ) -> Term:
        """All clauses as one term; `past` is the variable of an event of the past, and the columns
        that are kept of it."""
        assert self.schema is not None
        variable, columns = past

        def value(reading: ValueRead) -> Term:
            if reading.variable.partition("[")[0] != variable:
                return self._value(reading, at, stage)
            if reading.total:
                raise CannotUseSlots("it totals events that must not come")
            number = self.columns.read(reading)
            columns.setdefault(number)
            return past_value(list(columns).index(number))

        term: Term | None = None
        for clause in clauses:
            with naming(expression_text(clause)):
                builder = TermBuilder(_renamed(clause), self.schema)
                one = builder.term(value)
            term = one if term is None else Term("and", (term, one))
        assert term is not None
        return term

    def _value(self, reading: ValueRead, at: Question, stage: int) -> Term:
        """The term of a value, when the event at hand is read for `at`."""
        variable, _, place = reading.variable.partition("[")
        number = self.columns.read(reading)
        how = reading.total or {"": "first", "1]": "first", "i]": "now"}.get(place, "last")
        here = variable == at.at
        if how == "now" or (here and at.first and how == "first"):
            return column(number)
        before = slot(self._slot(SlotValue(variable, how, number), stage))
        if not (here and at.after) or how == "first":
            return before
        base = self._slot(SlotValue(variable, BASE, number), stage) if how in SPREAD else None
        return with_event(how, number, None if at.first else before, base)

    def _slot(self, kept: SlotValue, stage: int) -> Slot:
        self.read.add((stage, kept))
        return self.slots.setdefault(kept, Slot(True, 1 + len(self.slots), 0))


def _renamed(node: ex.Expression) -> ex.Expression:
    """The expression with each element of an array as a variable."""
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
