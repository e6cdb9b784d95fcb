"""SREMO → SRT (Theorem 27, Fig. 11) and ε-elimination (Lemma 29, Algorithm 2)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from cereus.automata.srt.negation import fails
from cereus.automata.srt.transducer import Transducer, Transition
from cereus.errors import RefusedError
from cereus.lang import expression as ex
from cereus.lang import sremo

NO_WRITES: frozenset[str] = frozenset()


def from_sremo(expression: sremo.Sremo, type_column: str = "type") -> Transducer:
    """T_e, with ε transitions. Intersection, complement and windows are not operators of Def. 15:
    they are constructions on transducers (`closure`, `determinize`)."""
    return _Thompson(type_column).build(sremo.rewritten(expression))


def streaming(expression: sremo.Sremo, type_column: str = "type") -> Transducer:
    """The streaming transducer (Def. 32): ⊤* . e."""
    return from_sremo(sremo.Concatenation(sremo.SKIP_ANY, expression), type_column)


class _Thompson:
    """One start and one final state per sub-expression, joined by ε (Fig. 11)."""

    def __init__(self, type_column: str) -> None:
        self.type_column = type_column
        self.states = 0
        self.transitions: list[Transition] = []

    def build(self, expression: sremo.Sremo) -> Transducer:
        start, final = self.part(expression)
        registers = sremo.written(expression).union(
            *(n.reads for n in expression.walk() if isinstance(n, sremo.Terminal))
        )
        moves = tuple(self.transitions)
        return Transducer(self.states, start, frozenset({final}), registers, moves)

    def part(self, node: sremo.Sremo) -> tuple[int, int]:
        match node:
            case sremo.Complement() if (stop := sremo.stops_at(node)) is not None:
                # logical negation in place of the regular one (after Def. 45)
                missed = fails(condition_of(stop, self.type_column))
                return self.part(sremo.Star(sremo.Terminal(missed, marks=False)))
            case sremo.Concatenation(left, right):
                start, middle = self.part(left)
                begin, final = self.part(right)
                self.epsilon(middle, begin)
                return start, final
        start, final = self.state(), self.state()
        match node:
            case sremo.Nothing():
                pass
            case sremo.Epsilon():
                self.epsilon(start, final)
            case sremo.Terminal(register=register):
                writes = NO_WRITES if register is None else frozenset({register})
                condition = condition_of(node, self.type_column)
                move = Transition(start, condition, node.marks, writes, final)
                self.transitions.append(move)
            case sremo.Disjunction(left, right):
                for side in (left, right):
                    self.between(start, *self.part(side), final)
            case sremo.Star(body) | sremo.Plus(body) | sremo.Optional(body):
                begin, end = self.part(body)
                self.between(start, begin, end, final)
                if not isinstance(node, sremo.Optional):
                    self.epsilon(end, begin)
                if not isinstance(node, sremo.Plus):
                    self.epsilon(start, final)
            case _:
                raise RefusedError(
                    f"{type(node).__name__} is not an operator of Def. 15",
                    span=node.span,
                    hint="build its parts, then use intersection, unroll, complement",
                )
        return start, final

    def state(self) -> int:
        self.states += 1
        return self.states - 1

    def epsilon(self, source: int, target: int) -> None:
        self.transitions.append(Transition(source, None, False, NO_WRITES, target))

    def between(self, start: int, begin: int, end: int, final: int) -> None:
        self.epsilon(start, begin)
        self.epsilon(end, final)


def condition_of(node: sremo.Terminal, type_column: str) -> ex.Expression:
    """φ of a terminal, its type among the conditions."""
    if node.type is None:
        return node.condition
    typed = ex.Comparison("=", ex.Attribute((type_column,)), ex.Literal(node.type))
    return typed if node.condition == sremo.TRUE else ex.And((typed, node.condition))


def eliminate_epsilon(transducer: Transducer) -> Transducer:
    """Lemma 29: the same matches without ε. A state's moves are those of its closure."""
    moves: list[Transition] = []
    final: set[int] = set()
    for state in range(transducer.states):
        closure = epsilon_closure(transducer, {state})
        if closure & transducer.final:
            final.add(state)
        found = (move for q in closure for move in transducer.by_source[q])
        moves += [m._replace(source=state) for m in found if m.condition is not None]
    unique = tuple(dict.fromkeys(moves))
    return trimmed(replace(transducer, final=frozenset(final), transitions=unique))


def epsilon_closure(transducer: Transducer, states: Iterable[int]) -> set[int]:
    """Everything that ε alone leads to."""
    found, todo = set(states), list(states)
    while todo:
        for move in transducer.by_source[todo.pop()]:
            if move.condition is None and move.target not in found:
                found.add(move.target)
                todo.append(move.target)
    return found


def trimmed(transducer: Transducer) -> Transducer:
    """The states that can be reached, numbered in the order they are."""
    numbers, todo = {transducer.start: 0}, [transducer.start]
    for state in todo:  # grows while it is read
        for move in transducer.by_source[state]:
            if move.target not in numbers:
                numbers[move.target] = len(numbers)
                todo.append(move.target)
    moves = tuple(
        move._replace(source=numbers[move.source], target=numbers[move.target])
        for state in todo
        for move in transducer.by_source[state]
    )
    final = frozenset(numbers[q] for q in transducer.final if q in numbers)
    return Transducer(len(numbers), 0, final, transducer.registers, moves)
