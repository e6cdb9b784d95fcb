"""Keys that behave like new ones are forgotten, and nobody notices."""

from __future__ import annotations

from random import Random
from typing import Any

import pyarrow as pa
import pytest

import cereus
from cereus.engine.match.history import GrowingTable

MANY = 20
EVERYONE = 130
"""How many keys there are in all."""


def batches(seed: int, types: str = "ABC") -> list[pa.Table]:
    """Ever new keys, of which each comes for a while."""
    draw = Random(seed)
    events = [
        {"type": draw.choice(types), "t": n, "k": n // 12 + draw.randrange(6)} for n in range(1_500)
    ]
    schema = pa.schema([("type", pa.string()), ("t", pa.int64()), ("k", pa.int64())])
    return [pa.Table.from_pylist(events[n : n + 50], schema) for n in range(0, len(events), 50)]


def known_keys(recognizer: Any) -> int:
    executor = recognizer._executor
    reader = executor.runner.reader if hasattr(executor, "plan") else executor.reader
    return len(reader.substreams)


CASES = [
    ("par", "repeat (A ; B[X] | C)", 100),
    ("par", "A ; B[X]", None),
    ("algebra", "A + B", None),
    ("algebra", "A | B", 60),
    ("algebra", "(A ; B)_9", 60),
    ("algebra", "(A + (B ; A))_9 | C", 60),
    ("algebra", "A ; (B ; C)_9", None),
    ("ceql", "SELECT * WHERE A : B", 90),
    ("ceql", "SELECT * WHERE A : B WITHIN 3 EVENTS", 90),
    ("ceql", "SELECT * WHERE A ; B WITHIN 9 seconds", 60),
]
"""A language, a query, and how many keys it knows at the end; None: it must remember them all."""


def forget_at(many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let all languages look for keys to forget when there are so many."""
    from cereus.engine.match import forgetting

    monkeypatch.setattr(forgetting, "FORGET_AT", many)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("dialect", "text", "most"), CASES)
def test_forgetting_keys_changes_no_result(
    dialect: str, text: str, most: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    forget_at(MANY, monkeypatch)
    stream = cereus.Stream(time="t", unit="s", keys="k")
    query = cereus.compile(text, dialect=dialect, stream=stream)
    found: dict[bool, list[str]] = {}
    for forgets in (False, True):
        recognizer = query.recognizer(forget_idle=forgets)
        rows = []
        for batch in batches(1):
            rows += map(str, recognizer.push(batch))
            rows += map(str, recognizer.advance(batch["t"][-1].as_py()))
        found[forgets] = sorted(rows + [str(row) for row in recognizer.finish()])
        if most is None:
            assert known_keys(recognizer) == EVERYONE
        elif forgets:
            assert known_keys(recognizer) <= most < EVERYONE
    assert found[False] == found[True]
    assert found[True]


ROWS = "MATCH_RECOGNIZE (PARTITION BY k ORDER BY t MEASURES count(*) AS n PATTERN (a b) DEFINE "
NEW_KEYS = [
    ("ceql", "SELECT * WHERE A ; B WITHIN 9 seconds"),
    ("ceql", "SELECT * WHERE A : B WITHIN 3 EVENTS"),
    ("ceql", "SELECT * WHERE A : B"),
    ("ceql", "SELECT * WHERE A ; B CONSUME BY PARTITION"),
    ("sase", "PATTERN SEQ(A a, B b) WHERE skip_till_next_match(a, b) { } WITHIN 9 seconds"),
    ("par", "repeat (A ; B[X])"),
    ("algebra", "A | B"),
    ("algebra", "(A ; B)_5"),
    ("match_recognize", f"{ROWS} a AS type = 'A', b AS type = 'B')"),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("dialect", "text"), NEW_KEYS)
def test_what_is_kept_stays_flat_while_ever_new_keys_come(
    dialect: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each key has a match, and never comes again."""
    forget_at(MANY, monkeypatch)
    of_rows = dialect == "match_recognize"
    stream = cereus.Stream(time="t", unit="s", keys=() if of_rows else "k")
    recognizer = cereus.compile(text, dialect=dialect, stream=stream).recognizer()
    sizes = []
    for n in range(40):
        times, keys = [100 * n + i for i in range(60)], [30 * n + i // 2 for i in range(60)]
        recognizer.push(pa.table({"type": ["A", "B"] * 30, "t": times, "k": keys}))
        recognizer.advance(times[-1])
        sizes.append(len(recognizer.snapshot()))
    assert max(sizes[20:]) <= max(sizes[:20])


def test_explain_says_how_long_a_key_stays() -> None:
    stream = cereus.Stream(time="t", unit="s", keys="k")
    windowed = cereus.compile("SELECT * WHERE A ; B WITHIN 9 seconds", stream=stream)
    assert "until a window after its last event" in windowed.explain()
    counted = cereus.compile("SELECT * WHERE A ; B WITHIN 9 EVENTS", stream=stream)
    assert "until it has no partial match" in counted.explain()


def test_a_table_that_grows_has_few_pieces() -> None:
    growing = GrowingTable()
    for n in range(300):
        growing.append(pa.table({"x": [n]}))
        if n % 3 == 0:
            assert growing.table is not None
            assert growing.table.num_rows == n + 1
            assert growing.table.column("x").num_chunks <= 10
    growing.forget(250)
    assert growing.table is not None
    assert growing.table.column("x").to_pylist() == list(range(250, 300))
