"""The full semantics on small streams (Definitions 9 and 10), to compare expressions.

This is not the reference: it evaluates equal subexpressions once, and knows ticks, not rows.
"""

from __future__ import annotations

from itertools import product

from cereus.languages.algebra.tree import (
    Conjunction,
    Disjunction,
    EventExpression,
    Negation,
    Primitive,
    Sequence,
    TemporalRestriction,
    tau_length,
)

Stream = tuple[tuple[int, tuple[Primitive, ...]], ...]
"""Ticks: a time, and the primitives that occur then."""
Instance = tuple[int, int, tuple[int, ...]]
"""Start, end, and in the value framework the times of the constituents' ticks."""
Instances = frozenset[Instance]


def meaning(expression: EventExpression, stream: Stream, *, values: bool) -> Instances:
    """Every instance of the expression in the stream."""
    known: dict[EventExpression, Instances] = {}
    for node in expression.postorder():
        if node not in known:
            known[node] = _of(node, [known[child] for child in node.children()], stream, values)
    return known[expression]


def detected(instances: Instances) -> dict[int, int]:
    """For each end the latest start: what every valid restriction has (Proposition 16)."""
    latest: dict[int, int] = {}
    for start, end, _ in instances:
        latest[end] = max(start, latest.get(end, start))
    return latest


def _of(
    node: EventExpression, operands: list[Instances], stream: Stream, values: bool
) -> Instances:
    match node:
        case Primitive():
            times = [time for time, occurring in stream if node in occurring]
            return frozenset((time, time, (time,) if values else ()) for time in times)
        case Disjunction():
            return operands[0] | operands[1]
        case Conjunction():
            return frozenset(_join(e, f) for e, f in product(*operands))
        case Sequence():
            return frozenset(_join(e, f) for e, f in product(*operands) if e[1] < f[0])
        case Negation():
            spans = {(f[0], f[1]) for f in operands[1]}
            return frozenset(
                e for e in operands[0] if not any(e[0] <= s and t <= e[1] for s, t in spans)
            )
        case TemporalRestriction(_, tau):
            length = tau_length(tau)
            return frozenset(e for e in operands[0] if e[1] - e[0] <= length)
    return frozenset()


def _join(e: Instance, f: Instance) -> Instance:
    return min(e[0], f[0]), max(e[1], f[1]), tuple(sorted({*e[2], *f[2]}))
