"""The syntax tree: events, and one after the other."""

from __future__ import annotations

from dataclasses import dataclass

from cereus.clauses.tree import ParsedQuery, PatternTree
from cereus.syntax.tree import Tree


@dataclass(frozen=True)
class Pattern(Tree["Pattern"], PatternTree):
    def __rshift__(self, other: Pattern) -> Pattern:
        return Then(self, other)


@dataclass(frozen=True)
class Event(Pattern):
    type: str


@dataclass(frozen=True)
class Then(Pattern):
    left: Pattern
    right: Pattern
    at_once: bool = False


def at_once(pattern: Pattern) -> Pattern:
    """The pattern with nothing between its events."""
    if not isinstance(pattern, Then):
        return pattern
    return Then(at_once(pattern.left), at_once(pattern.right), True)


def is_at_once(pattern: PatternTree) -> bool:
    return isinstance(pattern, Then) and pattern.at_once


ThenTree = ParsedQuery[Pattern]


def to_text(pattern: Pattern) -> str:
    if isinstance(pattern, Then):
        return f"{to_text(pattern.left)} then {to_text(pattern.right)}"
    assert isinstance(pattern, Event)
    return pattern.type
