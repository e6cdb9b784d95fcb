"""Waits for rows of a key in one partition look these up: with the same matches, and less work."""

from __future__ import annotations

from random import Random

import pyarrow as pa
import pytest

import cereus
from cereus.languages.match_recognize.match.runs import find
from tests.languages.match_recognize.runs.test_leaps import (
    by_definition,
    by_start,
    drawn_table,
    emitted,
    leaping,
)
from tests.volume import volume

__all__ = ["leaping"]

PATTERNS = ("a b*? c", "a b* c", "a b+ c", "a b*", "a b* (c | d)", "a b*? c b*? d", "a b* c d*",
            "a b*? c d*? b", "a b{2,} c", "a b* c $", "(a b*? c)+ d")  # fmt: skip
OF_LOOPS = ("", "b AS k != a.k OR x <= a.x", "b AS NOT (k = a.k AND x > a.x + 9)",
            "b AS k <> a.k OR z < a.z", "b AS x < 95 AND (a.k != k OR y < 60)",
            "b AS w != a.w OR x < 40", "b AS y != a.y OR x < 90")  # fmt: skip
OF_ENDS = ("c AS k = a.k AND x > a.x", "c AS k = a.k AND x > 1.5 * a.x AND y > 3",
           "c AS x > a.x + 20 AND a.k = k", "c AS x = a.y", "c AS z = a.z AND x > 3",
           "c AS w = a.w AND x > a.x", "c AS k = a.k AND x > a.x AND count(*) < 40",
           "c AS x = a.x + 1 AND k = a.k", "c AS k = a.k AND x > LAST(x, 1) + a.x",
           "c AS k = a.k AND (x = a.y OR z > 1)", "c AS y = a.y")  # fmt: skip
OF_LAST = ("d AS k = a.k AND x < a.x", "d AS k = c.k AND x < c.x", "d AS x > 60", "d AS x = c.x")
WITHIN = ("", "", "WITHIN INTERVAL '70' SECOND", "WITHIN INTERVAL '70' SECOND WITH TIMEOUTS")


def drawn_clause(draw: Random) -> str:
    pattern = draw.choice(PATTERNS)
    drawn = [draw.choice(OF_LOOPS), draw.choice(OF_ENDS)]
    drawn += [draw.choice(OF_LAST)] if "d" in pattern else []
    usable = [each for each in drawn if each and ("c" in pattern or "c" not in each[:1])]
    conditions = f"DEFINE {', '.join(usable)}" if usable else ""
    key = draw.choice(("", "", "PARTITION BY p"))
    skip = draw.choice(("", "AFTER MATCH SKIP TO NEXT ROW"))
    return f"""MATCH_RECOGNIZE ({key} ORDER BY ts MEASURES FIRST(ts) AS f, count(*) AS n,
        CLASSIFIER() AS v {skip} PATTERN ({pattern}) {draw.choice(WITHIN)} {conditions})"""


def keyed_table(draw: Random, rows: int) -> pa.Table:
    table = drawn_table(draw, rows)
    names = draw.choice(("pqrs", "pqqqq", "abcdefghijklmnopqrstuvwxyz"))
    keys = [draw.choice(names) for _ in range(rows)]
    if draw.randrange(4) == 0:
        keys[rows // 2] = None
    parts = [draw.randrange(2) for _ in range(rows)]
    return table.set_column(0, "k", pa.array(keys, pa.string())).append_column(
        "p", pa.array(parts, pa.int64())
    )


@pytest.mark.parametrize("block", range(4))
def test_looking_up_rows_of_a_key_changes_no_answer(
    block: int, leaping: pytest.MonkeyPatch
) -> None:
    for seed in range(block, 4 * volume(7, 50), 4):
        draw = Random(seed)
        text, table = drawn_clause(draw), keyed_table(draw, draw.choice([60, 200, 500]))
        assert differences(text, [table], leaping) == [], (seed, text)


def test_what_is_looked_up_is_what_the_definition_gives(leaping: pytest.MonkeyPatch) -> None:
    for seed in range(volume(10, 80)):
        draw = Random(seed)
        text, table = drawn_clause(draw), keyed_table(draw, 60)
        assert by_start(emitted(text, table)) == by_start(by_definition(text, table)), (seed, text)


@pytest.mark.parametrize("loop", ["", "b AS k != a.k OR x <= a.x, "])
def test_starts_that_wait_for_a_key_read_few_rows(loop: str, leaping: pytest.MonkeyPatch) -> None:
    """In one partition, as with PARTITION BY k."""
    draw = Random(3)
    keys = [draw.choice("abcdefghijklmnopqrst") for _ in range(4_000)]
    rows = {
        "ts": range(4_000),
        "k": keys,
        "x": [draw.randrange(100) + 100 * (key == "a") for key in keys],
    }
    text = f"""MATCH_RECOGNIZE (ORDER BY ts MEASURES FIRST(ts) AS f PATTERN (a b* c)
        DEFINE {loop}c AS k = a.k AND x > 3 * a.x + 250)"""
    found = cereus.compile(text, dialect="match_recognize").run(pa.table(rows), threads=1)
    assert found.costs.steps < 12 * 4_000


def differences(text: str, tables: list[pa.Table], leaping: pytest.MonkeyPatch) -> list[int]:
    """Of which tables the matches are others where rows are looked up."""
    found = [emitted(text, table) for table in tables]
    with leaping.context() as patch:
        patch.setattr(find, "blocks", lambda *_: None)
        patch.setattr(find, "places", lambda *_: None)
        usual = [emitted(text, table) for table in tables]
    return [
        number for number, pair in enumerate(zip(found, usual, strict=True)) if pair[0] != pair[1]
    ]


def test_keys_from_end_to_end_of_64_bits(leaping: pytest.MonkeyPatch) -> None:
    """Their span is beyond 64 bits, and some have the same low bits."""
    far = [-(2**63), 2**63 - 1, -(2**63) + 65536, 0, 65536, 5]
    draw = Random(1)
    tables = [
        pa.table(
            {
                "ts": range(80),
                "k": pa.array([draw.choice(far) for _ in range(80)], pa.int64()),
                "x": [draw.randrange(100) for _ in range(80)],
            }
        )
        for _ in range(10)
    ]
    text = """MATCH_RECOGNIZE (ORDER BY ts MEASURES FIRST(ts) AS f, count(*) AS n
        AFTER MATCH SKIP TO NEXT ROW PATTERN (a b*? c)
        DEFINE b AS k != a.k OR x <= a.x, c AS k = a.k AND x > a.x)"""
    assert differences(text, tables, leaping) == []


@pytest.mark.parametrize(
    ("pattern", "subset", "key"),
    [("z a b*? c", "z, a, c", "LAST(u.k, 1)"), ("a b*? c", "a, c", "max(u.k)")],
)
def test_a_key_that_the_row_itself_changes(
    pattern: str, subset: str, key: str, leaping: pytest.MonkeyPatch
) -> None:
    """A row of c is one of u, so its condition is about what u is with it."""
    draw = Random(2)
    tables = [
        pa.table(
            {
                "ts": range(80),
                "k": [draw.randrange(6) for _ in range(80)],
                "x": [draw.randrange(100) for _ in range(80)],
            }
        )
        for _ in range(10)
    ]
    text = f"""MATCH_RECOGNIZE (ORDER BY ts MEASURES FIRST(ts) AS f, count(*) AS n
        PATTERN ({pattern}) SUBSET u = ({subset})
        DEFINE b AS k != {key} OR x < 90, c AS k = {key} AND x > 50)"""
    assert differences(text, tables, leaping) == []
