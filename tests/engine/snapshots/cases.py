"""One query for each language and each kind of runner, with events before and after a snapshot.

    python -m tests.engine.snapshots.cases    write tests/data/snapshots anew

The snapshots in tests/data are those of a release: they are read from then on, so they are written
anew only when the format's version is raised, and those of the old version move to a folder of
their own.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa

import cereus
from cereus.engine.executor import PatternExecutor
from cereus.engine.match.runner import Runner
from cereus.engine.match.value_letters import ValueLetters

DATA = Path(__file__).parents[2] / "data" / "snapshots"
WHOLE = pa.int64()
TIMED = {"time": "t", "unit": "s"}
KEYED = {**TIMED, "keys": "k"}
FIVE = "A ALL B ALL C ALL D ALL E"
ANY, NEXT = "skip_till_any_match(a, b[], c)", "skip_till_next_match(a, b[], c)"
PENDING = """
PATTERN SEQ(A a, B b, ~C c) WHERE skip_till_any_match(a, b) { a.x <= b.x } WITHIN 20 seconds
RETURN a.x, b.t AS P(x, u) IN STREAM pairs
FROM pairs PATTERN SEQ(P p, P q) WHERE skip_till_any_match(p, q) { p.x <= q.x } RETURN p.x, q.x
"""


@dataclass(frozen=True)
class Case:
    """A query, the kind of runner or executor that it has, and the values of the column `v`."""

    name: str
    text: str
    runner: str
    dialect: str = "ceql"
    stream: dict[str, str] = field(default_factory=lambda: dict(TIMED))
    options: dict[str, Any] = field(default_factory=dict)
    keep: bool = False
    size: int = 36
    kind: pa.DataType = WHOLE
    types: str = "AABBC"

    @cached_property
    def query(self) -> cereus.Query:
        stream = cereus.Stream(**self.stream)  # type: ignore[arg-type]
        return cereus.compile(self.text, dialect=self.dialect, stream=stream, **self.options)

    @cached_property
    def events(self) -> pa.Table:
        draw, size = Random(self.name), self.size
        return pa.table(
            {
                "type": [draw.choice(self.types) for _ in range(size)],
                "t": [2 * i + draw.randrange(2) for i in range(size)],
                "k": [draw.choice("uvw") for _ in range(size)],
                "x": [draw.randrange(6) for _ in range(size)],
                "w": [draw.choice(["p", "q", None]) for _ in range(size)],
                "v": pa.array([draw.randrange(5) for _ in range(size)]).cast(self.kind),
            }
        )

    @property
    def before(self) -> pa.Table:
        return self.events.slice(0, self.size * 2 // 3)

    @property
    def after(self) -> pa.Table:
        return self.events.slice(self.size * 2 // 3)

    def runners(self) -> set[str]:
        """What runs the query: runners of automata, or the executor itself."""
        executor: Any = self.query.executor(self.events.schema)
        if hasattr(executor, "runs"):
            return {_kind(run.runner) for runs in executor.runs for run in runs}
        if isinstance(executor, PatternExecutor):
            return {_kind(executor.runner)}
        return {type(executor).__name__}

    def taken(self) -> bytes:
        """A snapshot between the two parts."""
        recognizer = self.query.recognizer(keep_events=self.keep)
        recognizer.push(self.before)
        return recognizer.snapshot()

    def continued(self, snapshot: bytes) -> list[dict[str, Any]]:
        """What is found after a snapshot: in the other events, by time that passes, at the end."""
        recognizer = self.query.restore(snapshot)
        found = list(recognizer.push(self.after))
        found += list(recognizer.advance(2 * self.size + 10)) if "time" in self.stream else []
        recognizer.snapshot()
        return found + list(recognizer.finish())


CASES = [
    Case("plain", "SELECT * WHERE A ; B+ ; C WITHIN 20 seconds", "Runner"),
    Case("variables", "SELECT b WHERE A AS a ; B AS b ; C WITHIN 9 EVENTS", "Runner"),
    Case("kept", "SELECT * WHERE A ; B ; C WITHIN 9 EVENTS", "Runner", keep=True),
    Case("keyed", "SELECT * WHERE A ; B ; C PARTITION BY k WITHIN 40 seconds", "Runner"),
    Case("two keys", "SELECT * WHERE A ; B PARTITION BY k, w WITHIN 40 seconds", "Runner"),
    Case("open-ended", "SELECT * WHERE A ; B ; NOT(A) WITHIN 20 seconds", "Runner"),
    Case("slots", "SELECT * WHERE (A AS a ; B AS b ; C) FILTER a.x = b.x AND a.w != b.w", "Runner"),
    Case(
        "totals in slots",
        "SELECT * WHERE (A+ AS a ; B AS b) FILTER max(a.x) < b.x WITHIN 30 seconds",
        "Runner",
    ),
    Case(
        "values",
        "SELECT * WHERE (A AS a ; B AS b) FILTER max(a.v) < max(b.v)",
        "Runner by values",
        kind=pa.decimal128(22, 2),
    ),
    Case(
        "values that are times",
        "SELECT * WHERE (A AS a ; B AS b) FILTER max(a.v) < max(b.v) AND percentile(a.x, 0) < 5 "
        "PARTITION BY k",
        "Runner by values",
        kind=pa.timestamp("ns"),
    ),
    Case("counted", "SELECT COUNT(*) WHERE A ; B+ ; C WITHIN 30 seconds", "CountingRunner"),
    Case("gathered", f"SELECT * WHERE {FIVE} WITHIN 20 seconds", "Runner", types="ABCDE"),
    Case(
        "gathered and counted",
        f"SELECT COUNT(*) WHERE {FIVE} WITHIN 30 seconds",
        "CountingRunner",
        types="ABCDE",
    ),
    Case(
        "totals",
        "SELECT COUNT(*), SUM(b.x), MAX(a.x) WHERE A AS a ; B AS b PARTITION BY k",
        "CountingRunner",
    ),
    Case(
        "counted over an order",
        "SELECT COUNT(*) WHERE (A AS a ; B+ ; C AS c) FILTER a.x < c.x WITHIN 60 seconds",
        "CountingRunner",
        size=72,
    ),
    Case(
        "totals over an equality",
        "SELECT COUNT(*), SUM(a.x) WHERE (A AS a ; B AS b) FILTER a.x = b.x PARTITION BY k",
        "CountingRunner",
        size=72,
    ),
    Case(
        "limited",
        "SELECT * WHERE (A AS a ; B AS b) FILTER a.x < b.x PARTITION BY k WITHIN 60 seconds "
        "LIMIT 1",
        "Runner",
    ),
    Case(
        "last of an order",
        "SELECT LAST * WHERE (A AS a ; B ; C AS c) FILTER a.x < c.x AND a.w = c.w "
        "WITHIN 60 seconds",
        "Runner",
        size=72,
    ),
    Case(
        "chosen inside",
        "SELECT * WHERE NEXT(A AS a ; B AS b FILTER a.x < b.x) ; C PARTITION BY k "
        "WITHIN 60 seconds",
        "Runner",
    ),
    Case(
        "chosen over a total",
        "SELECT * WHERE NEXT(A+ AS a ; B AS b FILTER sum(a.x) > b.x) ; C PARTITION BY k",
        "Runner",
        size=72,
    ),
    Case(
        "a set of values",
        "SELECT * WHERE (A+ AS a ; B AS b) FILTER a.x != b.x PARTITION BY k WITHIN 30 seconds",
        "Runner",
    ),
    Case(
        "not followed",
        "SELECT * WHERE A AS a ; B NOT FOLLOWED BY (C AS c FILTER c.x > a.x) WITHIN 20 seconds",
        "Runner",
    ),
    Case("timed out", "SELECT * WHERE A ; B ; C WITHIN 9 seconds WITH TIMEOUTS", "Runner"),
    Case("next", "SELECT NEXT * WHERE A ; B+ ; C WITHIN 30 seconds", "Runner"),
    Case("last", "SELECT LAST * WHERE A ; B ; C PARTITION BY k", "Runner"),
    Case("max", "SELECT MAX * WHERE A ; B+ ; C PARTITION BY k WITHIN 30 seconds", "Runner"),
    Case("max of all", "SELECT MAX * WHERE A+ ; B PARTITION BY k WITHIN 10 seconds", "Runner"),
    Case("max of several", "SELECT MAX * WHERE A+ ; B+ WITHIN 10 seconds", "ReplayRunner"),
    Case(
        "max of several consumed by any",
        "SELECT MAX * WHERE A+ ; B+ PARTITION BY k WITHIN 30 seconds CONSUME BY ANY",
        "ReplayRunner",
    ),
    Case(
        "max consumed by any",
        "SELECT MAX * WHERE A ; B PARTITION BY k WITHIN 30 seconds CONSUME BY ANY",
        "Runner",
    ),
    Case(
        "max of many consumed by any",
        "SELECT MAX * WHERE A ; B+ PARTITION BY k WITHIN 30 seconds CONSUME BY ANY",
        "Runner",
    ),
    Case(
        "max by values",
        "SELECT MAX * WHERE (A AS a ; B AS b) FILTER max(a.v) < max(b.v) WITHIN 30 seconds",
        "Runner by values",
        kind=pa.decimal128(22, 2),
    ),
    Case(
        "max of many by values",
        "SELECT MAX * WHERE (A+ AS a ; B AS b) FILTER max(a.v) < max(b.v) WITHIN 10 seconds",
        "ReplayRunner by values",
        kind=pa.decimal128(22, 2),
    ),
    Case(
        "counted by values",
        "SELECT COUNT(*) WHERE (A AS a ; B AS b) FILTER max(a.v) < max(b.v) WITHIN 30 seconds",
        "CountingRunner by values",
        kind=pa.decimal128(22, 2),
    ),
    Case(
        "listed by values",
        "SELECT LAST * WHERE (A AS a ; B AS b ; NOT(C)) FILTER max(a.v) < max(b.v) "
        "WITHIN 30 seconds",
        "ListingRunner by values",
        kind=pa.decimal128(22, 2),
    ),
    Case("listed", "SELECT LAST * WHERE A ; B ; NOT(C) WITHIN 30 seconds", "ListingRunner"),
    Case("strict", "SELECT STRICT * WHERE A ; B+ WITHIN 30 seconds", "Runner"),
    Case("at the start", "SELECT * WHERE START(A ; B) PARTITION BY k WITHIN 50 [t]", "Runner"),
    Case("registers", "any({A:} -> r, {B: x > r.x}) WITHIN 20 seconds", "Runner", dialect="sremo"),
    Case(
        "registers by values",
        "any({A:} -> r, {B: v >= r.v}, {C:}) PARTITION BY k",
        "Runner by values",
        dialect="sremo",
        kind=pa.decimal256(44, 2),
    ),
    Case("detected", "DETECT any({A:} -> r, {C: x > r.x})", "Runner", dialect="sremo"),
    Case(
        "kleene",
        f"PATTERN SEQ(A a, B+ b[], C c) WHERE {ANY} {{ b[i].x > b[i-1].x ^ a.x < c.x }} "
        "WITHIN 30 seconds RETURN a.x, b[].x",
        "Runner",
        dialect="sase",
    ),
    Case(
        "kleene by values",
        f"PATTERN SEQ(A a, B+ b[], C c) WHERE {NEXT} {{ b[i].v >= b[i-1].v ^ a.v <= c.v }} "
        "WITHIN 30 seconds RETURN a.x, b[].x",
        "Runner by values",
        dialect="sase",
        kind=pa.decimal256(44, 2),
    ),
    Case(
        "negation at the end",
        "PATTERN SEQ(A a, B b, ~C c) WHERE skip_till_any_match(a, b) { a.x <= b.x } "
        "WITHIN 20 seconds RETURN a.x",
        "Runner",
        dialect="sase",
        stream=KEYED,
    ),
    Case(
        "events of the past",
        "PATTERN SEQ(~C c, A a, B b) WHERE skip_till_any_match(a, b) { c.x > a.x } "
        "WITHIN 20 seconds RETURN a.x",
        "Runner",
        dialect="sase",
        stream=KEYED,
    ),
    Case("pending", PENDING, "Runner", dialect="sase"),
    Case(
        "reacting",
        "repeat (A ; try B[hit] unless C)",
        "ReactiveExecutor",
        dialect="par",
        stream=KEYED,
    ),
    Case("detector", "(A ; B) + (C - D)", "DetectingExecutor", dialect="algebra", stream=KEYED),
    Case(
        "detector of values",
        "(A ; (B + C)) ; (A ; B)",
        "DetectingExecutor",
        dialect="algebra",
        options={"values": True},
        keep=True,
    ),
    Case(
        "rows",
        "MATCH_RECOGNIZE (PARTITION BY k ORDER BY t MEASURES MATCH_NUMBER() AS n, FIRST(x) AS f, "
        "array_agg(CLASSIFIER()) AS vs AFTER MATCH SKIP TO LAST b PATTERN (a b+ c?) "
        "DEFINE b AS x <> PREV(x), c AS type = 'C')",
        "RecognizingExecutor",
        dialect="match_recognize",
    ),
    Case(
        "rows with slots",
        "MATCH_RECOGNIZE (ORDER BY t MEASURES sum(b.x) AS total ALL ROWS PER MATCH WITH UNMATCHED "
        "ROWS PATTERN (a b+) DEFINE a AS type = 'A', b AS b.x <= a.x AND sum(b.x) < 8)",
        "RecognizingExecutor",
        dialect="match_recognize",
    ),
    Case(
        "rows timed out",
        "MATCH_RECOGNIZE (PARTITION BY k ORDER BY t MEASURES LAST(x) AS l PATTERN (a b{3}) "
        "WITHIN INTERVAL '12' SECOND WITH TIMEOUTS DEFINE a AS type = 'A', b AS type <> 'C')",
        "RecognizingExecutor",
        dialect="match_recognize",
    ),
]


def _kind(runner: Runner) -> str:
    by_values = isinstance(runner.letters, ValueLetters)
    return type(runner).__name__ + " by values" * by_values


def _plain(value: Any) -> Any:
    """A result as JSON has it."""
    return str(value) if isinstance(value, datetime | Decimal) else value


def as_json(found: list[dict[str, Any]]) -> str:
    return json.dumps(found, default=_plain, indent=1)


def main() -> None:
    for case in CASES:
        snapshot = case.taken()
        path = DATA / case.name.replace(" ", "_")
        path.with_suffix(".snapshot").write_bytes(snapshot)
        path.with_suffix(".json").write_text(as_json(case.continued(snapshot)) + "\n")


if __name__ == "__main__":
    main()
