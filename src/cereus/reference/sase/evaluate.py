"""SASE+ queries: their matches, their output events, and how queries feed one another (§2.2).

`answers(program, events)` is the whole meaning of a text. `nfa` matches one block,
`negation` drops matches by negation, `terms` has the values of terms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from cereus.clauses.tree import EventWindow, Skip
from cereus.expr.tree import Attribute
from cereus.languages.sase import tree as sase
from cereus.languages.sase.output import output_names, output_type
from cereus.languages.sase.streams import in_order
from cereus.reference.conditions import Event, evaluate
from cereus.reference.sase.negation import Negations
from cereus.reference.sase.nfa import Automaton, Input, Positions
from cereus.reference.sase.terms import Aggregates, holds, value


@dataclass(frozen=True)
class Match:
    """A pattern match with its output values. Positions are row numbers of the stream read.

    `reported_at` is the event on which the match is known, None at the end of the input.
    """

    bindings: tuple[tuple[str, Positions], ...]
    reported_at: int | None
    values: tuple[Any, ...] = ()

    @property
    def positions(self) -> Positions:
        return tuple(sorted(p for _, positions in self.bindings for p in positions))

    @property
    def end(self) -> int:
        return self.positions[-1]


@dataclass(frozen=True)
class Answer:
    """The answer of one query (one UNION) of a program: matches and, in the same order, the events
    that they become. `blocks` says which block of the union each match is of, `last` the row of the
    last event of the input behind it."""

    matches: tuple[Match, ...]
    blocks: tuple[int, ...]
    events: tuple[dict[str, Any], ...]
    last: tuple[int, ...] = ()


def matches(query: sase.Query, stream: Input, aggregates: Aggregates | None = None) -> list[Match]:
    """The matches of one block that no negation and no HAVING drops, by their last event, then by
    the positions of their variables in SEQ order."""
    automaton = Automaton(query, stream, aggregates or {})
    negations = Negations(automaton)
    accepted: list[Match] = []
    for buffer, at in automaton.accepted().items():
        events = automaton.events_of(buffer)
        if negations.block(buffer) or not _kept(query, automaton, events):
            continue
        values = tuple(value(each, events, automaton.aggregates) for each in query.output.values)
        named = zip((c.variable for c in automaton.components), buffer, strict=True)
        accepted.append(Match(tuple(named), negations.known_at(buffer, at), values))
    accepted.sort(key=lambda match: (match.end, [positions for _, positions in match.bindings]))
    return accepted if query.skip is None else _skipping(query, stream, accepted)


def _skipping(query: sase.Query, stream: Input, every: list[Match]) -> list[Match]:
    """AFTER MATCH SKIP: of the matches of a key with the same last event, the one that starts first
    is taken, and where two first differ the one that has the event; then those that start after its
    last event, or after its first."""
    passed: dict[Any, int] = {}
    taken: list[Match] = []
    by_end: dict[Any, list[Match]] = {}
    for match in every:
        by_end.setdefault((match.end, _key(query, stream, match)), []).append(match)
    for (end, key), group in by_end.items():
        while rest := [m for m in group if m.positions[0] > passed.get(key, -1)]:
            best = min((*match.positions, float("inf")) for match in rest)[:-1]
            taken += [match for match in rest if match.positions == best]
            passed[key] = end if query.skip is Skip.PAST_LAST else int(best[0])
    return taken


def _key(query: sase.Query, stream: Input, match: Match) -> tuple[Any, ...]:
    """The values of the equivalence tests; if events of other values count, there is one key."""
    strict = any(query.strategy(part.variable) is sase.Strategy.STRICT for part in query.parts)
    if strict or isinstance(query.window, EventWindow):
        return ()
    event = stream.events[match.end]
    return tuple(evaluate(Attribute(path), event) for path in query.equivalences)


def _kept(query: sase.Query, automaton: Automaton, events: dict[str, list[Event]]) -> bool:
    return query.having is None or holds(query.having, events, automaton.aggregates)


def answers(
    program: sase.Program,
    events: Sequence[Event],
    *,
    type: str | None = "type",
    time: str | None = "time",
    stream: str | None = None,
    aggregates: Aggregates | None = None,
) -> tuple[Answer, ...]:
    """The answer of every query of a program, in the order of the text.

    `FROM s` reads what another query writes `IN STREAM s`; where none does, the input, or with a
    `stream` column the rows of the input that say `s`. Positions are row numbers of what is read.
    """
    everything = Input(events, type, time)
    named: dict[str, Input] = {}
    by_union: dict[int, Answer] = {}
    for union in in_order(program):
        inputs = [_source(block.source, named, everything, stream) for block in union.blocks]
        answer = _answer(union, inputs, aggregates or {})
        by_union[id(union)] = answer
        if union.stream is not None:
            named[union.stream] = Input(answer.events, type or "type", time, answer.last)
    return tuple(by_union[id(union)] for union in program.queries)


def _source(
    name: str | None, named: dict[str, Input], everything: Input, stream: str | None
) -> Input:
    if name is not None and name in named:
        return named[name]
    if name is None or stream is None:
        return everything
    rows = [row for row, event in enumerate(everything.events) if event[stream] == name]
    return replace(everything, events=[everything.events[row] for row in rows], rows=rows)


def _answer(union: sase.Union, inputs: list[Input], aggregates: Aggregates) -> Answer:
    """The matches of all blocks by the time of their last event, and at one time in the order of
    the input. A match that a block finds in two ways is one match; matches that two blocks find are
    two."""
    rows = [
        (_order(source, match), source.row(match.end), block, match, _event(union, source, match))
        for block, (query, source) in enumerate(zip(union.blocks, inputs, strict=True))
        for match in matches(query, source, aggregates)
    ]
    rows.sort(key=lambda row: row[:3])
    return Answer(
        tuple(match for *_, match, _ in rows),
        tuple(block for _, _, block, _, _ in rows),
        tuple(event for *_, event in rows),
        tuple(last for _, last, *_ in rows),
    )


def _order(source: Input, match: Match) -> int:
    return match.end if source.time is None else source.time_of(match.end)


def _event(union: sase.Union, source: Input, match: Match) -> dict[str, Any]:
    """The output event: its type, the time of the match's last event, and the values of RETURN."""
    made: dict[str, Any] = {}
    if source.time is not None:
        made[source.time] = source.events[match.end][source.time]
    reserved = [column for column in (source.type or "type", source.time) if column is not None]
    names = output_names(union, reserved)
    return made | dict(zip(names, match.values, strict=True)) | {reserved[0]: output_type(union)}
