"""Builds CEQL in Python: pieces of a text that know how tightly they bind.

A builder prints as the text that it stands for, and is compiled as that text. So the whole language
can be built, parameters stay parameters, and errors show the text with a caret.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from cereus.errors import CereusError
from cereus.languages.ceql.print import CeqlLevel, counts_text
from cereus.syntax.literals import duration_text, quote_name

SAME = -1
"""In `times(3)`: the most is the same as the least."""
Length = str | timedelta
Window = Length | int
Gap = Length | tuple[Length | None, Length | None]
"""The most time from one part to the next; or the least and the most, None for no limit."""


class CeqlBuilder(ABC):
    """A text of CEQL that is being built."""

    @property
    @abstractmethod
    def text(self) -> str:
        """The query as CEQL."""

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Pattern(CeqlBuilder):
    """A pattern: `x >> y` is `x ; y`, `x | y` is `x OR y`, `x & y` is `x AND y`.

    formula     the text without the conditions
    level       how tightly its outermost operator binds
    variable    what conditions on its events call them; None where they have no one name
    conditions  those on its events, without the variable
    """

    formula: str
    level: CeqlLevel = CeqlLevel.ATOM
    variable: str | None = None
    conditions: tuple[str, ...] = ()

    # ------------------------------------------------------------ text

    @property
    def text(self) -> str:
        return BuiltQuery(self).text

    @property
    def pattern_text(self) -> str:
        """The pattern alone, with its conditions."""
        if not self.conditions:
            return self.formula
        return f"{self.formula} FILTER {' AND '.join(map(self._condition, self.conditions))}"

    def _condition(self, condition: str) -> str:
        if self.variable is not None:
            return f"{quote_name(self.variable)}[{condition}]"
        return condition if len(self.conditions) == 1 else f"({condition})"

    def at(self, level: int) -> str:
        """The pattern as an operand of an operator of this level."""
        binds = CeqlLevel.FILTER if self.conditions else self.level
        return self.pattern_text if binds >= level else f"({self.pattern_text})"

    def _joined(self, sign: str, other: Operand, level: CeqlLevel) -> Pattern:
        right = _operand(other, sign.strip())
        return Pattern(f"{self.at(level)}{sign}{right.at(level + 1)}", level)

    def _after(self, sign: str) -> Pattern:
        return Pattern(f"{self.at(CeqlLevel.POSTFIX)}{sign}", CeqlLevel.POSTFIX, self.variable)

    # ------------------------------------------------------------ operators

    def __rshift__(self, other: Operand) -> Pattern:
        """`x ; y`: later."""
        return self.later(other)

    def later(self, other: Operand, *, gap: Gap | None = None) -> Pattern:
        """`x ; y`: later; `x ;[5 minutes] y` with a gap."""
        return self._joined(f" ;{_gap(gap)} ", other, CeqlLevel.SEQUENCE)

    def then(self, other: Operand, *, gap: Gap | None = None) -> Pattern:
        """`x : y`: immediately after; `x :[5 minutes] y` with a gap."""
        return self._joined(f" :{_gap(gap)} ", other, CeqlLevel.SEQUENCE)

    def __or__(self, other: Operand) -> Pattern:
        """`x OR y`: one of the two."""
        return self._joined(" OR ", other, CeqlLevel.OR)

    def __and__(self, other: Operand) -> Pattern:
        """`x AND y`: both, on the same events."""
        return self._joined(" AND ", other, CeqlLevel.AND)

    def beside(self, other: Operand) -> Pattern:
        """`x ALL y`: both, in any order."""
        return self._joined(" ALL ", other, CeqlLevel.AND)

    def unless(self, other: Operand) -> Pattern:
        """`x UNLESS y`: without a match of y since x began."""
        return self._joined(" UNLESS ", other, CeqlLevel.UNLESS)

    def without(self, other: Operand) -> Pattern:
        """`x WITHOUT y`: no y after the first and before the last event of x."""
        text = (
            f"{self.at(CeqlLevel.UNLESS)} WITHOUT {_operand(other, 'WITHOUT').at(CeqlLevel.ATOM)}"
        )
        return Pattern(text, CeqlLevel.UNLESS)

    def until(self, other: Operand) -> Pattern:
        """`x+ UNTIL y`: as long as no y comes."""
        return self._after(f" UNTIL {_operand(other, 'UNTIL').at(CeqlLevel.ATOM)}")

    def plus(self, *, contiguous: bool = False, gap: Gap | None = None) -> Pattern:
        """`x+`: once or more; `x:+` without other events in between; `x+[5 minutes]` with at most
        that much time from one to the next."""
        return self._after(f"{':' if contiguous else ''}+{_gap(gap)}")

    def times(
        self,
        least: int,
        most: int | None = SAME,
        *,
        contiguous: bool = False,
        gap: Gap | None = None,
    ) -> Pattern:
        """`x{3}`, or `x{2,5}`; `most=None` is any number. `x{3}[5 minutes]` with a gap."""
        counts = counts_text(least, least if most == SAME else most)
        return self._after(f"{':' if contiguous else ''}{{{counts}}}{_gap(gap)}")

    def optional(self) -> Pattern:
        """`x?`: once, or not at all."""
        return self._after("?")

    def negated(self) -> Pattern:
        """`NOT(x)`: an event that is not an x."""
        return Pattern(f"NOT({self.pattern_text})")

    def at_start(self) -> Pattern:
        """`START(x)`: right at the start."""
        return Pattern(f"START({self.pattern_text})", variable=self.variable)

    def inside(self, window: Window) -> Pattern:
        """`(x) WITHIN 5 minutes` as a part of a pattern: all of x in that much time."""
        return Pattern(f"(({self.pattern_text}) WITHIN {_window(window)})")

    # ------------------------------------------------------------ names and conditions

    def named(self, variable: str) -> Pattern:
        """`x AS variable`. The name stands in the conditions of an event too."""
        body = self if self.level < CeqlLevel.ATOM else replace(self, conditions=())
        conditions = () if body is self else self.conditions
        text = f"{body.at(CeqlLevel.POSTFIX)} AS {quote_name(variable)}"
        return Pattern(text, CeqlLevel.POSTFIX, variable, conditions)

    def where(self, condition: str) -> Pattern:
        """A condition on the events of this pattern, `price > 3`; of a pattern of several parts,
        one that names its variables, `a.price < b.price`."""
        if self.formula == "*":
            return self.named("event").where(condition)
        return replace(self, conditions=(*self.conditions, condition))

    def filter(self, condition: str) -> Pattern:
        """A condition that names its variables, `a.price < b.price`."""
        return Pattern(f"{self.at(CeqlLevel.FILTER)} FILTER {condition}", CeqlLevel.FILTER)

    # ------------------------------------------------------------ clauses

    def select(self, *variables: str, strategy: str | None = None) -> BuiltQuery:
        """`SELECT a, b`; all, if none is named. `strategy` is NEXT, LAST, MAX, ANY or STRICT."""
        return BuiltQuery(self).select(*variables, strategy=strategy)

    def count(self) -> BuiltQuery:
        """Count the matches without listing them: `SELECT COUNT(*)`."""
        return BuiltQuery(self).count()

    def within(self, window: Window) -> BuiltQuery:
        """`WITHIN 5 minutes`; a number is a number of events. If the result is joined with more, it
        is a part with its own window: `(x >> y).within("5 minutes") >> z`."""
        return BuiltQuery(self).within(window)

    def not_followed_by(self, event: Pattern, within: Length) -> BuiltQuery:
        """Keep the matches after which no y comes for a time: `NOT FOLLOWED BY y WITHIN 5
        minutes`."""
        return BuiltQuery(self).not_followed_by(event, within)

    def by(self, *columns: str) -> BuiltQuery:
        """Match each value of these columns on its own: `PARTITION BY user`."""
        return BuiltQuery(self).by(*columns)

    def of(self, *streams: str) -> BuiltQuery:
        """Read only the events of these streams: `FROM stream`."""
        return BuiltQuery(self).of(*streams)


@dataclass(frozen=True)
class BuiltQuery(CeqlBuilder):
    """A pattern with clauses. Every method returns a new one."""

    pattern: Pattern
    selected: str = "*"
    strategy: str | None = None
    streams: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    window: str | None = None
    unfollowed: str | None = None
    last: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        words = ["SELECT", *([self.strategy] if self.strategy else []), self.selected]
        lines = [" ".join(words)]
        if self.streams:
            lines.append(f"FROM {', '.join(map(quote_name, self.streams))}")
        lines.append(f"WHERE {self.pattern.pattern_text}")
        if self.unfollowed is not None:
            lines.append(f"NOT FOLLOWED BY {self.unfollowed}")
        if self.keys:
            lines.append(f"PARTITION BY {', '.join(map(_path, self.keys))}")
        if self.window is not None:
            lines.append(f"WITHIN {self.window}")
        return "\n".join([*lines, *self.last])

    def select(self, *variables: str, strategy: str | None = None) -> BuiltQuery:
        names = ", ".join(map(quote_name, variables)) or "*"
        return replace(self, selected=names, strategy=strategy)

    def count(self) -> BuiltQuery:
        return replace(self, selected="COUNT(*)")

    def within(self, window: Window) -> BuiltQuery:
        return replace(self, window=_window(window))

    def not_followed_by(self, event: Pattern, within: Length) -> BuiltQuery:
        text = _operand(event, "NOT FOLLOWED BY").at(CeqlLevel.ATOM)
        return replace(self, unfollowed=f"{text} WITHIN {_window(within)}")

    def by(self, *columns: str) -> BuiltQuery:
        return replace(self, keys=columns)

    def of(self, *streams: str) -> BuiltQuery:
        return replace(self, streams=streams)

    def __rshift__(self, other: Operand) -> Pattern:
        """`(x) WITHIN 5 minutes ; y`"""
        return _operand(self, ";") >> other

    def __or__(self, other: Operand) -> Pattern:
        return _operand(self, "OR") | other

    def __and__(self, other: Operand) -> Pattern:
        return _operand(self, "AND") & other

    def clause(self, text: str) -> BuiltQuery:
        """Add a clause as it is written: `CONSUME BY ANY`, `LIMIT 5`."""
        return replace(self, last=(*self.last, text))


def _window(window: Window) -> str:
    if isinstance(window, timedelta):
        return duration_text(window // timedelta(microseconds=1))
    return f"{window} EVENTS" if isinstance(window, int) else window


def _gap(gap: Gap | None) -> str:
    """`[5 minutes]`, `[1 minute..5 minutes]`"""
    if gap is None:
        return ""
    if not isinstance(gap, tuple):
        return f"[{_window(gap)}]"
    least, most = ("" if each is None else _window(each) for each in gap)
    return f"[{least}..{most}]" if least else f"[{most}]"


def _path(column: str) -> str:
    return ".".join(map(quote_name, column.split(".")))


Operand = Pattern | BuiltQuery
"""The operands of a pattern's operators; a query that has only a window is a part with that
window."""


def _operand(other: Any, sign: str) -> Pattern:
    if isinstance(other, Pattern):
        return other
    if isinstance(other, BuiltQuery) and other == BuiltQuery(other.pattern, window=other.window):
        return other.pattern if other.window is None else other.pattern.inside(other.window)
    hint = "clauses (by, select) come last, on the pattern that has all parts"
    if isinstance(other, str):
        hint = f'write event("{other}")'
    kind = type(other).__name__
    raise CereusError(f"{sign} joins two patterns, and this is a {kind}", hint=hint)
