"""PAR as one of the languages of Cereus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cereus.language.protocol import EquivalenceAnswer, Language, Params
from cereus.limits import Limits
from cereus.stream import Stream

if TYPE_CHECKING:
    from cereus.languages.par.query import ParQuery
    from cereus.languages.par.tree import Program


class Par(Language):
    name = "par"
    title = "PAR"
    suffixes = ("par",)
    result_time = "time"
    compares = True
    limits = ("states", "steps_per_event")

    def parse(self, text: str, *, params: Params | None = None, **options: Any) -> Program:
        from cereus.languages.par.text import parse

        return parse(text, params)

    def printed(self, tree: Program) -> str:
        from cereus.languages.par.text import to_text

        return to_text(tree)

    def accepts(self, source: object) -> bool:
        from cereus.languages.par.tree import Program

        return isinstance(source, Program)

    def compile(
        self,
        tree: Program,
        stream: Stream,
        *,
        limits: Limits,
        text: str | None = None,
        **options: Any,
    ) -> ParQuery:
        from cereus.languages.par.query import ParQuery

        return ParQuery(tree, stream, limits, text)

    def equivalent(self, first: str, second: str) -> EquivalenceAnswer:
        """Whether two programs have the same outputs: then they are the same to whoever is
        notified."""
        from cereus.languages.par.bisimilarity import compare
        from cereus.languages.par.text import parse

        verdict = compare(parse(first), parse(second))
        return EquivalenceAnswer(verdict.output_equivalent, str(verdict))
