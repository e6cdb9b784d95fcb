"""Compiled SREMO queries: the executors are those of CEQL, the plans are SREMO's own."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from cereus.clauses.tree import Consume
from cereus.language.anatomy import Anatomy
from cereus.language.compiled import CompiledQuery
from cereus.language.kept import kept
from cereus.language.pattern import PatternQuery
from cereus.languages.sremo import text as language
from cereus.languages.sremo import tree as sremo
from cereus.languages.sremo.explaining.anatomy import anatomy
from cereus.languages.sremo.explaining.description import SremoDescription
from cereus.languages.sremo.explaining.words import words
from cereus.languages.sremo.plan import build
from cereus.plan.plan import Plan


class SremoQuery(PatternQuery[sremo.Pattern]):
    dialect = "sremo"
    description = SremoDescription()

    def to_text(self) -> str:
        return language.to_text(self.tree)

    def build(self, schema: pa.Schema | None) -> Plan:
        return build(self.tree, self.stream, schema)

    def words(self) -> str:
        return words(self.tree, self.keys)

    @kept
    def anatomy(self, schema: pa.Schema | None = None) -> Anatomy:
        return anatomy(self, schema)

    @kept
    def counting(self, schema: pa.Schema | None = None) -> CompiledQuery | None:
        """A query that counts the matches. Matches end where they are reported, so they can be
        counted, unless something limits them one by one, or only the places where they end are
        wanted."""
        if self.tree.formula.detect:
            return None
        if self.tree.limit is not None or self.tree.consume is not Consume.NONE:
            return None
        return self.of(replace(self.tree, count=True))
