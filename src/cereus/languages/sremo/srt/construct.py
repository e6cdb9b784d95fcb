"""SREMO → SRT (Theorem 27, Fig. 11), with the operators that §5 adds.

The operators of Def. 15 are joined by ε. Intersection, windows and complement are constructions on
whole transducers (Theorem 34, Def. 39, Corollary 43): their parts are built first, and the result
is joined like any other part. Registers keep their names throughout, so that a part may read what
was written before it.
"""

from __future__ import annotations

from datetime import timedelta

from cereus.clauses.tree import AttributeWindow, EventWindow, Window
from cereus.errors import RefusedError
from cereus.expr import tree as ex
from cereus.languages.sremo import tree as sremo
from cereus.languages.sremo.srt.closure import joined, renamed_registers
from cereus.languages.sremo.srt.determinize import complement
from cereus.languages.sremo.srt.epsilon import NO_WRITES
from cereus.languages.sremo.srt.negation import fails
from cereus.languages.sremo.srt.stretch import LengthBound, surely_marks
from cereus.languages.sremo.srt.transducer import Transducer, Transition
from cereus.languages.sremo.srt.windows import within_events, within_values


def from_sremo(
    expression: sremo.Sremo,
    type_column: str = "type",
    *,
    window: int | None = None,
    time_column: str | None = None,
) -> Transducer:
    """T_e, with ε transitions.

    A `!e` that reads registers which it writes itself has a transducer only for strings of bounded
    length (Theorem 38): between two marks of an `e[1..w]`, or everywhere in strings of up to
    `window` events. Windows in time need the `time_column`.
    """
    thompson = _Thompson(expression, type_column, time_column)
    return thompson.build(sremo.rewritten(expression), LengthBound(window))


def streaming(
    expression: sremo.Sremo,
    type_column: str = "type",
    *,
    window: int | None = None,
    time_column: str | None = None,
) -> Transducer:
    """The streaming transducer (Def. 32): ⊤* . e. `window` bounds what e reads."""
    anywhere = sremo.Concatenation(sremo.SKIP_ANY, expression)
    return from_sremo(anywhere, type_column, window=window, time_column=time_column)


class _Names:
    """Makes registers that no expression has named."""

    def __init__(self, expression: sremo.Sremo) -> None:
        nodes = [n for n in expression.walk() if isinstance(n, sremo.Terminal)]
        self.taken = {n.register for n in nodes}.union(*(n.reads for n in nodes))

    def fresh(self, name: str) -> str:
        made = next(
            n for k in range(1, len(self.taken) + 2) if (n := f"{name}_{k}") not in self.taken
        )
        self.taken.add(made)
        return made


class _Thompson:
    """One start and one final state per sub-expression, joined by ε (Fig. 11)."""

    def __init__(
        self,
        expression: sremo.Sremo,
        type_column: str,
        time_column: str | None,
        names: _Names | None = None,
    ) -> None:
        self.expression, self.type_column, self.time_column = expression, type_column, time_column
        self.names = names or _Names(expression)
        self.states = 0
        self.transitions: list[Transition] = []

    def build(self, expression: sremo.Sremo, inside: LengthBound) -> Transducer:
        start, final = self.part(expression, inside)
        moves = tuple(self.transitions)
        transducer = Transducer(self.states, start, frozenset({final}), NO_WRITES, moves)
        return transducer.with_used_registers()

    def apart(self, expression: sremo.Sremo, inside: LengthBound) -> Transducer:
        """The transducer of a part, for a construction before it is joined."""
        other = _Thompson(self.expression, self.type_column, self.time_column, self.names)
        return other.build(expression, inside)

    def part(self, node: sremo.Sremo, inside: LengthBound) -> tuple[int, int]:
        match node:
            case sremo.Complement(body):
                stop = sremo.stops_at(node)
                if stop is None:
                    return self.join(self.complement(node, body, inside))
                # logical negation in place of the regular one (after Def. 45)
                missed = fails(stop.typed(self.type_column))
                return self.part(sremo.Star(sremo.Terminal(missed, marks=False)), inside)
            case sremo.Concatenation(left, right):
                start, middle = self.part(left, inside.before_marks(surely_marks(right)))
                begin, final = self.part(right, inside.after_marks(surely_marks(left)))
                self.epsilon(middle, begin)
                return start, final
            case sremo.Intersection(left, right):
                return self.join(self.intersection(node, left, right, inside))
            case sremo.Windowed(body, window):
                return self.join(self.windowed(body, window, inside))
        return self.operator(node, inside)

    def operator(self, node: sremo.Sremo, inside: LengthBound) -> tuple[int, int]:
        """The other operators of Def. 15, with a start and a final state of their own."""
        start, final = self.state(), self.state()
        match node:
            case sremo.Nothing():
                pass
            case sremo.Epsilon():
                self.epsilon(start, final)
            case sremo.Terminal(register=register):
                writes = NO_WRITES if register is None else frozenset({register})
                condition = node.typed(self.type_column)
                move = Transition(start, condition, node.marks, writes, final)
                self.transitions.append(move)
            case sremo.Disjunction(left, right):
                for side in (left, right):
                    self.between(start, *self.part(side, inside), final)
            case sremo.Star(body) | sremo.Plus(body) | sremo.Optional(body):
                begin, end = self.part(body, inside)
                self.between(start, begin, end, final)
                if not isinstance(node, sremo.Optional):
                    self.epsilon(end, begin)
                if not isinstance(node, sremo.Plus):
                    self.epsilon(start, final)
            case _:
                raise TypeError(f"not a SREMO: {node!r}")
        return start, final

    # ------------------------------------------------------------ constructions of §5

    def intersection(
        self, node: sremo.Sremo, left: sremo.Sremo, right: sremo.Sremo, inside: LengthBound
    ) -> Transducer:
        one, two = self.apart(left, inside), self.apart(right, inside)
        shared = one.written & (two.read | two.written) | two.written & one.read
        if shared:
            raise RefusedError(
                f"one side of & stores into {min(shared)}, which the other side uses: the "
                "registers of a transducer are the same for both (Theorem 34)",
                span=node.span,
                hint="give the register another name on one side",
            )
        return joined(one, two)

    def complement(self, node: sremo.Sremo, body: sremo.Sremo, inside: LengthBound) -> Transducer:
        most = inside.length
        negated = self.apart(body, LengthBound(most))
        if negated.remembers and most is None:
            raise RefusedError(
                f"a transducer for {node} needs a bound on what it reads: it compares registers "
                "that it stores into itself (Theorem 38)",
                span=node.span,
                hint="put it between two marks of an e[1..w], or bound all strings: window=…",
            )
        rest = complement(negated, most if negated.remembers else None)
        return renamed_registers(rest, {r: self.names.fresh(r) for r in sorted(rest.written)})

    def windowed(self, body: sremo.Sremo, window: Window, inside: LengthBound) -> Transducer:
        if isinstance(window, EventWindow):
            bounded = LengthBound(inside.length, window.size)
            return within_events(self.apart(body, bounded), window.size)
        unbounded = self.apart(body, LengthBound(inside.length))
        first = self.names.fresh("first")
        if isinstance(window, AttributeWindow):
            return within_values(unbounded, window.attribute, ex.Literal(window.size), first)
        if self.time_column is None:
            raise RefusedError(
                "a window in time needs the column that times are in",
                span=window.span,
                hint="name it: time=…, or write WITHIN n [column]",
            )
        size = ex.Literal(timedelta(microseconds=window.microseconds))
        return within_values(unbounded, (self.time_column,), size, first)

    # ------------------------------------------------------------ joining

    def join(self, transducer: Transducer) -> tuple[int, int]:
        """A transducer as a part of this one."""
        offset = self.states
        self.states += transducer.states
        self.transitions += [
            move._replace(source=move.source + offset, target=move.target + offset)
            for move in transducer.transitions
        ]
        final = self.state()
        for state in sorted(transducer.final):
            self.epsilon(state + offset, final)
        return transducer.start + offset, final

    def state(self) -> int:
        self.states += 1
        return self.states - 1

    def epsilon(self, source: int, target: int) -> None:
        self.transitions.append(Transition(source, None, False, NO_WRITES, target))

    def between(self, start: int, begin: int, end: int, final: int) -> None:
        self.epsilon(start, begin)
        self.epsilon(end, final)
