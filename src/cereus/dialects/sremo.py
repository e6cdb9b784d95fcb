"""SREMO: the same executors as CEQL, with plans of its own."""

from __future__ import annotations

from dataclasses import replace

from cereus.dialects.ceql import PatternQuery
from cereus.dialects.compiled import CompiledQuery
from cereus.engine.runner import Limits
from cereus.lang import cel, sremo
from cereus.lang import sremo_text as language
from cereus.plan.stream import Stream


def compile(text: str, stream: Stream, *, limits: Limits) -> SremoQuery:
    return SremoQuery(language.parse(text), stream, limits)


class SremoQuery(PatternQuery):
    dialect = "sremo"

    @property
    def text(self) -> str:
        return self.query.text or language.to_text(self.query)

    def counting(self) -> CompiledQuery | None:
        """Matches end where they are reported, so they can be counted unless something limits
        them one by one, or only the places where they end are asked for."""
        assert isinstance(self.query.formula, sremo.Pattern)
        if self.query.formula.detect:
            return None
        if self.query.limit is not None or self.query.consume is not cel.Consume.NONE:
            return None
        return SremoQuery(replace(self.query, count=True), self.stream, self.limits)
