"""A compiled CEQL query."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from cereus.errors import RefusedError
from cereus.language.anatomy import Anatomy
from cereus.language.compiled import CompiledQuery
from cereus.language.kept import kept
from cereus.language.pattern import PatternQuery
from cereus.languages.ceql.explaining.anatomy import anatomy
from cereus.languages.ceql.explaining.description import CeqlDescription
from cereus.languages.ceql.explaining.words import words
from cereus.languages.ceql.flat import flattened
from cereus.languages.ceql.planning.build import build
from cereus.languages.ceql.planning.choosing import choices
from cereus.languages.ceql.print import to_text
from cereus.languages.ceql.tree import Formula
from cereus.plan.plan import Plan


class CeqlQuery(PatternQuery[Formula]):
    dialect = "ceql"
    description = CeqlDescription()

    def to_text(self) -> str:
        return to_text(self.tree)

    def build(self, schema: pa.Schema | None) -> Plan:
        return build(self.tree, self.stream, schema)

    @kept
    def flat(self, schema: pa.Schema) -> CompiledQuery:
        return self.of(flattened(self.tree, schema))

    def words(self) -> str:
        return words(self.tree, self.keys)

    @kept
    def anatomy(self, schema: pa.Schema | None = None) -> Anatomy:
        return anatomy(self, schema)

    @kept
    def counting(self, schema: pa.Schema | None = None) -> CompiledQuery | None:
        if self.tree.count:
            return self
        if self.tree.select is not None or self.tree.returned:
            return None  # one complex event may be many bindings
        if self.tree.skip or self.tree.unfollowed:
            return None  # skipping is decided when matches are listed
        if any(choices(self.tree.formula)):
            return None  # strategies choose among listed matches
        counting = self.of(replace(self.tree, count=True))
        try:
            counting.plan(schema)
        except RefusedError:
            return None
        return counting
