"""Snapshots of every language and kind of runner: read from this release on, and never a crash."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from cereus.engine import snapshot
from cereus.errors import SnapshotError
from tests.engine.snapshots.cases import CASES, DATA, Case, as_json
from tests.engine.snapshots.fuzz import joined, parts, taken
from tests.volume import volume

DAMAGES = volume(80, 10_000)
"""So many in each of ten tests, which several processes share."""
ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_kind_of_runner_has_its_snapshot(case: Case) -> None:
    assert case.runners() == {case.runner}


def test_the_kinds_of_runners_are_all_there() -> None:
    assert {case.runner for case in CASES} >= {
        "Runner",
        "CountingRunner",
        "ListingRunner",
        "ReplayRunner",
        "Runner by values",
        "CountingRunner by values",
        "ListingRunner by values",
        "ReplayRunner by values",
        "ReactiveExecutor",
        "DetectingExecutor",
        "RecognizingExecutor",
    }


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_released_snapshot_is_read_and_gone_on_with(case: Case) -> None:
    path = DATA / case.name.replace(" ", "_")
    found = as_json(case.continued(path.with_suffix(".snapshot").read_bytes()))
    assert found + "\n" == path.with_suffix(".json").read_text()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_snapshot_changes_nothing(case: Case) -> None:
    recognizer = case.query.recognizer(keep_events=case.keep)
    before = list(recognizer.push(case.before))
    everything = before + case.continued(recognizer.snapshot())
    whole = case.query.recognizer(keep_events=case.keep)
    in_one = list(whole.push(case.events)) + list(whole.finish())
    assert sorted(map(repr, everything)) == sorted(map(repr, in_one))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_equal_states_are_equal_bytes(case: Case) -> None:
    once = case.taken()
    assert case.query.restore(once).snapshot() == once


def test_every_truncation_is_refused_though_the_digests_fit() -> None:
    before, state = parts(taken(0))
    for size in range(len(state)):
        with pytest.raises(SnapshotError):
            CASES[0].query.restore(joined(before, state[:size]))


def test_a_snapshot_of_the_pickled_format_is_refused_in_words() -> None:
    before, _ = parts(taken(0))
    old = b"cereus-snapshot-1\n" + snapshot.sealed(pickle.dumps(({}, {})))
    with pytest.raises(SnapshotError, match="another version of Cereus"):
        CASES[0].query.restore(snapshot.sealed(before + old))


@pytest.mark.parametrize("block", range(volume(1, 10)))
def test_damage_with_a_digest_that_fits_never_crashes(block: int) -> None:
    """In a process of its own, so that a crash is a failure and not the end of the tests."""
    first, last = block * DAMAGES, (block + 1) * DAMAGES
    done = subprocess.run(
        [sys.executable, "-m", "tests.engine.snapshots.fuzz", str(first), str(last)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 0, (done.stdout.splitlines()[-1:], done.stderr[-3000:])
