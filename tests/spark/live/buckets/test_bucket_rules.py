"""Rules that change in buckets, without Spark: retries and workers that forget change nothing."""

from __future__ import annotations

import json
from collections import Counter
from datetime import datetime
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow as pa
import pytest

pytest.importorskip("pyspark")

import cereus
from cereus import RuleRecognizer
from cereus.spark.live.packing import from_bytes, to_bytes
from cereus.spark.live.recipe import Recipe
from cereus.spark.live.rules.changes import (
    PACKED_RULES,
    RulePacking,
    RulesTask,
    rows_of,
    rules_schema,
)
from tests.rules.compiles import counted_compiles
from tests.spark.live.streams import SECOND, Stream

STREAM = cereus.Stream(time="ts", keys=["k"])
SCHEMA = pa.schema(
    {
        "id": pa.int64(),
        "type": pa.string(),
        "k": pa.string(),
        "x": pa.int64(),
        "ts": pa.timestamp("us"),
    }
)
TEXTS = (
    "SELECT * WHERE A ; B FILTER A[x > {}] WITHIN 20 seconds",
    "SELECT COUNT(*) WHERE A ; B+ FILTER A[x > {}] WITHIN 9 seconds",
    "SELECT * WHERE A FILTER A[x > {}] NOT FOLLOWED BY B WITHIN 5 seconds",
    "SELECT * WHERE A ; FILTER {}",
)


class KeyedRules(RulesTask):
    sorted_by = (("k",),)


class RuleStream(Stream):
    """A stream in which changes of rules come with the events."""

    changes: tuple[dict[str, Any], ...] = ()

    def _packed(self, events: pa.Table, number: int) -> list[bytes]:
        packed = super()._packed(events, number)
        rows = pa.array([json.dumps(row) for row in self.changes], pa.string())
        if self.changes:
            packed.append(to_bytes(pa.record_batch([rows], schema=PACKED_RULES)))
        return packed


def recipe() -> Recipe:
    columns = rules_schema(STREAM, SCHEMA)
    order = (("ts",), ("id",))
    task = KeyedRules(STREAM, None)
    return Recipe(
        task, SCHEMA, columns, order, True, None, None, True, False, "refuse", "", "rules"
    )


def drawn(draw: Random, begin: int, size: int) -> pa.Table:
    rows = [
        {
            "id": begin + n,
            "type": draw.choice("AAB"),
            "k": draw.choice("pq"),
            "x": draw.randrange(4),
        }
        for n in range(size)
    ]
    times = pa.array([(1 + begin + n) * SECOND for n in range(size)], pa.timestamp("us"))
    return pa.Table.from_pylist(rows, SCHEMA.remove(4)).append_column("ts", times)


def change(draw: Random) -> dict[str, Any]:
    name = draw.choice("uvw")
    if draw.randrange(4) == 0:
        return {"name": name, "removed": True}
    return {"name": name, "text": draw.choice(TEXTS).format(draw.randrange(3))}


def summary(rows: list[dict[str, Any]]) -> Counter[str]:
    return Counter(str(row) for row in rows)


def test_rules_in_buckets_find_what_the_local_recognizer_finds() -> None:
    found = 0
    for seed in range(8):
        draw = Random(seed)
        live = RuleStream(recipe(), 0, buckets=2, dice=Random(seed))
        local = RuleRecognizer(stream=STREAM, schema=SCHEMA)
        expected: list[dict[str, Any]] = []
        waiting = SCHEMA.empty_table()
        for step in range(8):
            events = drawn(draw, 8 * step, 8)
            live.changes = (change(draw),) if draw.randrange(2) else ()
            for row in live.changes:
                local.remove(row["name"]) if row.get("removed") else local.put(row)
            waiting = pa.concat_tables([waiting, events])
            due = pa.compute.less_equal(
                waiting["ts"].cast(pa.int64()), live.watermark * 1000 if live.watermark else -1
            )
            expected += local.push(waiting.filter(due)).to_pylist()
            if live.watermark:
                expected += local.advance(live.watermark * 1000 + 1).to_pylist()
            waiting = waiting.filter(pa.compute.invert(due))
            live.batch(events)
        rows = [row for row in live.rows if row.pop("change") is None and row.pop("error") is None]
        found += len(rows)
        assert summary(rows) == summary(expected), seed
    assert found > 40


@pytest.mark.parametrize(
    "moments",
    [(2, 10, 9), (None, None, 1), tuple(datetime(2024, 1, day) for day in (1, 12, 3))],
    ids=["numbers", "some without", "times"],
)
def test_changes_of_one_micro_batch_are_made_in_the_order_of_their_moments(
    moments: tuple[Any, ...],
) -> None:
    rows = [{"name": f"rule {n}", "at": at} for n, at in enumerate(moments)]
    packed = next(RulePacking((0,)).run(iter(pa.Table.from_pylist(rows).to_batches())))
    made = rows_of([from_bytes(packed.column(1)[0].as_py())])
    expected = sorted(rows, key=lambda row: (row["at"] is not None, row["at"]))
    assert [row["name"] for row in made] == [row["name"] for row in expected]


@pytest.mark.parametrize("name", ["removed", "enabled"])
def test_a_change_whose_flag_is_a_text_is_refused_and_the_rule_goes_on(name: str) -> None:
    executor = RulesTask(STREAM, None).executor(SCHEMA)
    row = {"name": "a", "text": "SELECT * WHERE A"}
    executor.change([row], complete=False)
    (refused,) = executor.change([{**row, name: "false"}], complete=False).to_pylist()
    assert refused["change"] == "refused" and f"'{name}' of a rule" in refused["error"]
    assert [each.name for each in executor.rules.running] == ["a"]


def test_a_change_whose_name_is_no_text_is_refused_in_words() -> None:
    executor = RulesTask(STREAM, None).executor(SCHEMA)
    row = {"name": 5, "text": "SELECT * WHERE A"}
    (report,) = executor.change([row], complete=False).to_pylist()
    assert (report["rule"], report["change"]) == ("5", "refused")
    assert executor.change([{**row, "removed": True}], complete=False).num_rows == 0


@pytest.mark.parametrize("name", [None, ""])
def test_a_change_without_a_name_concerns_no_rule(name: str | None) -> None:
    executor = RulesTask(STREAM, None).executor(SCHEMA)
    executor.change([{"name": "None", "text": "SELECT * WHERE A"}], complete=False)
    row = {"name": name, "text": "SELECT * WHERE A"}
    (report,) = executor.change([row], complete=False).to_pylist()
    assert (report["rule"], report["change"]) == ("", "refused")
    assert "a rule needs a name" in report["error"]
    assert executor.change([{**row, "removed": True}], complete=False).num_rows == 0
    assert [each.name for each in executor.rules.running] == ["None"]


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("x", pa.scalar(2)),
        ("x", pa.scalar(Decimal("2.00"))),
        ("ts", pa.scalar(datetime(1970, 1, 1, 0, 0, 5), pa.timestamp("us", "UTC"))),
    ],
)
@pytest.mark.parametrize("as_map", [True, False], ids=["map", "struct"])
def test_parameters_may_be_a_map_or_a_struct(column: str, value: pa.Scalar, as_map: bool) -> None:
    inner = pa.map_(pa.string(), value.type) if as_map else pa.struct({"least": value.type})
    given = pa.array([[("least", value.as_py())] if as_map else {"least": value.as_py()}], inner)
    text = f"SELECT * WHERE A FILTER A[{column} >= :least]"
    table = pa.table({"name": ["a"], "text": [text], "parameters": given})
    packed = next(RulePacking((0,)).run(iter(table.to_batches())))
    time = pa.field("ts", pa.timestamp("us", "UTC"))
    schema = SCHEMA.set(SCHEMA.get_field_index("ts"), time)
    executor = RulesTask(STREAM, None).executor(schema)
    rows = rows_of([from_bytes(packed.column(1)[0].as_py())])
    (report,) = executor.change(rows, complete=False).to_pylist()
    assert (report["change"], report["error"]) == ("added", None)
    batch = drawn(Random(0), 0, 9).cast(schema)
    found = sum(each.num_rows for each in executor.push(batch.combine_chunks().to_batches()[0]))
    limit = value.as_py()
    assert found == sum(row["type"] == "A" and row[column] >= limit for row in batch.to_pylist())
    assert found


def test_a_bucket_that_another_worker_has_had_does_not_compile_its_rules_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compiled = counted_compiles(monkeypatch)
    live = RuleStream(recipe(), 0, buckets=2, dice=Random(0), forgetting=1)
    rules = [{"name": f"rule {n}", "text": TEXTS[0].format(50 + n)} for n in range(3)]
    for step in range(6):
        live.changes = () if step else tuple(rules)
        live.batch(drawn(Random(step), 8 * step, 8))
    assert compiled == [rule["text"] for rule in rules]


def test_matches_of_many_rules_are_one_packed_row() -> None:
    live = RuleStream(recipe(), 0)
    live.changes = tuple({"name": f"rule {n}", "text": TEXTS[0].format(0)} for n in range(20))
    for step in range(4):
        live.batch(drawn(Random(step), 8 * step, 8))
        live.changes = ()
    rows = [each.matches for each in live.outputs if each.data]
    assert len({row["rule"] for row in live.rows if row["change"] is None}) == 20
    assert len(rows) <= 4 and max(rows) >= 20


def test_keys_that_come_and_go_leave_nothing_behind_in_rules() -> None:
    live = RuleStream(recipe(), 0)
    rules = [TEXTS[0].format(0), TEXTS[0].format(1), TEXTS[1].format(0), TEXTS[2].format(2)]
    live.changes = tuple({"name": f"rule {n}", "text": text} for n, text in enumerate(rules))
    sizes = []
    for number in range(200):
        events = drawn(Random(number), 40 * number, 30)
        keys = pa.array([f"key {number:04} {row % 10}" for row in range(30)])
        live.batch(events.set_column(events.column_names.index("k"), "k", keys))
        live.changes = ()
        sizes.append(live.stores[0].size)
    assert live.total("matches") > 500 and live.total("late") == 0
    assert max(sizes[150:]) <= 1.1 * max(sizes[20:70])
