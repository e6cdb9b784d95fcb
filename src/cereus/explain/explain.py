"""explain: a plan in words that a person can read."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from cereus.automata.explore import Edge, Explored
from cereus.automata.model import NOTHING
from cereus.clauses.tree import AttributeWindow, Consume, Skip, Strategy, TimeWindow
from cereus.explain.analysis import MANY_MATCHES, PlanAnalysis, warnings
from cereus.explain.conditions import ambiguity, doing_text, growth, slot_names
from cereus.explain.description import Description
from cereus.explain.wording import label_text, letters_text, several, test_text
from cereus.expr.print import condition_text
from cereus.plan.plan import Plan
from cereus.plan.returned import returned_variables
from cereus.plan.traits import ChosenBy
from cereus.syntax.literals import duration_text

__all__ = ["explain", "moves", "warnings"]

NODE_BYTES = 32
KEY_BYTES = 88
"""The bytes of a key: its last position, floor and time, when it woke, and one configuration."""
REMEMBERED_BYTES = 20
"""The bytes of an event that passed a test: its row number, its time, its key."""

MOST_STATES_SHOWN = 24
MOST_MOVES_SHOWN = 50
"""The most moves of one state that are shown."""
ENGINES = {
    ChosenBy.KERNEL: "choosing",
    ChosenBy.LONGEST: "choosing",
    ChosenBy.REPLAY: "then replay of windows",
    ChosenBy.LISTING: "then a choice among what it lists",
}


def explain(plan: Plan, description: Description) -> str:
    """Explain a plan: the query as understood, its stages, and what each checks, keeps and
    drops."""
    analysis = PlanAnalysis(plan, description)
    sections = {
        "query": description.query_text(plan).splitlines(),
        "stages": _stages(plan, analysis),
        "tests": _tests(analysis),
        "conditions between events": description.between(analysis),
        "dropped before the kernel": _dropped(plan, description),
        f"automaton{_of_what(plan)}": _automaton(analysis),
        "matches": _matches(plan, analysis),
        "memory": _memory(plan, analysis),
        "warnings": iter(warnings(plan, description)),
    }
    parts = []
    for title, lines in sections.items():
        body = "\n".join(f"  {line}" for line in lines)
        if body:
            parts.append(f"{title}\n{body}")
    return "\n\n".join(parts)


# ---------------------------------------------------------------- stages and tests


def _stages(plan: Plan, analysis: PlanAnalysis) -> Iterator[str]:
    yield from analysis.description.stages(plan)
    yield f"automaton  {_states_text(analysis.built, 'state')} over {_letters_text(analysis)}"
    parts = [_engine(plan)]
    if not plan.traits.correlated and plan.gathering is None:
        parts.append(_states_text(analysis.run, "I/O-deterministic state"))
    yield f"kernel     {': '.join(filter(None, parts))}"


def _engine(plan: Plan) -> str:
    if plan.traits.registers:
        return f"with registers: at most {several(plan.slots, 'value')} per partial match"
    if plan.traits.remembers_values:
        return "states that remember values" + (f": {plan.why_values}" if plan.why_values else "")
    if plan.gathering is not None:
        when = "when its last event comes" if plan.gathering.ends else "where all parts have come"
        return f"the events of each part on their own, combined {when}"
    if plan.counts_unlisted:
        return "counting, without listing"
    return ENGINES.get(plan.traits.chosen_by, "")


def _states_text(explored: Explored, what: str) -> str:
    if not explored.complete:
        return f"more than {explored.states} {what}s; made on demand"
    return several(len(explored.useful), what)


def _letters_text(analysis: PlanAnalysis) -> str:
    count = len(analysis.alphabet.letters)
    if not analysis.alphabet.complete:
        return f"more than {count} letters"
    return several(count, "letter")


def _tests(analysis: PlanAnalysis) -> Iterator[str]:
    impossible = analysis.impossible_tests
    for bit, test in enumerate(analysis.plan.tests):
        yield f"t{bit}  {test_text(test)}{'   (no event passes it)' if bit in impossible else ''}"


def _dropped(plan: Plan, description: Description) -> Iterator[str]:
    if any(test == type(test)() for test in plan.tests):
        yield "nothing: every event passes a test"
        return
    yield "events that pass no test"
    if plan.traits.keys_sleep:
        yield "events that begin no match, while their key has no partial match inside the window"
    if plan.traits.looks_ahead:
        yield "in long batches, events that no match can have before its window has passed"
    if plan.traits.position_sensitive:
        yield (
            "their positions still count, because the pattern looks at places "
            f"({description.positions})"
        )


# ---------------------------------------------------------------- the automaton


def _of_what(plan: Plan) -> str:
    if plan.traits.registers:
        watched = "; w0, w1 …: what must not occur, watched beside it" if plan.watching else ""
        return f" (r0, r1 …: registers{watched})"
    return " (without them)" if plan.traits.correlated else ""


def _automaton(analysis: PlanAnalysis) -> Iterator[str]:
    explored, registers = analysis.joint, slot_names(analysis)
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
        roles += [_completes_when(analysis.full_plan)] if state in explored.closing else []
        roles += [f"holds {registers[slot]}" for slot in sorted(explored.slots[state])]
        yield f"s{numbers[state]}  {', '.join(roles)}".rstrip()
        shown, more = moves(analysis, explored, state)
        for letters, edge in shown:
            checks, written = doing_text(analysis, edge)
            if edge.label == NOTHING and edge.target == state and not written:
                yield f"    {letters}: stays{checks}"
            else:
                to = f"s{numbers[edge.target]}" + (f", {written}" if written else "")
                yield f"    {letters}: {label_text(edge.label)}{checks} → {to}"
        if more:
            yield f"    … {several(more, 'more move')}"
    if len(useful) > MOST_STATES_SHOWN:
        yield f"… {len(useful) - MOST_STATES_SHOWN} more states"


def _completes_when(plan: Plan) -> str:
    when = "the input ends" if plan.query.window is None else "its window has passed"
    return f"complete when {when}"


def moves(
    analysis: PlanAnalysis, explored: Explored, state: int
) -> tuple[list[tuple[str, Edge]], int]:
    """The moves of a state that can still lead to a match: on which letters, and one of them. Of
    very many moves, the first ones and how many more there are."""
    useful = explored.useful
    alike: dict[Edge, list[int]] = {}
    for edge in explored.edges:
        if edge.source == state and edge.target in useful:
            alike.setdefault(edge._replace(letter=0), []).append(edge.letter)
    names = [f"t{bit}" for bit in range(len(analysis.plan.tests))]
    shown = [
        (letters_text(letters, analysis.alphabet.letters, names), edge)
        for edge, letters in islice(alike.items(), MOST_MOVES_SHOWN)
    ]
    return shown, len(alike) - len(shown)


# ---------------------------------------------------------------- matches and memory


def _matches(plan: Plan, analysis: PlanAnalysis) -> Iterator[str]:
    yield from _keys(plan)
    yield from _what_is_found(plan, analysis)
    yield from _when_it_is_emitted(plan)
    yield from _what_is_left_out(plan)


def _keys(plan: Plan) -> Iterator[str]:
    if plan.keys:
        keys = ", ".join(".".join(path) for path in plan.keys)
        yield f"each value of {keys} on its own; results come grouped by key"
    if plan.implied_keys:
        implied = " and ".join(".".join(path) for path in plan.implied_keys)
        yield f"{implied}: a key because all events of a match are equal in it (not NULL, nor NaN)"


def _what_is_found(plan: Plan, analysis: PlanAnalysis) -> Iterator[str]:
    query = plan.query
    if plan.traits.detects:
        yield "each event where matches end, once, with the latest start; no match is listed"
    elif plan.counts_unlisted:
        yield "counted per event that completes them, not listed"
    elif query.count:
        yield "counted per event that completes them, which are listed, as strategies choose"
    elif plan.names is None and not plan.returned:
        yield "each complex event once, however many ways it was found"
    elif plan.names is None:
        read = ", ".join(sorted(returned_variables(query))) or "no variable"
        yield f"each complex event once for every binding of what is returned: {read}"
    else:
        yield analysis.description.each_match(plan.names)
    for column in plan.returned:
        yield f"returns {column.name}: {condition_text(column.value)}"
    if plan.traits.correlated and not plan.traits.detects:
        yield ambiguity(analysis)
    if analysis.lists_exponentially:
        yield MANY_MATCHES
    if query.strategy is not Strategy.ALL:
        yield f"{query.strategy} is decided by {plan.traits.chosen_by.value}"


def _when_it_is_emitted(plan: Plan) -> Iterator[str]:
    query = plan.query
    if plan.traits.closes:
        yield f"a match may be {_completes_when(plan)}, if it is not before"
    if plan.traits.open_ended:
        yield (
            "a match may be reported after its last event, because the pattern ends with an event "
            "that is not marked (NOT, PROJECT)"
        )
    if query.consume is not Consume.NONE:
        whose = "the key's" if query.consume is Consume.PARTITION else "all"
        yield f"after an event that completes matches, {whose} partial matches are dropped"
    if query.unfollowed is not None:
        length = duration_text(query.unfollowed.window.microseconds)
        yield (
            f"a match waits for {length} after its last event: it is dropped when an event comes "
            "that must not follow, and emitted when time has passed its deadline, or at the end"
        )
    if plan.compared_followers:
        read = ", ".join(query.unfollowed.read) if query.unfollowed is not None else ""
        yield f"events after a match are compared with its events, {read}, pair by pair"
    if query.timeouts:
        yield (
            "partial matches whose window has passed are emitted too, one for each first event;"
            " the events of that window are then read again, step by step"
        )


def _what_is_left_out(plan: Plan) -> Iterator[str]:
    query = plan.query
    if query.skip is not None:
        event = "first" if query.skip is Skip.TO_NEXT else "last"
        yield f"after a match, only matches that begin after its {event} event are taken"
    if query.limit is not None:
        yield f"at most {query.limit} per event that completes matches"


def _memory(plan: Plan, analysis: PlanAnalysis) -> Iterator[str]:
    if analysis.never_matches:
        yield "none: nothing can match"
        return
    nodes = f"up to {several(analysis.nodes_per_event, 'node')}"
    if plan.traits.detects:
        nodes = "a node where a match begins or ends, none where it goes on, each"
    elif plan.traits.correlated:
        nodes = "a node per state and remembered values that it extends, each"
    elif plan.gathering is not None:
        nodes = "a node"
    elif not analysis.run.complete:
        nodes = "a node per state that it extends, each"
    if plan.query.window is not None:
        yield f"follows the window: only events inside it are kept{_each_key(plan)}"
        if plan.scoped:
            yield (
                "outside of it: the best match so far of each combination of values that a "
                "strategy inside the pattern chooses from"
            )
    elif analysis.grows:
        yield f"without WITHIN it grows with the stream{_each_key(plan)}"
    elif analysis.repeats:
        yield f"follows the longest unbroken run{_each_key(plan)}"
    else:
        yield f"constant{_each_key(plan)}"
    if plan.traits.correlated:
        yield from growth(analysis)
    yield (
        f"per event that passes a test: {nodes} of {NODE_BYTES} bytes, shared by all partial "
        f"matches, and {REMEMBERED_BYTES} bytes"
    )
    if plan.keys:
        yield f"per key: {KEY_BYTES} bytes and its values, {_until(plan)}"


def _until(plan: Plan) -> str:
    """Until when a recognizer remembers a key, in words."""
    window = plan.query.window
    in_time = isinstance(window, TimeWindow) or (
        isinstance(window, AttributeWindow) and window.attribute == (plan.stream.time,)
    )
    if plan.traits.closes or plan.query.unfollowed is not None:
        return "for as long as matches of it may wait"
    if in_time:
        return "until a window after its last event, if events come in the order of time"
    return "until it has no partial match"


def _each_key(plan: Plan) -> str:
    return ", for each key" if plan.keys else ""
