"""explain: a plan in words that a person can read."""

from __future__ import annotations

from collections.abc import Iterator

from cereus.automata.explore import Edge, Explored
from cereus.automata.model import NOTHING
from cereus.clauses.tree import Consume, Strategy
from cereus.explain.analysis import Outlook, warnings
from cereus.explain.conditions import (
    ambiguity,
    decided,
    doing_text,
    growth,
    slot_names,
    slot_values,
)
from cereus.explain.wording import label_text, letters_text, several, test_text
from cereus.expr.print import condition_text
from cereus.languages.ceql.plan import RULES
from cereus.languages.ceql.print import formula_text
from cereus.languages.ceql.rewrite import RULES as LOCAL_RULES
from cereus.languages.ceql.rewrite import rewrite
from cereus.languages.ceql.text import to_text
from cereus.languages.sase import print as print_sase
from cereus.languages.sase import tree as sase
from cereus.languages.sase.plan.block import is_local
from cereus.languages.sremo import print as print_sremo
from cereus.languages.sremo import tree as sremo
from cereus.plan.plan import ChosenBy, Plan

__all__ = ["explain", "moves", "warnings"]

NODE_BYTES = 32
REMEMBERED_BYTES = 20
"""Of an event that passed a test: its row number, its time, its key."""

MOST_STATES_SHOWN = 24
ENGINES = {
    ChosenBy.KERNEL: "choosing",
    ChosenBy.REPLAY: "then replay of windows",
    ChosenBy.LISTING: "then a choice among what it lists",
}
_PLACES = {
    "ceql": ": :+ START ALL STRICT, or WITHIN … EVENTS",
    "sremo": ". between events without skip*, & ! [1..w], or WITHIN … EVENTS",
    "sase": "WITHIN … EVENTS",
}
"""What looks at places in each language."""


def explain(plan: Plan) -> str:
    """The query as understood, the stages it goes through, what each asks, keeps and drops."""
    outlook = Outlook(plan)
    sections = {
        "query": _query_text(plan).splitlines(),
        "stages": _stages(plan, outlook),
        "tests": _tests(outlook),
        "conditions between events": _between(outlook),
        "dropped before the kernel": _dropped(plan),
        f"automaton{_of_what(plan)}": _automaton(outlook),
        "matches": _matches(plan, outlook),
        "memory": _memory(plan, outlook),
        "warnings": iter(warnings(plan)),
    }
    parts = []
    for title, lines in sections.items():
        body = "\n".join(f"  {line}" for line in lines)
        if body:
            parts.append(f"{title}\n{body}")
    return "\n\n".join(parts)


def _query_text(plan: Plan) -> str:
    match plan.query.formula:
        case sremo.Pattern():
            return print_sremo.to_text(plan.query)
        case sase.Pattern(block):
            return print_sase.query_text(block)
    return to_text(plan.query)


# ---------------------------------------------------------------- stages and tests


def _stages(plan: Plan, outlook: Outlook) -> Iterator[str]:
    formula = plan.query.formula
    if isinstance(formula, sremo.Pattern):
        operators = sum(1 for _ in formula.expression.walk())
        yield f"lang       {plan.dialect} text → expression with {operators} parts"
        written_out = print_sremo.expression_text(sremo.rewritten(formula.expression))
        yield f"rewrite    any and next written out: {written_out}"
    elif isinstance(formula, sase.Pattern):
        yield f"lang       {plan.dialect} text → {len(formula.query.parts)} components"
        yield "rewrite    proceed edges of NFA^b become one with the begin or ignore after them"
    else:
        operators = sum(1 for _ in formula.walk())
        yield f"lang       {plan.dialect} text → formula with {operators} parts"
        rules = RULES if plan.correlated else LOCAL_RULES
        names = ", ".join(rule.__name__ for rule in rules)
        yield f"rewrite    {names}: {formula_text(rewrite(formula, rules))}"
    yield f"automaton  {_states_text(outlook.built, 'state')} over {_letters_said(outlook)}"
    said = [_engine(plan)]
    if not plan.correlated:
        said.append(_states_text(outlook.run, "I/O-deterministic state"))
    yield f"kernel     {': '.join(filter(None, said))}"


def _engine(plan: Plan) -> str:
    if plan.registers:
        return f"with registers: at most {several(plan.slots, 'value')} per partial match"
    if plan.remembers_values:
        return "states that remember values" + (f": {plan.why_values}" if plan.why_values else "")
    if plan.query.count:
        return "counting, without listing"
    return ENGINES.get(plan.chosen_by, "")


def _states_text(explored: Explored, what: str) -> str:
    if not explored.complete:
        return f"more than {explored.states} {what}s; made on demand"
    return several(len(explored.useful), what)


def _letters_said(outlook: Outlook) -> str:
    count = len(outlook.alphabet.letters)
    if not outlook.alphabet.complete:
        return f"more than {count} letters"
    return several(count, "letter")


def _between(outlook: Outlook) -> Iterator[str]:
    pattern = outlook.whole.query.formula
    if isinstance(pattern, sremo.Pattern):
        yield from (condition_text(c) for c in pattern.conditions_on_registers)
    elif isinstance(pattern, sase.Pattern):
        yield from _between_sase(outlook, pattern.query)
    else:
        yield from decided(outlook)


def _between_sase(outlook: Outlook, block: sase.Query) -> Iterator[str]:
    """Clauses that compare events, and what is remembered for them."""
    plan = outlook.whole
    for clause in block.clauses:
        key = isinstance(clause.condition, sase.Equivalence) and bool(plan.query.partition_by)
        if key:
            yield f"{print_sase.clause_text(clause)}: splits the stream"
        elif not is_local(clause):
            yield print_sase.clause_text(clause)
    if plan.registers:
        names = slot_names(outlook)
        for slot, value in slot_values(plan).items():
            if slot in names:
                yield f"    {names[slot]}: {value}"
    elif plan.why_values:
        yield f"    by states that remember values: {plan.why_values}"


def _tests(outlook: Outlook) -> Iterator[str]:
    impossible = outlook.impossible_tests
    for bit, test in enumerate(outlook.plan.tests):
        yield f"t{bit}  {test_text(test)}{'   (no event passes it)' if bit in impossible else ''}"


def _dropped(plan: Plan) -> Iterator[str]:
    if any(test == type(test)() for test in plan.tests):
        yield "nothing: every event passes a test"
        return
    yield "events that pass no test"
    if plan.keys_sleep:
        yield "events that begin nothing, while their key has nothing begun inside the window"
    if plan.looks_ahead:
        yield "in long batches, events that no match can have before its window has passed"
    if plan.position_sensitive:
        yield (
            "their positions still count, because the pattern looks at places "
            f"({_PLACES[plan.dialect]})"
        )


# ---------------------------------------------------------------- the automaton


def _of_what(plan: Plan) -> str:
    if plan.registers:
        return " (r0, r1 …: registers)"
    return " (without them)" if plan.correlated else ""


def _automaton(outlook: Outlook) -> Iterator[str]:
    explored, registers = outlook.joint, slot_names(outlook)
    if not explored.complete:
        yield f"{_states_text(explored, 'state')} while events come, at most what they visit"
        return
    useful = sorted(explored.useful)
    if not useful:
        yield "no state leads to a match"
    numbers = {state: place for place, state in enumerate(useful)}
    for state in useful[:MOST_STATES_SHOWN]:
        roles = ["start"] if state in explored.initial else []
        roles += ["accepts"] if state in explored.accepting else []
        roles += [_completes_when(outlook.whole)] if state in explored.closing else []
        roles += [f"holds {registers[slot]}" for slot in sorted(explored.slots[state])]
        yield f"s{numbers[state]}  {', '.join(roles)}".rstrip()
        for letters, edge in moves(outlook, explored, state):
            asked, written = doing_text(outlook, edge)
            if edge.label == NOTHING and edge.target == state and not written:
                yield f"    {letters}: stays{asked}"
            else:
                to = f"s{numbers[edge.target]}" + (f", {written}" if written else "")
                yield f"    {letters}: {label_text(edge.label)}{asked} → {to}"
    if len(useful) > MOST_STATES_SHOWN:
        yield f"… {len(useful) - MOST_STATES_SHOWN} more states"


def _completes_when(plan: Plan) -> str:
    when = "the input ends" if plan.query.window is None else "its window has passed"
    return f"complete when {when}"


def moves(outlook: Outlook, explored: Explored, state: int) -> list[tuple[str, Edge]]:
    """The moves of a state that can still lead to a match: on which letters, and one of them."""
    useful = explored.useful
    alike: dict[Edge, list[int]] = {}
    for edge in explored.edges:
        if edge.source == state and edge.target in useful:
            alike.setdefault(edge._replace(letter=0), []).append(edge.letter)
    names = [f"t{bit}" for bit in range(len(outlook.plan.tests))]
    return [
        (letters_text(letters, outlook.alphabet.letters, names), edge)
        for edge, letters in alike.items()
    ]


# ---------------------------------------------------------------- matches and memory


def _matches(plan: Plan, outlook: Outlook) -> Iterator[str]:
    query = plan.query
    if plan.keys:
        keys = ", ".join(".".join(path) for path in plan.keys)
        yield f"each value of {keys} on its own; results come grouped by key"
    if plan.detects:
        yield "each event that ends some, once, with the latest start; none of them is made"
    elif query.count:
        yield "counted per event that completes them, not listed"
    elif plan.names is None:
        yield "each complex event once, however many ways it was found"
    elif isinstance(query.formula, sase.Pattern):
        yield f"each choice of events for {', '.join(plan.names)} once"
    else:
        yield f"each binding of {', '.join(plan.names)} once, with the latest start"
    if plan.correlated and not plan.detects:
        yield ambiguity(outlook)
    if query.strategy is not Strategy.ALL:
        yield f"{query.strategy} is decided by {plan.chosen_by.value}"
    if plan.closes:
        yield f"a match may be {_completes_when(plan)}, if it is not before"
    if plan.open_ended:
        yield (
            "a match may be reported after its last event, because the pattern ends with an event "
            "that is not marked (NOT, PROJECT)"
        )
    if query.consume is not Consume.NONE:
        whose = "the key's" if query.consume is Consume.PARTITION else "all"
        yield f"after an event that completes matches, {whose} partial matches are dropped"
    if query.limit is not None:
        yield f"at most {query.limit} per event that completes matches"


def _memory(plan: Plan, outlook: Outlook) -> Iterator[str]:
    if outlook.never_matches:
        yield "none: nothing can match"
        return
    nodes = f"up to {several(outlook.nodes_per_event, 'node')}"
    if plan.detects:
        nodes = "a node where a match begins or ends, none where it goes on, each"
    elif plan.correlated:
        nodes = "a node per state and remembered values that it extends, each"
    elif not outlook.run.complete:
        nodes = "a node per state that it extends, each"
    if plan.query.window is not None:
        yield f"follows the window: only events inside it are kept{_each_key(plan)}"
    elif outlook.grows:
        yield f"without WITHIN it grows with the stream{_each_key(plan)}"
    elif outlook.repeats:
        yield f"follows the longest unbroken run{_each_key(plan)}"
    else:
        yield f"constant{_each_key(plan)}"
    if plan.correlated and (plan.registers or plan.dialect == "ceql"):
        yield growth(outlook)
    yield (
        f"per event that passes a test: {nodes} of {NODE_BYTES} bytes, shared by all partial "
        f"matches, and {REMEMBERED_BYTES} bytes"
    )


def _each_key(plan: Plan) -> str:
    return ", for each key" if plan.keys else ""
