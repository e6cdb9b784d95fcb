"""Conditions between events in words: who decides them, what is remembered, when it is checked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from cereus.automata.explore import Edge, Explored, explore_deterministic
from cereus.automata.memory.related import Related, Value
from cereus.automata.memory.slots import FLIPPED, Compared, Side
from cereus.automata.memory.terms import Term
from cereus.automata.model import NOTHING, Automaton, Check, Label, Slot
from cereus.explain.analysis import Outlook
from cereus.explain.growth import conditions, exponential
from cereus.expr.print import condition_text
from cereus.expr.tree import Aggregate, Attribute, Comparison, Expression
from cereus.languages.ceql.print import predicate_text
from cereus.languages.ceql.rewrite import about
from cereus.languages.sase.nfa.memory import Slotted
from cereus.languages.sase.nfa.nfa import START, Nfa
from cereus.plan.plan import NO_SCHEMA, Plan

FOUND_ONCE = "a match is found in one way only"
FOUND_AGAIN = "a match may be found in several ways: duplicates are removed"
COUNTED_AGAIN = "a match may be found in several ways, so that COUNT(*) is refused when it happens"
FOUND_UNKNOWN = (
    "if a match is found in several ways, which shows while running, duplicates are removed"
)


# ---------------------------------------------------------------- each condition


def decided(outlook: Outlook) -> Iterator[str]:
    """Each condition, what decides it, and what is remembered for it."""
    plan = outlook.whole
    if plan.registers:
        yield from _by_registers(outlook)
        return
    found = conditions(plan)
    for predicate, _, _, why in found:
        yield predicate_text(predicate)
        if why is not None or (len(found) == 1 and plan.why_values != NO_SCHEMA):
            yield f"    by states that remember values: {why or plan.why_values}"
        elif plan.why_values == NO_SCHEMA:
            yield "    by registers, as soon as the types of its columns are known, if they suffice"
        else:
            yield f"    by states that remember values, as all are when one must: {plan.why_values}"


def _by_registers(outlook: Outlook) -> Iterator[str]:
    plan, names, indexed = outlook.whole, slot_names(outlook), _indexed(outlook)
    alike: dict[str, list[Compared | Related]] = {}
    for node in comparisons(plan.automaton):
        alike.setdefault(_condition_text(plan, node), []).append(node)
    for text, nodes in alike.items():
        yield text
        yield f"    by registers, {_when_checked(nodes[0])}"
        for place, held in enumerate(_held(plan, nodes[0])):
            slots = [slot for n in nodes if (slot := _slot(n, place)) in names]
            if held and slots:
                yield f"    {_listed(names[slot] for slot in slots)}: {held}"
        found = indexed.intersection(_slot(n, place) for n in nodes for place in _places(n))
        if found:
            holding = _listed(names[slot] for slot in found)
            yield f"    index: an event finds the partial matches with its value in {holding}"


def comparisons(automaton: Automaton) -> Iterator[Compared | Related]:
    """The conditions in an automaton that registers decide, in the order of their numbers."""

    def found(part: object) -> Iterator[Compared | Related]:
        if isinstance(part, Compared | Related):
            yield part
        if isinstance(part, Automaton):
            for value in vars(part).values():
                yield from found(value)

    return iter(sorted(found(automaton), key=lambda node: node.number))


def _places(node: Compared | Related) -> list[int]:
    """The places of a condition that slots are needed for."""
    return [place for place, side in enumerate(_sides(node)) if side.needed]


def _sides(node: Compared | Related) -> Sequence[Side | Value]:
    return (node.left, node.right) if isinstance(node, Compared) else node.values


def _slot(node: Compared | Related, place: int) -> Slot:
    by_order = isinstance(node, Related) or node.op != "="
    return Slot(by_order, node.number, place)


def slot_names(outlook: Outlook) -> dict[Slot, str]:
    """Names for the slots that are ever set, in the order in which the kernel has them."""
    needed = {
        _slot(node, place)
        for node in comparisons(outlook.whole.automaton)
        for place in _places(node)
    }
    known = needed.union(*outlook.joint.slots)
    return {slot: f"r{number}" for number, slot in enumerate(sorted(known))}


def _condition_text(plan: Plan, node: Compared | Related) -> str:
    if isinstance(node, Related):
        return node.text
    left, right = (_expression(plan, side) for side in (node.left, node.right))
    return condition_text(Comparison(node.op, left, right))


def _expression(plan: Plan, side: Side | Value) -> Expression:
    return about(plan.columns_compared[side.column].expression, side.variable)


def _value(plan: Plan, side: Side | Value) -> str:
    value = condition_text(_expression(plan, side))
    how = side.how.split()[0] if isinstance(side, Value) else "set"
    if how == "tally":
        return f"count({side.variable})"
    return value if how == "set" else f"{how}({value})"


def _when_checked(node: Compared | Related) -> str:
    if isinstance(node, Related):
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


def _held(plan: Plan, node: Compared | Related) -> list[str]:
    """What the slot of each place holds; nothing where none is needed."""
    if isinstance(node, Related):
        return [_value(plan, value) if value.needed else "" for value in node.values]
    sides = enumerate((node.left, node.right))
    return [_extreme(plan, node.op, side, n) if side.needed else "" for n, side in sides]


def _extreme(plan: Plan, op: str, side: Side, place: int) -> str:
    value = _value(plan, side)
    if not side.repeats:
        return value
    if op == "=":
        return f"the only {value} (where they differ, nothing equals them all)"
    largest = (op in ("<", "<=")) == (place == 0)
    return f"the {'largest' if largest else 'smallest'} {value}"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(dict.fromkeys(names)))


# ---------------------------------------------------------------- the automaton with registers


def doing_text(outlook: Outlook, edge: Edge) -> tuple[str, str]:
    """What a move asks of registers, and what it writes to them."""
    names = slot_names(outlook)
    columns = [condition_text(c.expression, bare=True) for c in outlook.whole.columns_compared]
    asked = [_asked(check, names, columns) for check in edge.checks]
    written = [
        f"{names[slot]} := " + _written(how, names[slot], columns[column] if column >= 0 else "")
        for slot, how, column in edge.updates
    ]
    return (f" if {' and '.join(asked)}" if asked else "", ", ".join(written))


def _asked(check: Check, names: dict[Slot, str], columns: list[str]) -> str:
    op, slot, column, other, term = check
    if term is not None:
        said = term_text(term, names, columns)
        return said if op == "holds" else f"not ({_bare(said)})"
    left = columns[column] if slot is None else names[slot]
    return f"{left} {'!=' if op == 'differs' else op} {columns[other if slot is None else column]}"


def _written(how: str, slot: str, column: str) -> str:
    if how == "set":
        return column
    if how == "start":
        return "when it began"
    if how == "tally":
        return f"{slot} + 1"
    return f"{how.split()[0]}({slot}, {column})"


def term_text(term: Term, names: dict[Slot, str], columns: list[str]) -> str:
    """A term as a person would write it, over names of slots and columns."""
    match term:
        case Term("column", (number,)):
            value = columns[number]
            return f"({value})" if " " in value else value
        case Term("slot", (slot,)):
            return str(names[slot])
        case Term("constant", (value,)):
            return "NULL" if value is None else str(value)
    parts = [term_text(operand, names, columns) for operand in term.operands]
    op = term.op.removesuffix(" int").removesuffix(" float")
    if op in INFIX and len(parts) == 2:
        return f"({parts[0]} {INFIX[op]} {parts[1]})"
    return parts[0] if op == "to" else f"{op}({', '.join(map(_bare, parts))})"


def _bare(said: str) -> str:
    """Without the parentheses around the whole of it."""
    return said[1:-1] if said.startswith("(") else said


INFIX = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "modulo": "%",
    "and": "AND", "or": "OR", **{op: op for op in FLIPPED},
}  # fmt: skip


def _indexed(outlook: Outlook) -> set[Slot]:
    """The slots that the engine finds partial matches by (`TransitionTable._index`): the first
    of a state, where all moves but staying ask it to equal one and the same column."""
    explored, found = outlook.joint, set()
    for state, slots in enumerate(explored.slots):
        first = min(slots, default=None)
        by_letter: dict[int, list[Edge]] = {}
        for edge in explored.edges:
            if edge.source == state:
                by_letter.setdefault(edge.letter, []).append(edge)
        for edges in by_letter.values():
            moving = [edge for edge in edges if not _stays(edge)]
            asked = [
                {c.column for c in e.checks if c.op == "=" and c.slot == first} for e in moving
            ]
            if first is not None and len(moving) < len(edges) and asked:
                found |= {first} if set.intersection(*asked) else set()
    return found


def _stays(edge: Edge) -> bool:
    return edge.source == edge.target and edge.label == NOTHING and not edge.checks + edge.updates


# ---------------------------------------------------------------- matches and memory


def ambiguity(outlook: Outlook) -> str:
    """Whether one match may be found twice."""
    plan = outlook.whole
    if not plan.registers:
        return FOUND_ONCE  # the states of all runs that mark the same events are one set
    if not outlook.alphabet.complete:
        return FOUND_UNKNOWN
    explored = explore_deterministic(
        plan.automaton, outlook.alphabet.letters, seen=lambda label: _seen(plan, label)
    )
    if _ambiguous(explored):
        return COUNTED_AGAIN if plan.query.count else FOUND_AGAIN
    return FOUND_ONCE if explored.complete else FOUND_UNKNOWN


def _seen(plan: Plan, label: Label) -> Label:
    shown = plan.label(label)
    return NOTHING if shown is None else shown or frozenset({"(not selected)"})


def _ambiguous(explored: Explored) -> bool:
    """Two moves that mark an event alike and may both be possible, as `TransitionTable` asks."""
    alike: dict[tuple[int, int, Label], list[Edge]] = {}
    for edge in explored.edges:
        alike.setdefault((edge.source, edge.letter, edge.label), []).append(edge)
    return any(
        _both_possible(first, second)
        for edges in alike.values()
        for first, second in combinations(edges, 2)
    )


def _both_possible(first: Edge, second: Edge) -> bool:
    return not any(a.refutes(b) for a in first.checks for b in second.checks)


def growth(outlook: Outlook) -> str:
    """How many configurations (states with values) there may be at once."""
    plan = outlook.whole
    if exponential(plan):
        return "configurations: may grow exponentially (see the warnings)"
    held = _live_values(outlook) if plan.registers else [_values_read(plan)]
    if not any(held):
        return "configurations: a constant number"
    kinds = "combination of values" if max(map(len, held)) > 1 else "distinct value"
    where = "stream" if plan.query.window is None else "window"
    values = " or of ".join(sorted({", ".join(each) for each in held}))
    return f"configurations: at most one per state and {kinds} of {values} in the {where}"


def _live_values(outlook: Outlook) -> list[list[str]]:
    """What is held in the fullest states that partial matches can stay in."""
    explored, names = outlook.joint, slot_names(outlook)
    lasting = {explored.slots[state] for state in outlook.lasting(explored)}
    if not explored.complete:
        lasting = {frozenset(names)}
    for node in comparisons(outlook.whole.automaton):
        for place, side in enumerate(_sides(node)):
            names[_slot(node, place)] = _value(outlook.whole, side)
    names.update(slot_values(outlook.whole))
    fullest = [slots for slots in lasting if not any(slots < other for other in lasting)]
    return [sorted({names[slot] for slot in slots}) for slots in fullest]


def slot_values(plan: Plan) -> dict[Slot, str]:
    """What the slots of a SASE+ query hold."""
    automaton = plan.automaton
    if not isinstance(automaton, Nfa) or not isinstance(automaton.memory, Slotted):
        return {}
    return {**automaton.memory.named, START: "when it began"}


def _values_read(plan: Plan) -> list[str]:
    nodes = (node for each in conditions(plan) for node in each.condition.walk())
    return sorted({condition_text(n) for n in nodes if isinstance(n, Attribute | Aggregate)})
