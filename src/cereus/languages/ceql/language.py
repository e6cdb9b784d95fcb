"""CEQL as one of the languages of Cereus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cereus.language.protocol import Language, Params
from cereus.limits import Limits
from cereus.stream import Stream

if TYPE_CHECKING:
    from cereus.languages.ceql.query import CeqlQuery
    from cereus.languages.ceql.tree import CeqlTree, Formula


class Ceql(Language):
    name = "ceql"
    title = "CEQL"
    suffixes = ("ceql",)
    words = (
        "ANY", "LAST", "MAX", "NEXT", "STRICT", "START", "PROJECT", "PREV",
        "MATCH", "SKIP", "PAST", "TO", "EVENT", "EVENTS",
    )  # fmt: skip
    signature = r"\A\s*SELECT\b(?!.*\bMATCH_RECOGNIZE\b)"

    def parse(self, text: str, *, params: Params | None = None, **options: Any) -> CeqlTree:
        from cereus.languages.ceql.text import parse

        return parse(text, params)

    def printed(self, tree: CeqlTree) -> str:
        from cereus.languages.ceql.print import to_text

        return to_text(tree)

    def accepts(self, source: object) -> bool:
        from cereus.clauses.tree import ParsedQuery
        from cereus.languages.ceql.builder import CeqlBuilder
        from cereus.languages.ceql.tree import Formula

        if isinstance(source, ParsedQuery):
            return isinstance(source.formula, Formula)
        return isinstance(source, Formula | CeqlBuilder)

    def text_of(self, source: object) -> str | None:
        from cereus.languages.ceql.builder import CeqlBuilder

        return source.text if isinstance(source, CeqlBuilder) else None

    def compile(
        self,
        tree: CeqlTree | Formula,
        stream: Stream,
        *,
        limits: Limits,
        text: str | None = None,
        **options: Any,
    ) -> CeqlQuery:
        from cereus.clauses.tree import ParsedQuery
        from cereus.languages.ceql.query import CeqlQuery
        from cereus.languages.ceql.scope import check_names
        from cereus.languages.ceql.tree import Formula

        if isinstance(tree, Formula):
            tree = ParsedQuery(tree)
            check_names(tree)
        return CeqlQuery(tree, stream, limits)
