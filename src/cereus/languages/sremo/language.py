"""SREMO as one of the languages of Cereus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cereus.language.protocol import Language, Params
from cereus.limits import Limits
from cereus.stream import Stream

if TYPE_CHECKING:
    from cereus.languages.sremo.query import SremoQuery
    from cereus.languages.sremo.tree import Sremo, SremoTree


class SremoLanguage(Language):
    name = "sremo"
    title = "SREMO"
    suffixes = ("sremo",)

    def parse(self, text: str, *, params: Params | None = None, **options: Any) -> SremoTree:
        from cereus.languages.sremo.text import parse

        return parse(text, params)

    def printed(self, tree: SremoTree) -> str:
        from cereus.languages.sremo.print import to_text

        return to_text(tree)

    def accepts(self, source: object) -> bool:
        from cereus.clauses.tree import ParsedQuery
        from cereus.languages.sremo.tree import Pattern, Sremo

        if isinstance(source, ParsedQuery):
            return isinstance(source.formula, Pattern)
        return isinstance(source, Sremo)

    def compile(
        self,
        tree: SremoTree | Sremo,
        stream: Stream,
        *,
        limits: Limits,
        text: str | None = None,
        **options: Any,
    ) -> SremoQuery:
        from cereus.clauses.tree import ParsedQuery
        from cereus.languages.sremo.query import SremoQuery
        from cereus.languages.sremo.text import named
        from cereus.languages.sremo.tree import Pattern

        query = tree if isinstance(tree, ParsedQuery) else ParsedQuery(Pattern(named(tree)))
        return SremoQuery(query, stream, limits)
