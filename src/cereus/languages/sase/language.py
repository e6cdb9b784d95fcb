"""SASE+ as one of the languages of Cereus."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cereus.language.protocol import Language, Option, OptionKind, Params
from cereus.limits import Limits
from cereus.stream import Stream

if TYPE_CHECKING:
    from cereus.languages.sase.query import SaseQuery
    from cereus.languages.sase.tree import Program, UserAggregate


class Sase(Language):
    name = "sase"
    title = "SASE+"
    suffixes = ("sase",)
    words = (
        "strict_contiguity", "partition_contiguity", "skip_till_next_match", "skip_till_any_match",
        "MATCH", "SKIP", "PAST", "LAST", "TO", "NEXT", "EVENT",
    )  # fmt: skip
    signature = r"\A\s*(FROM\s+\w+\s+)?PATTERN\s+(SEQ\b|\w+\+?\s+\w+)"
    options = (
        Option(
            "aggregates",
            OptionKind.OBJECT,
            "aggregates by name: objects with `identity` and an associative `combine`",
        ),
        Option(
            "output",
            OptionKind.TEXT,
            "the query whose output is the result, by its stream or its number from 1; without "
            "it, the one that no other reads",
        ),
    )

    def parse(
        self,
        text: str,
        *,
        params: Params | None = None,
        aggregates: Mapping[str, UserAggregate] | None = None,
        **options: Any,
    ) -> Program:
        from cereus.languages.sase.aggregates import checked
        from cereus.languages.sase.text import parse

        return parse(text, checked(aggregates), params)

    def printed(self, tree: Program) -> str:
        from cereus.languages.sase.print import to_text

        return to_text(tree)

    def accepts(self, source: object) -> bool:
        from cereus.languages.sase.tree import Program

        return isinstance(source, Program)

    def compile(
        self,
        tree: Program,
        stream: Stream,
        *,
        limits: Limits,
        text: str | None = None,
        aggregates: Mapping[str, UserAggregate] | None = None,
        output: str | int | None = None,
        **options: Any,
    ) -> SaseQuery:
        from cereus.languages.sase.aggregates import checked, guarded
        from cereus.languages.sase.query import SaseQuery

        declared = guarded(checked(aggregates), tree)
        return SaseQuery(tree, stream, limits, declared, output)
