"""Conditions between events in words: who decides them, what is remembered, when it is checked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations

from cereus.automata.automaton import NOTHING, Automaton, Label, Slot
from cereus.automata.explore import Edge, Explored, explore_deterministic
from cereus.automata.registers import Compared, Side
from cereus.lang.expression import Aggregate, Attribute, Comparison, Expression
from cereus.lang.print_ceql import predicate_text
from cereus.lang.print_expression import condition_text
from cereus.plan.growth import conditions, exponential
from cereus.plan.outlook import Outlook
from cereus.plan.plan import NO_SCHEMA, Plan
from cereus.plan.rewrite import about

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
    alike: dict[str, list[Compared]] = {}
    for node in comparisons(plan.automaton):
        alike.setdefault(_comparison_text(plan, node), []).append(node)
    for text, nodes in alike.items():
        yield text
        yield f"    by registers, {_when_checked(nodes[0])}"
        for place, side in enumerate((nodes[0].left, nodes[0].right)):
            slots = [slot for n in nodes if (slot := _slot(n, place)) in names]
            if side.needed and slots:
                held = _held(plan, nodes[0].op, side, place)
                yield f"    {_listed(names[slot] for slot in slots)}: {held}"
        found = indexed.intersection(_slot(node, place) for node in nodes for place in (0, 1))
        if found:
            holding = _listed(names[slot] for slot in found)
            yield f"    index: an event finds the partial matches with its value in {holding}"


def comparisons(automaton: Automaton) -> Iterator[Compared]:
    """The comparisons in an automaton, in the order of their numbers."""

    def found(part: object) -> Iterator[Compared]:
        if isinstance(part, Compared):
            yield part
        if isinstance(part, Automaton):
            for value in vars(part).values():
                yield from found(value)

    return iter(sorted(found(automaton), key=lambda node: node.number))


def _slot(node: Compared, place: int) -> Slot:
    return Slot(node.op != "=", node.number, place)


def slot_names(outlook: Outlook) -> dict[Slot, str]:
    """Names for the slots that are ever set, in the order in which the kernel has them."""
    needed = {
        _slot(node, place)
        for node in comparisons(outlook.whole.automaton)
        for place, side in enumerate((node.left, node.right))
        if side.needed
    }
    known = needed.union(*outlook.joint.slots)
    return {slot: f"r{number}" for number, slot in enumerate(sorted(known))}


def _comparison_text(plan: Plan, node: Compared) -> str:
    left, right = (_expression(plan, side) for side in (node.left, node.right))
    return condition_text(Comparison(node.op, left, right))


def _expression(plan: Plan, side: Side) -> Expression:
    return about(plan.columns_compared[side.column].expression, side.variable)


def _value(plan: Plan, side: Side) -> str:
    return condition_text(_expression(plan, side))


def _when_checked(node: Compared) -> str:
    ways = ((node.left, node.right), (node.right, node.left))
    later = [other for side, other in ways if side.needed]
    if not later:
        return "checked where one event is marked by both"
    if len(later) == 2:
        first, second = sorted(side.variable for side in later)
        return f"checked when {first} or {second} is marked, whichever comes later"
    return f"checked when {later[0].variable} is marked"


def _held(plan: Plan, op: str, side: Side, place: int) -> str:
    """What a slot holds of its side."""
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
    asked = [
        f"{columns[column] if slot is None else names[slot]} "
        f"{'!=' if op == 'differs' else op} {columns[other if slot is None else column]}"
        for op, slot, column, other in edge.checks
    ]
    written = [
        f"{names[slot]} := "
        + (columns[column] if how == "set" else f"{how}({names[slot]}, {columns[column]})")
        for slot, how, column in edge.updates
    ]
    return (f" if {' and '.join(asked)}" if asked else "", ", ".join(written))


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
    checks = first.checks + second.checks
    refuted = {("=", c.slot, c.column) for c in checks if c.op == "differs"}
    return refuted.isdisjoint((c.op, c.slot, c.column) for c in checks)


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
        for place, side in enumerate((node.left, node.right)):
            names[_slot(node, place)] = _value(outlook.whole, side)
    fullest = [slots for slots in lasting if not any(slots < other for other in lasting)]
    return [sorted({names[slot] for slot in slots}) for slots in fullest]


def _values_read(plan: Plan) -> list[str]:
    nodes = (node for each in conditions(plan) for node in each.condition.walk())
    return sorted({condition_text(n) for n in nodes if isinstance(n, Attribute | Aggregate)})
