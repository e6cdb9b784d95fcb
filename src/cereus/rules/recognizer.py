"""A recognizer of rules that change: events pushed as they come, rules put and removed between."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pyarrow as pa

from cereus.engine import snapshot as snapshots
from cereus.engine.turns import in_turn
from cereus.errors import CereusError, DataError, SnapshotError
from cereus.limits import Limits
from cereus.recognizer import check_time, counted_in, pushed
from cereus.rules.compiling import RuleCompiler
from cereus.rules.output import output, output_schema
from cereus.rules.rule import Rule, rules_in
from cereus.rules.running import CompiledRule, RunningRules
from cereus.sources import to_schema, to_table
from cereus.state import checked
from cereus.stream import Stream

FORMAT = 1
"""The version of the snapshots of rules."""


@dataclass(frozen=True)
class RuleChange:
    """The result of adding or removing a rule.

    change  added, replaced, carried over (replaced, and goes on with its partial matches), paused,
            resumed, removed, or refused: then `error` says why, and the old rule goes on
    """

    rule: str
    version: int
    change: str
    error: str | None = None


@dataclass(frozen=True)
class KnownRule:
    """A rule as it was last put, and its version; `running` is the compiled rule that runs."""

    rule: Rule
    version: int
    running: CompiledRule | None


class RuleRecognizer:
    """Rules that read one stream, and may be put and removed at any time between two pushes. How
    the others run does not change by it.

    `push` gives a table with one row per match: the name of the rule and its version, the keys of
    the stream, when the match starts and ends, `values`, what the rule computes, as JSON, and
    `events`. Its columns are the same whatever the rules are.
    """

    def __init__(
        self, *, stream: Stream, schema: pa.Schema, rules: Any = (), limits: Limits | None = None
    ) -> None:
        self.events = to_schema(schema)
        self.schema = checked_schema(stream, self.events, limits)
        self.stream, self.limits = stream, limits
        self._compiler = RuleCompiler(stream, self.events, limits)
        self._known: dict[str, KnownRule] = {}
        self._running = RunningRules(self.events)
        self._turn = threading.Lock()
        self._ended = ""
        self.changes = self._put_all(rules_in(rules))
        """The results for the rules that were given at the start: one may have been refused."""

    # ------------------------------------------------------------ rules

    @property
    def rules(self) -> dict[str, Rule]:
        """The rules as they were last put, by name."""
        return {name: known.rule for name, known in self._known.items()}

    @property
    def running(self) -> list[CompiledRule]:
        """The rules that read events, compiled."""
        return [known.running for known in self._known.values() if known.running is not None]

    @in_turn
    def put(self, *rules: Any) -> list[RuleChange]:
        """Add rules, or replace those of the same name. A rule that is put unchanged changes
        nothing, and one that does not compile is refused: the old one goes on."""
        return self._put_all([Rule.of(rule) for rule in rules])

    @in_turn
    def remove(self, *names: str) -> list[RuleChange]:
        """Remove rules with all their partial matches."""
        return self._remove(names)

    def _remove(self, names: Iterable[str]) -> list[RuleChange]:
        changes = []
        for name in names:
            if not isinstance(name, str):
                raise CereusError(
                    f"rules are removed by name, not by a {type(name).__name__}",
                    hint='write rules.remove("one", "another")',
                )
            known = self._known.pop(name, None)
            if known is not None:
                self._running.remove(name)
                changes.append(RuleChange(name, known.version, "removed"))
        return changes

    @in_turn
    def set(self, rules: Any) -> list[RuleChange]:
        """Let these be all rules: those of a folder, a table or a list. All others are removed."""
        wanted = rules_in(rules)
        gone = set(self._known) - {rule.name for rule in wanted}
        return [*self._remove(sorted(gone)), *self._put_all(wanted)]

    def _put_all(self, rules: Iterable[Rule]) -> list[RuleChange]:
        return [change for rule in rules if (change := self._put(rule)) is not None]

    def _put(self, rule: Rule) -> RuleChange | None:
        known = self._known.get(rule.name)
        if known is not None and known.rule == rule:
            return None
        same = known is not None and known.rule.meaning == rule.meaning
        version = 1 if known is None else known.version + (not same)
        try:
            compiled = self._compiler.compiled(rule, version)
        except CereusError as error:
            return self._refused(rule, version, known, str(error))
        change = self._changed(rule, compiled, known, same)
        running = compiled if rule.enabled else None
        self._known[rule.name] = KnownRule(rule, version, running)
        return RuleChange(rule.name, version, change)

    def _refused(self, rule: Rule, version: int, known: KnownRule | None, error: str) -> RuleChange:
        """Note a rule that does not compile, so that it is reported once."""
        running = None if known is None else known.running
        self._known[rule.name] = KnownRule(rule, version, running)
        return RuleChange(rule.name, version, "refused", error)

    def _changed(
        self, rule: Rule, compiled: CompiledRule, known: KnownRule | None, same: bool
    ) -> str:
        runs = known is not None and known.running is not None
        if not rule.enabled:
            self._running.remove(rule.name)
            return "paused"
        if not runs:
            self._running.add(compiled)
            return "added" if known is None else "resumed" if same else "replaced"
        return "carried over" if self._running.replace(compiled) else "replaced"

    # ------------------------------------------------------------ events

    @in_turn
    def push(self, events: Any) -> pa.Table:
        """Read events; the matches that they complete. Events that are refused leave no trace; a
        limit that is reached, or Ctrl-C, ends the recognizer, for some rules have read the events
        then."""
        self._check_open()
        table = to_table(events, self.events)
        missing = [name for name in self.events.names if name not in table.column_names]
        if missing:
            raise DataError(
                f"the column {missing[0]!r} is not in these events",
                hint="give every batch the columns of the schema",
            )
        try:
            table = table.select(self.events.names).cast(self.events)
        except pa.ArrowException as error:
            raise DataError(
                f"these events do not have the types of the schema: {error}",
                hint="cast the columns, or declare them so in schema=",
            ) from None
        rows: list[pa.RecordBatch] = []
        for batch in table.combine_chunks().to_batches():
            with pushed():
                rows += self._outputs(self._running.push(batch))
        return pa.Table.from_batches(rows, self.schema)

    @in_turn
    def advance(self, time: int | datetime) -> pa.Table:
        """No event before `time` will come: a datetime, or a number in the units of the time
        column."""
        self._check_open()
        check_time(time)
        if isinstance(time, datetime):
            time = counted_in(time, self.stream.time, self.events)
        return pa.Table.from_batches(self._outputs(self._running.advance(time)), self.schema)

    @in_turn
    def finish(self) -> pa.Table:
        """The stream is over; matches that waited for its end."""
        self._check_open()
        rows = self._outputs(self._running.finish())
        self._ended = "it is finished"
        return pa.Table.from_batches(rows, self.schema)

    def _check_open(self) -> None:
        if self._ended:
            raise CereusError(
                f"these rules read no more: {self._ended}",
                hint="make a new recognizer, or restore one from a snapshot",
            )

    def _outputs(
        self, parts: Iterator[tuple[CompiledRule, pa.RecordBatch]]
    ) -> list[pa.RecordBatch]:
        try:
            return [
                output(rule.name, rule.version, matches, self.schema) for rule, matches in parts
            ]
        except CereusError as error:
            refused = isinstance(error, DataError) and not error.while_matching
            if not refused or self._running.have_read:  # what the first refuses, none has read
                self._ended = str(error).partition("\n")[0]
            raise
        except BaseException:
            self._ended = "it was interrupted"
            raise

    # ------------------------------------------------------------ state

    @in_turn
    def snapshot(self) -> bytes:
        """The rules and their state as bytes; `RuleRecognizer.restored` goes on from them."""
        known = [
            (each.rule.written(), each.version, _written(each.running))
            for each in self._known.values()
        ]
        return snapshots.dump(self._header, {"rules": known, "units": self._running.save()})

    @property
    def _header(self) -> dict[str, Any]:
        return {"rules": FORMAT, "stream": repr(self.stream), "columns": str(self.events)}

    def __reduce__(self) -> tuple[Callable[..., RuleRecognizer], tuple[Any, ...]]:
        return _restored, (self.snapshot(), self.stream, self.events, self.limits)

    @classmethod
    def restored(
        cls, snapshot: bytes, *, stream: Stream, schema: pa.Schema, limits: Limits | None = None
    ) -> RuleRecognizer:
        """A recognizer that goes on from a snapshot."""
        if not isinstance(snapshot, bytes | bytearray | memoryview):
            raise SnapshotError(
                f"a snapshot is bytes, not a {type(snapshot).__name__}",
                hint="give what recognizer.snapshot() gave",
            )
        made = cls(stream=stream, schema=schema, limits=limits)
        state = snapshots.load(snapshot, made._header)
        with snapshots.restoring():
            running: dict[str, CompiledRule] = {}
            for text, version, runs in checked.of_type(state["rules"], list, "the rules"):
                rule = Rule.read(text)
                checked.refuse_unless(rule.name not in made._known, "a rule is there twice")
                if runs is not None:
                    running[rule.name] = made._read(rule.name, *runs)
                checked.count(version, "the version of a rule")
                made._known[rule.name] = KnownRule(rule, version, running.get(rule.name))
            made._running.restore(state["units"], running)
        return made

    def _read(self, name: str, text: str, version: int) -> CompiledRule:
        """A rule that ran when the snapshot was taken, compiled."""
        rule = Rule.read(text)
        checked.refuse_unless(rule.name == name, "a rule runs under another name")
        return self._compiler.compiled(rule, checked.count(version, "the version of a rule"))


def checked_schema(stream: Stream, events: pa.Schema, limits: Limits | None) -> pa.Schema:
    """The columns of matches, after a check of stream and limits."""
    _check_kinds(stream, limits)
    stream.check(events)
    stream.need_time(events.names)
    return output_schema(stream, events)


def _check_kinds(stream: object, limits: object) -> None:
    """Refuse a stream and limits of wrong types."""
    if not isinstance(stream, Stream):
        raise CereusError(
            f"stream= is a Stream, not a {type(stream).__name__}",
            hint='write stream=Stream(time="…", keys=["…"])',
        )
    if limits is not None and not isinstance(limits, Limits):
        raise CereusError(
            f"limits= are Limits, not a {type(limits).__name__}", hint="write limits=Limits(…)"
        )


def _written(rule: CompiledRule | None) -> tuple[str, int] | None:
    return None if rule is None else (rule.rule.written(), rule.version)


def _restored(
    snapshot: bytes, stream: Stream, schema: pa.Schema, limits: Limits | None
) -> RuleRecognizer:
    return RuleRecognizer.restored(snapshot, stream=stream, schema=schema, limits=limits)
