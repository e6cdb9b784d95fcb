"""Matches that do not fit in memory are an error, and not the end of the process."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import cereus
from cereus.engine.results import collecting
from cereus.errors import LimitError

EVENTS = pa.table({"type": ["A"] * 40 + ["B"]})


def test_matches_that_do_not_fit_are_an_error_that_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    query = cereus.compile("SELECT * WHERE A{3} ; B WITHIN 100 EVENTS")
    monkeypatch.setattr(collecting, "free_bytes", lambda: 1000.0)
    with pytest.raises(LimitError, match="more matches than fit in memory") as error:
        query.run(EVENTS)
    assert "query.batches" in str(error.value)
    assert query.count(EVENTS) == 40 * 39 * 38 // 6
    assert sum(batch.num_rows for batch in query.batches(EVENTS)) == 40 * 39 * 38 // 6


def test_free_memory_is_that_of_the_container_if_it_is_less(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine, container = tmp_path / "meminfo", tmp_path / "memory.max"
    machine.write_text("MemTotal:  200 kB\nMemAvailable:  100 kB\n")
    monkeypatch.setattr(collecting, "MEMORY", machine)
    monkeypatch.setattr(collecting, "CONTAINER", container)
    used = tmp_path / "memory.current"
    monkeypatch.setattr(collecting, "CONTAINER_USED", used)
    assert collecting.free_bytes() == 100 * 1024
    container.write_text("max\n")
    assert collecting.free_bytes() == 100 * 1024
    container.write_text("5000\n")
    used.write_text("2000\n")
    assert collecting.free_bytes() == 3000


def test_a_dictionary_that_batches_share_is_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    words = pa.array([f"a long word, number {number}" for number in range(1000)])
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2], pa.int32()), words)
    batches = [pa.record_batch({"word": column})] * 50
    monkeypatch.setattr(collecting, "free_bytes", lambda: 2.0 * words.nbytes)
    assert collecting.collect_batches(batches) == batches
