"""Where a parse stopped: what error messages and hints look at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from lark import Token

from cereus.errors import Span

CLOSING = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True)
class Trouble:
    """Where a parse stopped: `unexpected` is None at the end of the text, `before` are the tokens
    so far, `accepted` the terminals that could have come next."""

    text: str
    span: Span
    unexpected: str | None
    before: tuple[Token, ...]
    accepted: frozenset[str]

    @property
    def previous(self) -> str:
        """The name of the terminal before the one that does not fit."""
        return plain_terminal(self.before[-1].type) if self.before else ""

    @property
    def rest(self) -> str:
        return self.text[self.span[0] :]

    def unclosed(self) -> Token | None:
        """The innermost bracket that was opened and not closed."""
        open_brackets: list[Token] = []
        for token in self.before:
            if token in CLOSING:
                open_brackets.append(token)
            elif token in CLOSING.values() and open_brackets:
                open_brackets.pop()
        return open_brackets[-1] if open_brackets else None


HintRule = Callable[[Trouble], str | None]
"""A mistake: the hint for it, or None if the trouble is another one."""


def plain_terminal(name: str) -> str:
    """The name of a terminal without the prefix that lark gives to imported ones."""
    return name.replace("expr__grammar__", "")
