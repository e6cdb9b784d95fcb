"""How letters are made and how matches are chosen or counted are picked independently; every
executor has what its users read."""

from __future__ import annotations

from itertools import product
from typing import Any

import pyarrow as pa
import pytest

import cereus
from cereus import Stream
from cereus.engine.executor import PatternExecutor
from cereus.engine.match.counting_runner import CountingRunner
from cereus.engine.match.letter_strategy import LetterStrategy, PlainLetters
from cereus.engine.match.runner import Runner
from cereus.engine.match.strategies.listing import ListingRunner
from cereus.engine.match.strategies.replay import ReplayRunner
from cereus.engine.match.value_letters import ValueLetters
from cereus.errors import DataError

EVENTS = pa.table({"type": list("ABAB"), "t": range(4), "x": [1, 2, 3, 4], "s": list("abcd")})
STREAM = Stream(time="t")

CHOOSING: dict[type[Runner], str] = {
    Runner: "SELECT * WHERE {} WITHIN 9 [t]",
    CountingRunner: "SELECT COUNT(*) WHERE {} WITHIN 9 [t]",
    ReplayRunner: "SELECT MAX * WHERE {} WITHIN 9 [t]",
    ListingRunner: "SELECT MAX * WHERE PROJECT[a]({}) WITHIN 9 [t]",
}
LETTERS: dict[type[LetterStrategy], str] = {
    PlainLetters: "A+ AS a ; B+ AS b",
    ValueLetters: "A+ AS a ; B AS b FILTER a.s < b.s",  # slots have no order of strings
}


@pytest.mark.parametrize(("runner", "letters"), list(product(CHOOSING, LETTERS)))
def test_every_runner_takes_every_kind_of_letters(
    runner: type[Runner], letters: type[LetterStrategy]
) -> None:
    text = CHOOSING[runner].format(LETTERS[letters])
    query = cereus.compile(text, stream=STREAM, schema=EVENTS.schema)
    executor = query.executor(EVENTS.schema)
    assert isinstance(executor, PatternExecutor)
    assert type(executor.runner) is runner
    assert type(executor.runner.letters) is letters
    assert len(query.run(EVENTS))


QUERIES: dict[str, Any] = {
    "ceql": "SELECT * WHERE A ; B",
    "sremo": "{A:} . skip* . {B:}",
    "sase": "PATTERN SEQ(A a, B b) WITHIN 9 seconds",
    "par": "a[A] ; b[B]",
    "algebra": "A ; B",
}


@pytest.mark.parametrize("dialect", QUERIES)
def test_every_executor_has_a_header_and_a_schema(dialect: str) -> None:
    stream = Stream(time="t", unit="s")
    query = cereus.compile(QUERIES[dialect], dialect=dialect, stream=stream, schema=EVENTS.schema)
    executor = query.executor(EVENTS.schema)
    assert set(executor.header) == {"version", "query fingerprint"}
    assert all(batch.schema == executor.schema for batch in executor.push(EVENTS.to_batches()[0]))


@pytest.mark.parametrize("dialect", ["ceql", "par", "algebra"])
def test_a_refused_batch_leaves_no_trace(dialect: str) -> None:
    """Time goes backwards in the second batch: rows and times go on as if it had not come."""
    query = cereus.compile(QUERIES[dialect], dialect=dialect, stream=STREAM, schema=EVENTS.schema)
    executor = query.executor(EVENTS.schema)
    (batch,) = EVENTS.to_batches()
    rows = [row for part in executor.push(batch.slice(0, 1)) for row in part.to_pylist()]
    with pytest.raises(DataError, match="goes backwards at row"):
        list(executor.push(pa.concat_batches([batch.slice(2), batch.slice(0, 1)])))
    rows += [row for part in executor.push(batch.slice(1)) for row in part.to_pylist()]
    rows += [row for part in executor.finish() for row in part.to_pylist()]
    assert rows == query.run(EVENTS).table.to_pylist()
