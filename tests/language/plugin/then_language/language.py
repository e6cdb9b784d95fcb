"""`A then B` as one of the languages of Cereus."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from typing import Any

from cereus.clauses.tree import ParsedQuery
from cereus.errors import QuerySyntaxError
from cereus.language.protocol import Language, Option, OptionKind, Params
from cereus.limits import Limits
from cereus.stream import Stream
from then_language.query import ThenQuery
from then_language.tree import Event, Pattern, Then, ThenTree, to_text
from then_language.tree import at_once as close


class ThenLanguage(Language):
    name = "then"
    title = "Then"
    suffixes = ("then",)
    options = (Option("at_once", OptionKind.SWITCH, "nothing comes between the events"),)

    def parse(self, text: str, *, params: Params | None = None, **options: Any) -> ThenTree:
        if not isinstance(text, str):
            raise QuerySyntaxError(f"a text is needed, not a {type(text).__name__}")
        types = [part.strip() for part in text.split(" then ")]
        for name in types:
            if not name.isidentifier():
                at = text.find(name)
                raise QuerySyntaxError(
                    f"{name!r} is not a type",
                    text=text,
                    span=(at, at + len(name)),
                    hint="write A then B",
                )
        return ParsedQuery(reduce(Then, map(Event, types)), text=text)

    def printed(self, tree: ThenTree) -> str:
        return to_text(tree.formula)

    def accepts(self, source: object) -> bool:
        tree = source.formula if isinstance(source, ParsedQuery) else source
        return isinstance(tree, Pattern)

    def compile(
        self,
        tree: ThenTree | Pattern,
        stream: Stream,
        *,
        limits: Limits,
        text: str | None = None,
        at_once: bool = False,
        **options: Any,
    ) -> ThenQuery:
        query = tree if isinstance(tree, ParsedQuery) else ParsedQuery(tree)
        if at_once:
            query = replace(query, formula=close(query.formula))
        return ThenQuery(query, stream, limits)
