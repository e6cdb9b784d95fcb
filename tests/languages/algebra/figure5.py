"""Fig. 5 of the paper word for word, with set variables, counting its memory and its steps.

It is run on single ticks and knows nothing of schedules, flat memories or shared subexpressions.
The sequence part finds and refreshes in order, as Fig. 6 does; it charges for the steps that it
takes, by the model of §4.4.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from cereus.languages.algebra.sizes import sized
from cereus.languages.algebra.tree import (
    Conjunction,
    Disjunction,
    Empty,
    EventExpression,
    Negation,
    Primitive,
    Sequence,
    TemporalRestriction,
    tau_length,
)
from cereus.reference.algebra import Instance, join

NEVER = -(10**9)
NONE = Instance(NEVER, NEVER)


@dataclass
class Variables:
    a: Instance = NONE
    l: Instance = NONE  # noqa: E741
    r: Instance = NONE
    t: int = NEVER
    q: set[Instance] = field(default_factory=set)
    s: set[int] = field(default_factory=set)


@dataclass
class Machine:
    expression: EventExpression
    values: bool = False
    steps: int = 0
    temporary: int = 0

    def __post_init__(self) -> None:
        self.parts = [(part.node, inside) for part, inside in sized(self.expression).postorder()]
        self.variables = [Variables() for _ in self.parts]
        self.operands: list[tuple[int, ...]] = []
        stack: list[int] = []
        for number, (node, _) in enumerate(self.parts):
            count = len(node.children())
            self.operands.append(tuple(stack[len(stack) - count :]))
            del stack[len(stack) - count :]
            stack.append(number)

    def tick(self, time: int, row: int, occurring: Collection[Primitive]) -> Instance:
        """Run the loop body of Fig. 5; give aₘ."""
        self.steps = 0
        for number, (node, inside) in enumerate(self.parts):
            now = self.variables[number]
            below = [self.variables[operand] for operand in self.operands[number]]
            self.body(node, now, below, Instance(time, time, frozenset((row,))), occurring)
            now.s.discard(NEVER)
            if inside:
                self.steps += len(now.s)
        return self.variables[-1].a

    def body(
        self,
        node: EventExpression,
        i: Variables,
        below: list[Variables],
        current: Instance,
        occurring: Collection[Primitive],
    ) -> None:
        match node:
            case Primitive():
                self.steps += 1
                i.a = self.assigned(current if node in occurring else NONE)
            case Empty():
                i.a = self.assigned(NONE)
            case Disjunction():
                j, k = below
                self.steps += 1
                i.a = self.assigned(k.a if j.a.start <= k.a.start else j.a)
                i.s = j.s | k.s
            case Conjunction():
                self.conjunction(i, *below)
            case Negation():
                j, k = below
                self.steps += 3
                i.t = max(i.t, k.a.start)
                i.a = self.assigned(j.a if i.t < j.a.start else NONE)
                i.s = set(j.s)
            case Sequence():
                self.sequence(i, *below)
            case TemporalRestriction(_, tau):
                (j,) = below
                self.steps += 2
                i.a = self.assigned(j.a if j.a.end - j.a.start <= tau_length(tau) else NONE)
                i.s = set(j.s)

    def conjunction(self, i: Variables, j: Variables, k: Variables) -> None:
        self.steps += 2 + 4 + 1
        if i.l.start < j.a.start:
            i.l = self.assigned(j.a)
        if i.r.start < k.a.start:
            i.r = self.assigned(k.a)
        if NONE in (i.l, i.r) or (j.a == NONE and k.a == NONE):
            i.a = self.assigned(NONE)
        elif k.a.start <= j.a.start:
            i.a = self.assigned(join(j.a, i.r))
        else:
            i.a = self.assigned(join(i.l, k.a))
        i.s = j.s | k.s | {i.l.start, i.r.start}

    def sequence(self, i: Variables, j: Variables, k: Variables) -> None:
        best = self.best([*sorted(i.q), i.l], k.a.start)
        self.steps += 1
        i.a = self.assigned(join(k.a, best) if best != NONE else NONE)
        refreshed = {self.best_quietly(i, time) for time in k.s} - {NONE}
        self.steps += 2 * (len(i.q) + 1 + len(k.s)) + sum(map(self.units, refreshed))
        self.temporary = 1 + 2 * self.units(i.l) + sum(map(self.units, refreshed))
        i.q = refreshed
        self.steps += 1
        if i.l.start < j.a.start:
            i.l = self.assigned(j.a)
        i.s = j.s | {e.start for e in i.q | {i.l}}

    def best(self, candidates: list[Instance], time: int) -> Instance:
        found = NONE
        for e in candidates:
            self.steps += 2
            if e.end < time and found.start < e.start:
                found = self.assigned(e)
        return found

    def best_quietly(self, i: Variables, time: int) -> Instance:
        return max((e for e in i.q | {i.l} if e.end < time), default=NONE)

    # ------------------------------------------------------------ what it costs

    def units(self, instance: Instance) -> int:
        return 3 * len(instance.rows) if self.values else 2

    def assigned(self, instance: Instance) -> Instance:
        self.steps += self.units(instance)
        return instance

    def memory(self) -> int:
        """The units in use now."""
        total = self.temporary
        for (node, inside), v in zip(self.parts, self.variables, strict=True):
            total += self.units(v.a) + (len(v.s) if inside else 0)
            if isinstance(node, Conjunction):
                total += self.units(v.l) + self.units(v.r)
            elif isinstance(node, Negation):
                total += 1
            elif isinstance(node, Sequence):
                total += self.units(v.l) + sum(map(self.units, v.q))
        return total
