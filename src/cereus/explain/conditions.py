"""Describes conditions between events: who decides them, what is remembered, when it is checked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations

from cereus.automata.explore import Edge, Explored, explore_deterministic
from cereus.automata.memory.absence import AbsenceFilter
from cereus.automata.memory.distance import InSlots
from cereus.automata.memory.filters import FLIPPED, ComparisonFilter, Side, TermFilter, Value
from cereus.automata.memory.past_absence import PastAbsenceFilter
from cereus.automata.memory.slots import Column
from cereus.automata.memory.terms import Absent, Term
from cereus.automata.memory.totals import EVERY
from cereus.automata.model import NOTHING, Check, Label, Slot, Update
from cereus.automata.subset import exclusive, index_columns, may_end_alike
from cereus.explain.analysis import PlanAnalysis
from cereus.explain.listing import seen_label
from cereus.explain.slowness import SlotFilter, comparisons
from cereus.expr.print import condition_text
from cereus.expr.tree import Attribute, Comparison, Expression, about, rebuild
from cereus.plan.plan import Plan

MATCHED_ONCE = "a match is found in one way only"
MATCHED_AGAIN = "a match may be found in several ways: duplicates are removed"
COUNTED_AGAIN = "a match may be found in several ways, so that COUNT(*) is refused when it happens"
MATCHED_UNKNOWN = (
    "if a match is found in several ways, which shows while running, duplicates are removed"
)


SCOPE = "the event where a strategy begins to choose"
"""The content of a slot that chooses."""

# ---------------------------------------------------------------- each condition


def by_registers(analysis: PlanAnalysis) -> Iterator[str]:
    """Each condition that registers decide, when it is checked, and what is remembered for it."""
    plan, names, indexed = analysis.full_plan, slot_names(analysis), _indexed(analysis)
    alike: dict[str, list[SlotFilter]] = {}
    for node in comparisons(plan.automaton):
        alike.setdefault(_condition_text(plan, node), []).append(node)
    for text, nodes in alike.items():
        yield text
        yield f"    by registers, {_when_checked(nodes[0])}"
        for place, content in enumerate(_slot_contents(plan, nodes[0])):
            slots = [slot for n in nodes if (slot := n.slot(place)) in names]
            if content and slots:
                yield f"    {_listed(names[slot] for slot in slots)}: {content}"
        indexed_slots = indexed.intersection(n.slot(place) for n in nodes for place in _places(n))
        if indexed_slots:
            holding = _listed(names[slot] for slot in indexed_slots)
            yield f"    index: an event finds the partial matches with its value in {holding}"


def _places(node: SlotFilter) -> list[int]:
    """The places of a condition that need slots."""
    return [place for place, side in enumerate(_sides(node)) if side.needed]


def _sides(node: SlotFilter) -> tuple[Side | Value, ...]:
    return node.sides


def slot_names(analysis: PlanAnalysis) -> dict[Slot, str]:
    """Names for the slots that are ever set, in the order in which the kernel has them."""
    needed = {
        node.slot(place)
        for node in comparisons(analysis.full_plan.automaton)
        for place in _places(node)
    }
    known = needed.union(*analysis.joint.slots)
    return {slot: f"r{number}" for number, slot in enumerate(sorted(known))}


def _condition_text(plan: Plan, node: SlotFilter) -> str:
    if not isinstance(node, ComparisonFilter):
        return node.text
    left, right = (_expression(plan, side) for side in node.sides)
    return condition_text(Comparison(node.op, left, right))


def _expression(plan: Plan, side: Side | Value) -> Expression:
    return about(plan.columns_compared[side.column].expression, side.variable)


def _value(plan: Plan, side: Side | Value) -> str:
    how = side.how.split()[0] if isinstance(side, Value) else "set"
    if how == "tally":
        return f"count({side.variable})"
    value = condition_text(_expression(plan, side))
    if how == EVERY:
        return _all_values(value)
    return value if how == "set" else f"{how}({value})"


def _all_values(value: str) -> str:
    """The content of a slot with a set."""
    return f"the set of all {value}"


def _when_checked(node: SlotFilter) -> str:
    if isinstance(node, PastAbsenceFilter):
        return "checked where the rest of its part of the pattern is complete"
    if isinstance(node, AbsenceFilter):
        return "checked when such an event comes"
    if isinstance(node, InSlots):
        return "checked when the next event is marked"
    if isinstance(node, TermFilter):
        if node.at_the_end:
            return "checked where the rest of its part of the pattern is complete"
        return f"checked when the last of {_listed(node.names)} is marked"
    ways = ((node.left, node.right), (node.right, node.left))
    later = [other for side, other in ways if side.needed]
    if not later:
        return "checked where one event is marked by both"
    if len(later) == 2:
        first, second = sorted(side.variable for side in later)
        return f"checked when {first} or {second} is marked, whichever comes later"
    return f"checked when {later[0].variable} is marked"


def _slot_contents(plan: Plan, node: SlotFilter) -> list[str]:
    """The content of the slot of each place; empty if none is needed."""
    if not isinstance(node, ComparisonFilter):
        return [_value(plan, value) if value.needed else "" for value in node.values]
    sides = enumerate(node.sides)
    return [_extreme(plan, node, side, n) if side.needed else "" for n, side in sides]


def _extreme(plan: Plan, node: ComparisonFilter, side: Side, place: int) -> str:
    value = _value(plan, side)
    if not side.repeats:
        return value
    if node.keeps_all(place):
        return _all_values(value)
    if node.op == "=":
        return f"the only {value} (where they differ, nothing equals them all)"
    return f"the {'largest' if node.keeps_largest(place) else 'smallest'} {value}"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(dict.fromkeys(names)))


# ---------------------------------------------------------------- the automaton with registers


def doing_text(analysis: PlanAnalysis, edge: Edge) -> tuple[str, str]:
    """The checks of a move on registers, and what it writes to them."""
    names = slot_names(analysis)
    columns = [_column_text(column) for column in analysis.full_plan.columns_compared]
    checks = [_check_text(check, names, columns) for check in edge.checks]
    written = [
        f"{names[each.slot]} := {_written(each, names, columns)}"
        for each in edge.updates
        if each.slot in names  # a slot that no state holds is never read
    ]
    return (f" if {' and '.join(checks)}" if checks else "", ", ".join(written))


def _column_text(column: Column) -> str:
    if (watched := column.watched) is None:
        return condition_text(column.expression, bare=True)
    return f"the beginning of the last w{watched}" if watched >= 0 else "this event"


def _check_text(check: Check, names: dict[Slot, str], columns: list[str]) -> str:
    op, slot, column, other, term = check
    if op == "every" and slot is not None:
        return f"{term_text(term, names, columns)} for each member of {names[slot]}"
    if op == "not in" and slot is not None:
        return f"{columns[column]} not in {names[slot]}"
    if isinstance(term, Absent):
        number = "no" if op == "absent" else "a"
        return f"{number} {_absent_text(term, names, columns)}"
    if term is not None:
        text = term_text(term, names, columns)
        return text if op == "holds" else f"not ({_bare(text)})"
    left = columns[column] if slot is None else names[slot]
    return f"{left} {'!=' if op == 'differs' else op} {columns[other if slot is None else column]}"


def _absent_text(what: Absent, names: dict[Slot, str], columns: list[str]) -> str:
    """The words for what must not have come, and where."""
    _, after, before, term = what
    place = "in the window" if after is None else f"after {names[after]}"
    place += "" if before is None else f" before {names[before]}"
    text = "" if term is None else f" where {_bare(term_text(term, names, columns))}"
    return f"such event {place}{text}"


def _written(update: Update, names: dict[Slot, str], columns: list[str]) -> str:
    how, slot = update.how, names[update.slot]
    column = columns[update.column] if update.column >= 0 else ""
    if update.term is not None:
        return _bare(term_text(update.term, names, columns))
    if how == "set":
        return column
    if how == "start":
        return "when it began"
    if how in ("ordinal", "scope"):
        return "this event"
    if how == "tally":
        return f"{slot} + 1"
    if how == "insert":
        return f"{slot} with {column}"
    return f"{how.split()[0]}({slot}, {column})"


def term_text(term: Term, names: dict[Slot, str], columns: list[str]) -> str:
    """A term as a person would write it, over names of slots and columns."""
    match term:
        case Term("column", (number,)):
            value = columns[number]
            return f"({value})" if " " in value else value
        case Term("slot", (slot,)):
            return str(names[slot])
        case Term("member", ()):
            return "member"
        case Term("past", (place,)):
            return f"its value {place + 1}"
        case Term("constant", (value,)):
            return "NULL" if value is None else str(value)
        case Term("function", (function, *operands)):
            texts = [term_text(operand, names, columns) for operand in operands]
            return _with_operands(function.expression, texts)
    parts = [term_text(operand, names, columns) for operand in term.operands]
    op = term.op.removesuffix(" int").removesuffix(" float")
    if op in INFIX and len(parts) == 2:
        return f"({parts[0]} {INFIX[op]} {parts[1]})"
    return parts[0] if op == "to" else f"{op}({', '.join(map(_bare, parts))})"


def _with_operands(node: Expression, operands: list[str]) -> str:
    """The expression of a function with its operands as text."""

    def written(part: Expression) -> Expression:
        if isinstance(part, Attribute):
            return Attribute((operands[int(part.path[0])],))
        return rebuild(part, written)

    return f"({condition_text(written(node), bare=True)})"


def _bare(text: str) -> str:
    """The text without the outermost parentheses."""
    return text[1:-1] if text.startswith("(") else text


INFIX = {
    "join": "+ carry",
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "modulo": "%",
    "and": "AND", "or": "OR", **{op: op for op in FLIPPED},
}  # fmt: skip


def _indexed(analysis: PlanAnalysis) -> set[Slot]:
    """The slots by which the engine finds partial matches (`TransitionTable._index`): the first of
    a state, if all moves except staying require it to equal the same column."""
    explored, indexed = analysis.joint, set()
    for state, slots in enumerate(explored.slots):
        first = min(slots, default=None)
        by_letter: dict[int, list[Edge]] = {}
        for edge in explored.edges:
            if edge.source == state:
                by_letter.setdefault(edge.letter, []).append(edge)
        for edges in by_letter.values():
            moving = [edge for edge in edges if not _stays(edge)]
            if first is not None and len(moving) < len(edges):
                indexed |= {first} if index_columns(first, (e.checks for e in moving)) else set()
    return indexed


def _stays(edge: Edge) -> bool:
    return edge.source == edge.target and edge.label == NOTHING and not edge.checks + edge.updates


# ---------------------------------------------------------------- matches and memory


def ambiguity(analysis: PlanAnalysis) -> str:
    """Whether one match may be found twice."""
    plan = analysis.full_plan
    if not plan.traits.registers:
        return MATCHED_ONCE  # the states of all runs that mark the same events are one set
    if not analysis.alphabet.complete:
        return MATCHED_UNKNOWN
    explored = explore_deterministic(
        plan.automaton, analysis.alphabet.letters, seen=lambda label: seen_label(plan, label)
    )
    if _ambiguous(explored, analysis.alphabet.letters):
        return COUNTED_AGAIN if plan.counts_unlisted else MATCHED_AGAIN
    return MATCHED_ONCE if explored.complete else MATCHED_UNKNOWN


def _ambiguous(explored: Explored, letters: tuple[int, ...]) -> bool:
    """Whether two moves may both be possible, mark an event alike, and end alike, as
    `TransitionTable` decides."""
    alike: dict[tuple[int, int, Label], list[Edge]] = {}
    ways: dict[tuple[int, int], list[tuple[Label, int]]] = {}
    for edge in explored.edges:
        alike.setdefault((edge.source, edge.letter, edge.label), []).append(edge)
        ways.setdefault((edge.source, edge.letter), []).append((edge.label, edge.target))
    known = letters if explored.complete else None
    reported = explored.accepting | explored.closing
    going_on = {edge.source for edge in explored.edges} | explored.closing

    def apart(one: int, other: int) -> bool:
        """Whether two states are never reported together: one is over with this event, and the
        other does not accept."""
        return one not in going_on and other not in explored.accepting

    return any(
        not exclusive(first.checks, second.checks)
        and not apart(first.target, second.target)
        and not apart(second.target, first.target)
        and may_end_alike(
            first.target,
            second.target,
            known,
            lambda state, letter: ways.get((state, letter), ()),
            reported.__contains__,
        )
        for edges in alike.values()
        for first, second in combinations(edges, 2)
    )


def growth(analysis: PlanAnalysis) -> Iterator[str]:
    """How many configurations (states with values) there may be at once, as far as is known."""
    plan = analysis.full_plan
    if plan.traits.registers:
        remembered = _live_values(analysis)
    else:
        read = analysis.description.values_read(plan)
        if read is None:
            return
        remembered = [read]
    if analysis.description.exponential(plan):
        yield "configurations: may grow exponentially (see the warnings)"
    elif not any(remembered):
        yield "configurations: a constant number"
    else:
        yield _configurations(plan, remembered)


def _configurations(plan: Plan, remembered: list[list[str]]) -> str:
    kinds = "combination of values" if max(map(len, remembered)) > 1 else "distinct value"
    where = "stream" if plan.query.window is None else "window"
    values = " or of ".join(sorted({", ".join(each) for each in remembered}))
    return f"configurations: at most one per state and {kinds} of {values} in the {where}"


def _live_values(analysis: PlanAnalysis) -> list[list[str]]:
    """The values remembered in the fullest states that partial matches can stay in."""
    explored, names = analysis.joint, slot_names(analysis)
    lasting = {explored.slots[state] for state in analysis.lasting(explored)}
    if not explored.complete:
        lasting = {frozenset(names)}
    for node in comparisons(analysis.full_plan.automaton):
        for place, side in enumerate(_sides(node)):
            value = _value(analysis.full_plan, side)
            is_set = isinstance(node, ComparisonFilter) and node.keeps_all(place)
            names[node.slot(place)] = _all_values(value) if is_set else value
    names.update(analysis.description.slot_values(analysis.full_plan))
    names.update({slot: SCOPE for slot in names if slot.chooses})
    fullest = [slots for slots in lasting if not any(slots < other for other in lasting)]
    return [sorted({names[slot] for slot in slots}) for slots in fullest]
