"""MATCH_RECOGNIZE as one of the languages of Cereus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cereus.language.protocol import Language, Params, Replace
from cereus.limits import Limits
from cereus.stream import Stream

if TYPE_CHECKING:
    from cereus.languages.match_recognize.query import MatchRecognizeQuery
    from cereus.languages.match_recognize.tree import Clause


class MatchRecognize(Language):
    name = "match_recognize"
    title = "MATCH_RECOGNIZE"
    suffixes = ("sql",)
    words = ("CLASSIFIER", "MATCH_NUMBER", "MATCH_ROWTIME", "PREV", "INTERVAL", "TIMESTAMP")
    signature = r"\bMATCH_RECOGNIZE\b"
    limits = ("nodes", "configurations", "steps_per_event")
    embedded = True
    typed = False

    def parse(self, text: str, *, params: Params | None = None, **options: Any) -> Clause:
        from cereus.languages.match_recognize.text import parse

        return parse(text, params)

    def rewritten(self, statement: str, replace: Replace) -> str:
        from cereus.languages.match_recognize.statement import Embedded, check_alias, rewritten

        def replaced(embedded: Embedded) -> str:
            name, columns = replace(embedded.source, embedded.clause)
            check_alias(embedded, columns)
            return name

        return rewritten(statement, replaced)

    def printed(self, tree: Clause) -> str:
        from cereus.languages.match_recognize.print import to_text

        return to_text(tree)

    def accepts(self, source: object) -> bool:
        from cereus.languages.match_recognize.tree import Clause

        return isinstance(source, Clause)

    def compile(
        self,
        tree: Clause,
        stream: Stream,
        *,
        limits: Limits,
        text: str | None = None,
        **options: Any,
    ) -> MatchRecognizeQuery:
        from cereus.languages.match_recognize.query import MatchRecognizeQuery

        return MatchRecognizeQuery(tree, stream, limits, text)
