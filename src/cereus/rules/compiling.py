"""Compiles rules over one stream: each once in a process, however many recognizers run it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from weakref import WeakValueDictionary

import pyarrow as pa

from cereus.clauses.tree import Consume
from cereus.errors import CereusError, DataError
from cereus.language.compiled import CompiledQuery
from cereus.language.pattern import PatternQuery
from cereus.limits import Limits
from cereus.query import Query, compile
from cereus.rules.rule import UNREADABLE, Rule
from cereus.rules.running import CompiledRule
from cereus.stream import Stream
from cereus.syntax.parsing import errors_in

_SHARED: WeakValueDictionary[tuple[str, str], CompiledQuery] = WeakValueDictionary()
"""The queries of rules that run somewhere in this process. On Spark a worker has a recognizer of
all rules for each of its buckets, and makes it again when a bucket comes back. Compiling a rule
takes some milliseconds, taking up its state some microseconds."""


@dataclass(frozen=True)
class RuleCompiler:
    """Compiles rules over a stream with these columns, and refuses those that cannot run there."""

    stream: Stream
    events: pa.Schema
    limits: Limits | None

    def compiled(self, rule: Rule, version: int) -> CompiledRule:
        known = (rule.meaning, self._meaning)
        query = _SHARED.get(known)
        if query is None:
            query = _SHARED[known] = self._query(rule)
        with errors_in(None):
            return CompiledRule.of(rule, version, query, self.events)

    @cached_property
    def _meaning(self) -> str:
        """All that the meaning of a text depends on here."""
        return repr((self.stream, str(self.events), self.limits))

    def _query(self, rule: Rule) -> CompiledQuery:
        query = query_of(rule, self.stream, self.events, self.limits).compiled
        self._check_keys(query)
        return query

    def _check_keys(self, query: CompiledQuery) -> None:
        keys = {path[0] for path in query.keys}
        missing = [name for name in self.stream.keys if name not in keys]
        if missing:
            raise DataError(
                f"the rule does not keep the key {missing[0]!r} of the stream apart",
                hint="partition by the keys of the stream",
            )
        if self.stream.keys and _ends_all(query):
            raise CereusError(
                "CONSUME BY ANY ends the partial matches of all keys, and rules read key by key",
                hint="write CONSUME BY PARTITION",
            )


def query_of(rule: Rule, stream: Stream, events: pa.Schema | None, limits: Limits | None) -> Query:
    """The query of a rule. A text that was not UTF-8 is refused here, as what does not compile is,
    so that it harms no other rule."""
    if UNREADABLE in rule.text:
        before = rule.text[: rule.text.index(UNREADABLE)]
        raise DataError(
            f"line {before.count(chr(10)) + 1} of the rule has a character that is not in UTF-8",
            hint="save the text in UTF-8",
        )
    return compile(
        rule.text,
        dialect=rule.language,
        stream=stream,
        schema=events,
        limits=limits,
        params=rule.parameters or None,
        **rule.options,
    )


def _ends_all(query: CompiledQuery) -> bool:
    return isinstance(query, PatternQuery) and query.tree.consume is Consume.ANY
