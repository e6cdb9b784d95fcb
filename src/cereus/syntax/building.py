"""From the parse of a text to a language's own tree: one method for each rule of a grammar."""

from __future__ import annotations

from typing import Any

from lark import Token, Tree

IMPORTED = "expr__grammar__"
"""The prefix that lark gives to rules of conditions that a grammar does not import by name."""


class TreeBuilder:
    """Builds a tree from the inside out.

    The method with the name of a rule gets the place of the rule in the text, and its parts:
    tokens, and the results of the rules below it. `conditions` builds the rules of conditions that
    a grammar does not import by name; without it this builder does.
    """

    def __init__(self, conditions: TreeBuilder | None = None) -> None:
        self._conditions = conditions or self

    def build(self, tree: Tree[Token]) -> Any:
        parts = [self.build(part) if isinstance(part, Tree) else part for part in tree.children]
        return self.method(str(tree.data))(tree.meta, *parts)  # a plain text: looked up faster

    def method(self, rule: str) -> Any:
        """The method for a rule."""
        if rule.startswith(IMPORTED):
            return getattr(self._conditions, rule.removeprefix(IMPORTED))
        return getattr(self, rule)
