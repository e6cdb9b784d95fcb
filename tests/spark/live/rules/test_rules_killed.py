"""Rules that change while drivers and workers are killed: nothing is lost or doubled.

Which rows come in one micro-batch is chance, and rules begin where their micro-batch does. So the
local recognizer is given the rows of each micro-batch as the checkpoint has them, with the
watermark of it.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

pytest.importorskip("pyspark")

from cereus import RuleRecognizer
from cereus import spark as cs
from tests.spark.files import write
from tests.spark.live.driver import KEYED
from tests.spark.live.killing import kill_some_worker, killed_drivers, needs_processes, release
from tests.spark.live.streams import parts, shuffled, with_end
from tests.spark.market import random_events

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.long]

DRIVERS, WORKERS = 2, 2
FILES_PER_DRIVER = 2
FILES = DRIVERS * FILES_PER_DRIVER + WORKERS
PAIR = "SELECT * WHERE A ; B FILTER A[id > {}] WITHIN 20 seconds"
CHANGES: list[list[dict[str, Any]]] = [
    [{"name": "pair", "text": PAIR.format(3)}, {"name": "gone", "text": "SELECT * WHERE C"}],
    [{"name": "pair", "text": PAIR.format(20)}, {"name": "broken", "text": "SELECT"}],
    [{"name": "plus", "text": "SELECT * WHERE A ; B+ ; C WITHIN 9 seconds"}],
    [{"name": "gone", "removed": True}],
    [{"name": "plus", "text": "SELECT * WHERE A ; B+ ; C WITHIN 9 seconds", "enabled": False}],
    [{"name": "pair", "text": "SELECT * WHERE B ; A WITHIN 20 seconds"}],
    [{"name": "plus", "text": "SELECT * WHERE A ; B+ ; C WITHIN 9 seconds", "enabled": True}],
]
"""Rules are added, replaced (once only in a threshold), refused, removed, paused and resumed."""


class MicroBatch(NamedTuple):
    watermark: int
    events: list[Path]
    rules: list[Path]


def micro_batches(checkpoint: Path) -> Iterator[MicroBatch]:
    """What Spark has read, by its own account."""
    read = [-1, -1]
    files = [_files(checkpoint / "sources" / str(source)) for source in range(2)]
    for number in range(len(list((checkpoint / "offsets").glob("[0-9]*")))):
        _, metadata, *offsets = (checkpoint / "offsets" / str(number)).read_text().splitlines()
        until = [read[n] if o == "-" else json.loads(o)["logOffset"] for n, o in enumerate(offsets)]
        new = [
            [path for offset, path in files[n] if read[n] < offset <= until[n]] for n in range(2)
        ]
        read = until
        yield MicroBatch(json.loads(metadata)["batchWatermarkMs"], *new)


def _files(log: Path) -> list[tuple[int, Path]]:
    """The files of a source, each with the offset that it came with."""
    entries: dict[str, int] = {}
    for path in log.glob("[0-9]*"):
        for line in path.read_text().splitlines()[1:]:
            entry = json.loads(line)
            entries[entry["path"]] = entry["batchId"]
    return sorted((offset, Path(path.removeprefix("file://"))) for path, offset in entries.items())


def locally(batches: list[MicroBatch], schema: pa.Schema) -> tuple[Counter[Any], Counter[Any]]:
    """The matches, and what became of rules."""
    local = RuleRecognizer(stream=KEYED, schema=schema)
    matches: list[dict[str, Any]] = []
    changes: list[Any] = []
    waiting = schema.empty_table()
    for watermark, events, rules in batches:
        for row in sorted((row for path in rules for row in _rows(path)), key=lambda r: r["at"]):
            rule = {name: value for name, value in row.items() if name != "at"}
            changes += local.remove(rule["name"]) if "removed" in rule else local.put(rule)
        waiting = pa.concat_tables(
            [waiting, *(pq.read_table(path).cast(schema) for path in events)]
        )
        due = pc.less_equal(waiting["ts"].cast(pa.int64()), watermark * 1000)
        if watermark:
            ordered = waiting.filter(due).sort_by([("ts", "ascending"), ("id", "ascending")])
            matches += local.push(ordered).to_pylist()
            matches += local.advance(watermark * 1000 + 1).to_pylist()
            waiting = waiting.filter(pc.invert(due))
    return summary(matches), Counter((each.rule, each.version, each.change) for each in changes)


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def summary(rows: list[dict[str, Any]]) -> Counter[Any]:
    return Counter(
        (row["rule"], row["version"], row["k"], tuple(event["id"] for event in row["events"]))
        for row in rows
    )


def write_changes(where: Path) -> None:
    for number, rows in enumerate(CHANGES):
        lines = [json.dumps({**row, "at": 10 * number + n}) for n, row in enumerate(rows)]
        (where / f"{number:04}.json").write_text("\n".join(lines) + "\n")


@needs_processes
def test_rules_change_while_drivers_and_workers_are_killed(
    spark: SparkSession, tmp_path: Path
) -> None:
    dice = random.Random(5)
    events = random_events(3).select(["id", "type", "k", "ts"])
    batches = parts(shuffled(events, 5, dice), FILES, dice)
    batches[-1] = with_end(batches[-1])
    for name in ("events", "rules", "hidden", "hidden rules"):
        (tmp_path / name).mkdir()
    write_changes(tmp_path / "hidden rules")
    files = iter(sorted(write(tmp_path / "hidden", batches).iterdir()))
    changes = iter(sorted((tmp_path / "hidden rules").iterdir()))

    def release_some(count: int = FILES_PER_DRIVER) -> None:
        release(changes, 1, tmp_path / "rules")
        release(files, count, tmp_path / "events")

    last = killed_drivers(tmp_path, "rules", DRIVERS, dice, release_some)
    try:
        last.start()
        for _ in range(WORKERS):
            release_some(1)
            kill_some_worker(last, dice)
        release(changes, len(CHANGES), tmp_path / "rules")
        last.end()
    finally:
        last.kill()
    expected, reported = locally(list(micro_batches(tmp_path / "checkpoint")), batches[0].schema)
    found, told = cs.split_changes(spark.read.parquet(str(tmp_path / "found")))
    assert summary([row.asDict() for row in found.collect()]) == expected
    counted = Counter((row["rule"], row["version"], row["change"]) for row in told.collect())
    assert counted == reported
    assert len(expected) > 20 and {"added", "refused", "removed"} <= {each[2] for each in reported}
