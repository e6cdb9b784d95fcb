"""Events of idle keys are left out, and it makes no difference to the matches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import cereus
from cereus import Stream
from cereus.engine.ingest.events import Events
from cereus.engine.ingest.idle_keys import IdleKeys
from cereus.engine.match.runner import Runner
from cereus.errors import DataError
from tests.volume import volume

STREAM = Stream(time="t", keys="k")
CEQL = {
    "all": "SELECT * WHERE A ; B ; C WITHIN 9 [t]",
    "real": "SELECT * WHERE A ; B ; C WITHIN 9.5 [r]",
    "repeated": "SELECT b WHERE A ; B+ AS b ; C WITHIN 9 [t]",
    "without a window": "SELECT * WHERE A ; B ; C",
    "either": "SELECT * WHERE (A OR B) ; (C OR D) WITHIN 9 [t]",
    "unseen": "SELECT b WHERE A ; B AS b WITHIN 9 [t]",
    "not between": "SELECT * WHERE (A ; C) UNLESS B WITHIN 9 [t]",
    "led away": "SELECT * WHERE (C ; D) UNLESS (A ; B) WITHIN 9 [t]",
    "registers": "SELECT * WHERE A AS a ; B AS b FILTER a.x = b.x WITHIN 9 [t]",
    "consumed": "SELECT * WHERE A ; B ; C WITHIN 9 [t] CONSUME BY PARTITION",
    "next": "SELECT NEXT * WHERE A ; B ; C WITHIN 9 [t]",
    "last": "SELECT LAST * WHERE A AS a ; B AS b FILTER a.x = b.x WITHIN 9 [t]",
    "counted": "SELECT COUNT(*) WHERE A ; B ; C WITHIN 9 [t]",
}
SASE = {
    "next": "PATTERN SEQ(A a, B b) WHERE skip_till_next_match(a, b) { [k] } WITHIN 9 seconds",
    "any": "PATTERN SEQ(A a, B+ b[], C c) WHERE skip_till_any_match(a, b[], c) { [k] }"
    " WITHIN 9 seconds",
    "between": "PATTERN SEQ(A a, ~B b, C c) WHERE skip_till_next_match(a, c) { [k] }"
    " WITHIN 9 seconds",
}
QUERIES = [("ceql", name) for name in CEQL] + [("sase", name) for name in SASE]


def compiled(dialect: str, name: str) -> cereus.Query:
    if dialect == "ceql":
        return cereus.compile(CEQL[name], stream=STREAM, schema=stream(1).schema)
    text = f"{SASE[name]} RETURN 1 AS one"
    return cereus.compile(
        text, dialect="sase", stream=Stream(time="t", unit="s"), schema=stream(1).schema
    )


def stream(seed: int, size: int = 400) -> pa.Table:
    draw = np.random.default_rng(seed)
    times = np.sort(draw.integers(0, size, size))
    return pa.table(
        {
            "type": draw.choice(list("ABCD"), size, p=(0.05, 0.35, 0.35, 0.25)),
            "t": times,
            "r": times / 2 - 40,
            "k": draw.integers(0, 40, size),
            "x": draw.integers(0, 3, size),
        }
    )


def runners(executor: Any) -> list[Runner]:
    if hasattr(executor, "runner"):
        return [executor.runner]
    return [run.runner for run in executor._every()]


def batches(table: pa.Table, seed: int) -> Iterator[pa.RecordBatch]:
    cuts = np.sort(np.random.default_rng(seed).integers(0, table.num_rows, 5))
    for begin, end in zip([0, *cuts], [*cuts, table.num_rows], strict=True):
        yield from table.slice(begin, end - begin).combine_chunks().to_batches()


def every_row(_: IdleKeys, events: Events, wakes: Any, keys: int) -> Any:
    """In place of `IdleKeys.rows`: nothing is left out."""
    return np.arange(len(events))


def found(query: Any, table: pa.Table, seed: int) -> tuple[list[str], int]:
    """The matches, and how many events were remembered for them."""
    executor = query.executor(table.schema)
    rows: list[Any] = []
    for place, batch in enumerate(batches(table, seed)):
        if place == 3:
            saved, executor = executor.save(), query.executor(table.schema)
            executor.restore(saved)
        for result in executor.push(batch):
            rows += result.to_pylist()
    rows += [row for result in executor.finish() for row in result.to_pylist()]
    return sorted(map(repr, rows)), sum(each.history.next_ordinal for each in runners(executor))


@pytest.mark.parametrize(("dialect", "name"), QUERIES)
def test_the_matches_are_those_of_reading_everything(dialect: str, name: str) -> None:
    query = compiled(dialect, name)
    matches = 0
    for seed in range(volume(6, 12)):
        table = stream(seed)
        asleep, few = found(query, table, seed)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(IdleKeys, "rows", every_row)
            awake, many = found(query, table, seed)
        assert asleep == awake
        assert few < many
        matches += len(asleep)
    assert matches


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * WHERE A ; B ; C WITHIN 9 EVENTS",
        "SELECT STRICT * WHERE A ; B WITHIN 9 [t]",
        "SELECT MAX * WHERE A+ ; B+ WITHIN 9 [t]",
        "SELECT * WHERE A ; B WITHIN 9 [t] CONSUME BY ANY",
        "SELECT MAX * WHERE A+ AS a ; B+ AS b FILTER a.x = b.x WITHIN 9 [t]",
    ],
)
def test_who_counts_or_goes_back_reads_everything(text: str) -> None:
    query = cereus.compile(text, stream=STREAM, schema=stream(1).schema)
    (each,) = runners(query.executor(stream(1).schema))
    assert not each.plan.traits.keys_sleep
    assert each.reader.idle_keys is None


def keyed(*events: tuple[str, int]) -> pa.RecordBatch:
    kinds, times = zip(*events, strict=True)
    columns = {"type": kinds, "t": times, "k": [0] * len(events)}
    return pa.RecordBatch.from_pydict({name: list(values) for name, values in columns.items()})


def test_what_has_left_the_window_goes_though_no_event_is_read() -> None:
    first = keyed(("A", 1), ("B", 2))
    query = cereus.compile("SELECT * WHERE A ; B ; C WITHIN 9 [t]", stream=STREAM)
    executor = query.executor(first.schema)
    (each,) = runners(executor)
    assert not list(executor.push(first))
    assert each.kernel.node_count and len(each.history) == 2
    assert not list(executor.push(keyed(("B", 20), ("C", 21))))
    assert len(each.history) == 2  # nothing of that was read
    each.tidy(at=0)
    assert each.kernel.node_count == len(each.history) == 0


def test_a_batch_that_is_refused_wakes_nobody() -> None:
    query = cereus.compile("SELECT * WHERE A ; B WITHIN 9 [w]", stream=STREAM)

    def batch(*events: tuple[str, int, int | None]) -> pa.RecordBatch:
        plain = keyed(*(event[:2] for event in events))
        widths = pa.array([event[2] for event in events], pa.int64())
        return plain.append_column("w", widths)

    executor = query.executor(batch(("A", 1, 1)).schema)
    (each,) = runners(executor)
    list(executor.push(batch(("C", 1, 1))))
    with pytest.raises(DataError, match="null"):
        list(executor.push(batch(("A", 2, 2), ("B", 3, None))))
    assert not list(executor.push(batch(("B", 4, 4))))
    assert each.history.next_ordinal == 0
    assert sum(r.num_rows for r in executor.push(batch(("A", 5, 5), ("B", 6, 6)))) == 1
