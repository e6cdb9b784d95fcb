"""WITH TIMEOUTS in SASE+, from its definition.

Let e be an event, and S_e the events from e to the end of the window that begins with e. Then e
timed out if no run on S_e that begins with e has an event for every component (and fulfils the
condition on the last event, where the pattern ends with a Kleene plus that has one), but some run
is still there at the end. Of these runs those count that have events for most components, and of
those the ones that have an event where they first differ.

A run is gone when a negated component between two of its components has what it forbids, as far as
that is decided by the components that it has; of the one behind its last component, that is one
event (a series may still go on), and only where this component takes no more events.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from cereus.clauses.tree import TimeWindow
from cereus.languages.sase import tree as sase
from cereus.languages.sase.places import identifiers
from cereus.reference.sase.negation import Negations, Region
from cereus.reference.sase.nfa import Automaton, Buffer, Input, Positions, Run
from cereus.reference.sase.terms import Aggregates


@dataclass(frozen=True)
class TimedOut:
    """A partial match: the events of the components that it has, and when its window ended."""

    bindings: tuple[tuple[str, Positions], ...]
    deadline: int | None
    last_again: bool = False
    """Whether it waits for more events of its last component."""


def timeouts(
    query: sase.Query, stream: Input, aggregates: Aggregates | None = None
) -> list[TimedOut]:
    """All partial matches that timed out; the end of the input ends every window."""
    late: list[TimedOut] = []
    every = Automaton(query, stream, aggregates or {})
    for first in range(len(stream.events)):
        inside = [p for p in range(first, len(stream.events)) if every.within(first, p)]
        part = replace(stream, events=[stream.events[p] for p in inside], rows=None)
        late.extend(_from(first, Automaton(query, part, aggregates or {}), every))
    return late


def _from(first: int, automaton: Automaton, every: Automaton) -> Iterator[TimedOut]:
    runs, complete = _runs(automaton)
    negations = Negations(automaton)
    if any(not _blocked(negations, buffer, trailing=False) for buffer in complete):
        return
    waiting = [run for run in runs if _waits(run, automaton, negations)]
    most = max((_steps(run.buffer) for run in waiting), default=0)
    furthest = {run.buffer for run in waiting if _steps(run.buffer) == most}
    best = min(((*_positions(buffer), float("inf")) for buffer in furthest), default=())
    deadline = None
    if isinstance(automaton.query.window, TimeWindow):
        deadline = every.stream.time_of(first) + automaton.query.window.microseconds
    for buffer in furthest:
        if (*_positions(buffer), float("inf")) == best:
            shifted = (tuple(p + first for p in positions) for positions in buffer)
            names = (component.variable for component in automaton.components)
            bindings = tuple(zip(names, shifted, strict=True))
            yield TimedOut(bindings, deadline, most == len(buffer))


def _runs(automaton: Automaton) -> tuple[set[Run], set[Buffer]]:
    """The runs that begin with the first event and are alive at the end, and the complete
    buffers."""
    runs = {Run(0, ((),) * len(automaton.components))}
    complete: set[Buffer] = set()
    alive = runs
    for j in range(len(automaton.stream.events) + 1):
        pending, runs = list(runs), set()
        while pending:
            run = pending.pop()
            for target, consumes, _ in automaton.moves(run, j):
                if target.state == len(automaton.states):
                    complete.add(target.buffer)
                elif consumes:
                    runs.add(target)
                elif _steps(target.buffer):
                    pending.append(target)
        if j < len(automaton.stream.events):
            alive = runs
    return alive, complete


def _waits(run: Run, automaton: Automaton, negations: Negations) -> bool:
    steps, state = _steps(run.buffer), automaton.states[run.state]
    if steps == len(run.buffer) and not automaton.has_last(state):
        return False  # it is complete, or its completion is forbidden
    return not _blocked(negations, run.buffer, trailing=not state.more)


def _blocked(negations: Negations, buffer: Buffer, *, trailing: bool) -> bool:
    """Whether a negated component has a forbidden event, as far as it is decided; `trailing`:
    including the one after the last component that has events."""
    query, steps = negations.automaton.query, _steps(buffer)
    there = {component.variable for component in query.components[:steps]}
    for index, part in enumerate(query.parts):
        before = sum(isinstance(each, sase.Component) for each in query.parts[:index])
        if not isinstance(part, sase.Negated) or not _is_decided(query, part, there):
            continue
        low = buffer[before - 1][-1] + 1 if before <= steps else 0
        if before < steps:
            region = Region(tuple(range(low, buffer[before][0])), True, True)
        elif trailing and before == steps < len(buffer) and not _is_series(part):
            region = Region(tuple(range(low, len(negations.rows()))), True, False)
        else:
            continue
        if negations.forbidden(part.component, region, buffer):
            return True
    return False


def _is_series(part: sase.Negated) -> bool:
    return isinstance(part.component, sase.Kleene)


def _is_decided(query: sase.Query, part: sase.Negated, there: set[str]) -> bool:
    """Whether the conditions on a negated component read only components that have events."""
    known = there | {part.variable}
    about = (
        {str(node.variable) for node in identifiers(clause.condition)} for clause in query.clauses
    )
    return all(names <= known for names in about if part.variable in names)


def _steps(buffer: Buffer) -> int:
    return sum(bool(positions) for positions in buffer)


def _positions(buffer: Buffer) -> Positions:
    return tuple(sorted(p for positions in buffer for p in positions))
