"""SREMO: the same executors as CEQL, with plans of its own."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from cereus.dialects.ceql import PatternQuery
from cereus.dialects.compiled import CompiledQuery
from cereus.engine.runner import Limits
from cereus.lang import cel
from cereus.lang import sremo_text as language
from cereus.plan.plan import Plan
from cereus.plan.sremo import build
from cereus.plan.stream import Stream


def compile(text: str, stream: Stream, *, limits: Limits) -> SremoQuery:
    return SremoQuery(language.parse(text), stream, limits)


class SremoQuery(PatternQuery):
    dialect = "sremo"

    @property
    def text(self) -> str:
        return self.query.text or language.to_text(self.query)

    def plan(self, schema: pa.Schema | None = None) -> Plan:
        key = None if schema is None else schema.remove_metadata().serialize().to_pybytes()
        if key not in self._plans:
            if schema is not None:
                self.stream.check(schema)
            self._plans[key] = build(self.query, self.stream, schema)
        return self._plans[key]

    def counting(self) -> CompiledQuery | None:
        """Matches end where they are reported, so they can be counted unless something limits
        them one by one."""
        if self.query.limit is not None or self.query.consume is not cel.Consume.NONE:
            return None
        return SremoQuery(replace(self.query, count=True), self.stream, self.limits)
