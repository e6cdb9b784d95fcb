"""Workers that have loaded what they need: it is not looked through for garbage any more."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

pytest.importorskip("pyspark")

from cereus.spark.live import settling


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    settling._settle_once.cache_clear()
    yield
    settling._settle_once.cache_clear()
    gc.unfreeze()


def test_a_worker_settles_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settling.TaskContext, "get", lambda: object())
    assert gc.get_freeze_count() == 0
    settling.settle()
    assert gc.get_freeze_count() > 1000
    gc.unfreeze()
    settling.settle()  # what came since may be garbage some day
    assert gc.get_freeze_count() == 0


def test_other_processes_are_left_as_they_are() -> None:
    settling.settle()
    assert gc.get_freeze_count() == 0
