"""The syntax tree of SREMO: symbolic regular expressions with memory and output.

Names and meaning are those of the paper (Alevizos, Artikis, Paliouras: "Complex event recognition
with symbolic register transducers"), Definitions 15, 39, 44, 45.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from functools import reduce
from typing import cast

from cereus.clauses.tree import AnyQuery, ParsedQuery, PatternTree, Window
from cereus.errors import LimitError
from cereus.expr import tree as ex
from cereus.syntax.tree import Tree, bottom_up

TRUE: ex.Expression = ex.Literal(True)


@dataclass(frozen=True)
class Sremo(Tree["Sremo"]):
    """e: a set of matches, and of valuations of the registers, for every string."""

    def __rshift__(self, other: Sremo) -> Sremo:
        return Concatenation(self, other)

    def __or__(self, other: Sremo) -> Sremo:
        return Disjunction(self, other)

    def __and__(self, other: Sremo) -> Sremo:
        return Intersection(self, other)

    def __invert__(self) -> Sremo:
        return Complement(self)

    def star(self) -> Sremo:
        return Star(self)

    def plus(self) -> Sremo:
        return Plus(self)

    def optional(self) -> Sremo:
        return Optional(self)

    def __str__(self) -> str:
        from cereus.languages.sremo.print import expression_text

        return expression_text(self)


@dataclass(frozen=True)
class Epsilon(Sremo):
    """`eps` (ε): the empty string."""


@dataclass(frozen=True)
class Nothing(Sremo):
    """`empty` (∅): no string."""


@dataclass(frozen=True)
class Terminal(Sremo):
    """`{φ} -> r` (φ↑•↓r), and `skip{φ} -> r` (φ↑⊗↓r) if it does not mark.

    One event that satisfies φ. Attributes of φ that carry a variable are read from the register of
    that name. `type`, if it is given, is compared with the stream's type column.
    """

    condition: ex.Expression = TRUE
    marks: bool = True
    register: str | None = None
    type: str | None = None

    @property
    def reads(self) -> frozenset[str]:
        """The registers that φ reads."""
        return ex.variables(self.condition)

    def typed(self, type_column: str) -> ex.Expression:
        """φ, with the type among its conditions."""
        if self.type is None:
            return self.condition
        typed = ex.Comparison("=", ex.Attribute((type_column,)), ex.Literal(self.type))
        return conjunction((typed, self.condition))

    @property
    def is_top(self) -> bool:
        """⊤: whether every event satisfies φ."""
        return self.type is None and self.condition == TRUE


@dataclass(frozen=True)
class Concatenation(Sremo):
    """`e1 . e2`"""

    left: Sremo
    right: Sremo


@dataclass(frozen=True)
class Disjunction(Sremo):
    """`e1 | e2` (+ in the paper)"""

    left: Sremo
    right: Sremo


@dataclass(frozen=True)
class Star(Sremo):
    """`e*`"""

    body: Sremo


@dataclass(frozen=True)
class Plus(Sremo):
    """`e+`, which is `e . e*`"""

    body: Sremo


@dataclass(frozen=True)
class Optional(Sremo):
    """`e?`, which is `e | eps`"""

    body: Sremo


@dataclass(frozen=True)
class Intersection(Sremo):
    """`e1 & e2`: the matches of both (Def. 33). Each side writes its own registers; neither sees
    what the other writes."""

    left: Sremo
    right: Sremo


@dataclass(frozen=True)
class Complement(Sremo):
    """`!e`: the strings that e does not accept; nothing is marked, no register written."""

    body: Sremo


@dataclass(frozen=True)
class Windowed(Sremo):
    """`e[1..w]` (Def. 39) and `e WITHIN 5 s`: bounds what lies between first and last mark."""

    body: Sremo
    window: Window


@dataclass(frozen=True)
class Any(Sremo):
    """`any(e1, …)` (⊙, Def. 44): skip till any match between the parts; of a single part that is
    an iteration, between its rounds."""

    parts: tuple[Sremo, ...]


@dataclass(frozen=True)
class Next(Sremo):
    """`next(e1, …)` (@, Def. 45): skip till the next match, in the same places."""

    parts: tuple[Sremo, ...]


@dataclass(frozen=True)
class Pattern(PatternTree):
    """A SREMO as the pattern of a query. With `detect`, only the places where matches end are
    wanted."""

    expression: Sremo
    detect: bool = False

    @property
    def conditions_on_registers(self) -> list[ex.Expression]:
        """The conditions between events, without repetitions."""
        nodes = (n for n in self.expression.walk() if isinstance(n, Terminal) and n.reads)
        return list(dict.fromkeys(node.condition for node in nodes))


SremoTree = ParsedQuery[Pattern]
"""A SREMO query."""


def in_sremo(query: AnyQuery) -> SremoTree:
    """A query whose pattern is known to be a SREMO."""
    assert isinstance(query.formula, Pattern)
    return cast(SremoTree, query)


SKIP = Terminal(marks=False)
"""⊤↑⊗"""
SKIP_ANY = Star(SKIP)
"""(⊤↑⊗)*"""


# ---------------------------------------------------------------- what the definitions make of it


def conjunction(conditions: Iterable[ex.Expression]) -> ex.Expression:
    """The conjunction of conditions; ⊤ is left out."""
    parts = tuple(dict.fromkeys(c for c in conditions if c != TRUE))
    return ex.conjunction(parts) or TRUE


def concatenation(*parts: Sremo) -> Sremo:
    return reduce(Concatenation, parts) if parts else Epsilon()


def without(body: Sremo) -> Sremo:
    """The strings in which no part is accepted by `body`: what NEXT may skip.

    Def. 45 writes (!e)*. But a string that is longer than an e is in !e whatever it contains, so
    that would skip anything. For a condition φ the paper itself reads it as (¬φ)*, the strings
    without a φ; this function does the same for every e.
    """
    return Complement(concatenation(SKIP_ANY, body, SKIP_ANY))


def stops_at(expression: Sremo) -> Terminal | None:
    """φ of a !(⊤* φ ⊤*), which is the form of NEXT for a single event."""
    match expression:
        case Complement(Concatenation(Concatenation(before, Terminal() as terminal), after)):
            return terminal if before == after == SKIP_ANY else None
    return None


def absent(expression: Sremo) -> Sremo | None:
    """e of a !(⊤* e ⊤*): the strings in which no part is accepted by e."""
    if not isinstance(expression, Complement):
        return None
    first, *parts = _chain(expression.body)
    if len(parts) < 2 or not first == parts[-1] == SKIP_ANY:
        return None
    return _halved(parts[:-1])


def _chain(expression: Sremo) -> list[Sremo]:
    """The parts of a row of `.`, however it is nested."""
    waiting, chain = [expression], list[Sremo]()
    while waiting:
        node = waiting.pop()
        if isinstance(node, Concatenation):
            waiting += [node.right, node.left]
        else:
            chain.append(node)
    return chain


MOST_PARTS = 10_000
"""The most parts of an expression whose strategies are written out."""


def rewritten(expression: Sremo) -> Sremo:
    """The same expression with strategies written out (Def. 44, 45), by `.` `*` and `!`; bottom up.
    Each strategy repeats its parts two or three times, so nested strategies multiply them."""
    sizes: dict[int, tuple[Sremo, int]] = {}

    def written_out(node: Sremo) -> Sremo:
        made = _written_out(node)
        if made is not node and _size(made, sizes) > MOST_PARTS:
            raise LimitError(
                f"written out, the strategies here have more than {MOST_PARTS:,} parts",
                hint="put fewer of them inside each other",
            )
        return made

    return bottom_up(expression, written_out)


def _size(expression: Sremo, sizes: dict[int, tuple[Sremo, int]]) -> int:
    """The number of parts of an expression. Repeated parts are counted each time, but examined
    once."""
    waiting = [expression]
    while waiting:
        children = list(waiting[-1].children())
        unknown = [child for child in children if id(child) not in sizes]
        if unknown:
            waiting += unknown
        else:
            node = waiting.pop()
            sizes[id(node)] = node, 1 + sum(sizes[id(child)][1] for child in children)
    return sizes[id(expression)][1]


def _written_out(node: Sremo) -> Sremo:
    match node:
        case Any((Plus(body),)) | Any((Star(body),)):
            chain = Concatenation(body, Star(Concatenation(SKIP_ANY, body)))
            return chain if isinstance(node.parts[0], Plus) else Optional(chain)
        case Next((Plus(body),)) | Next((Star(body),)):
            chain = Concatenation(body, Star(Concatenation(without(body), body)))
            return chain if isinstance(node.parts[0], Plus) else Optional(chain)
        case Any((first, *rest)):
            return concatenation(first, *(p for part in rest for p in (SKIP_ANY, part)))
        case Next((first, *rest)):
            return concatenation(first, *(p for part in rest for p in (without(part), part)))
    return node


def balanced(expression: Sremo) -> Sremo:
    """The same expression with chains of `.` halved again and again: then a pattern of many events
    in a row is not too deep for Python's stack."""
    chain: list[Sremo] = []
    node = expression
    while isinstance(node, Concatenation):
        chain.append(node.right)
        node = node.left
    if chain:
        return _halved([balanced(part) for part in (node, *reversed(chain))])
    parts = {
        each.name: balanced(value)
        for each in fields(node)
        if isinstance(value := getattr(node, each.name), Sremo)
    }
    return replace(node, **parts) if parts else node  # type: ignore[arg-type]


def _halved(parts: list[Sremo]) -> Sremo:
    if len(parts) == 1:
        return parts[0]
    middle = (len(parts) + 1) // 2
    return Concatenation(_halved(parts[:middle]), _halved(parts[middle:]))


def written(expression: Sremo) -> frozenset[str]:
    """The registers that an expression writes, as seen from outside (not those in a `!e`)."""
    if isinstance(expression, Terminal):
        return frozenset({expression.register} - {None})  # type: ignore[arg-type]
    if isinstance(expression, Complement):
        return frozenset()
    return frozenset().union(*map(written, expression.children()))


def live(expression: Sremo, after: frozenset[str]) -> frozenset[str]:
    """The registers whose contents may still be read when `expression` is entered, if those in
    `after` are read after it. Strategies have to be written out."""
    reads, writes = _reads_and_writes(expression)
    return reads | (after - writes)


def loop_live(body: Sremo, after: frozenset[str]) -> frozenset[str]:
    """`live`, between two rounds of an iteration."""
    return after | _reads_and_writes(body)[0]


def _reads_and_writes(expression: Sremo) -> tuple[frozenset[str], frozenset[str]]:
    """The registers that may be read before they are written, and those that are written on every
    path through the expression. Each part is examined once, however iterations are nested."""
    none = frozenset[str]()
    match expression:
        case Terminal(register=register):
            return expression.reads, none if register is None else frozenset((register,))
        case Concatenation(left, right):
            (reads, writes), (later, more) = map(_reads_and_writes, (left, right))
            return reads | (later - writes), writes | more
        case Disjunction(left, right) | Intersection(left, right):
            (reads, writes), (others, more) = map(_reads_and_writes, (left, right))
            return reads | others, writes & more
        case Star(body) | Optional(body) | Complement(body):
            return _reads_and_writes(body)[0], none
        case Plus(body) | Windowed(body):
            return _reads_and_writes(body)
    return none, none


def with_empty(condition: ex.Expression, empty: frozenset[str]) -> ex.Expression:
    """The condition if some registers are empty (Def. 13): an atomic condition on one of them is
    false, so its negation is true."""
    if isinstance(condition, ex.And | ex.Or | ex.Not):
        return ex.rebuild(condition, lambda child: with_empty(child, empty))
    return ex.Literal(False) if ex.variables(condition) & empty else condition
