"""The same answers in other processes: with the kernel uncompiled, and going on from snapshots."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.volume import volume

from . import elsewhere

ROOT = Path(__file__).parents[4]
SNAPSHOTS = volume(20, 90)
UNCOMPILED = volume(40, 180)


def in_another_process(
    task: str, first: int, last: int, *, text: str = "", **environment: str
) -> Any:
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "tests.languages.ceql.running.elsewhere",
            task,
            str(first),
            str(last),
        ],
        input=text,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=os.environ | environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.long
def test_uncompiled_the_kernel_gives_the_same_answers() -> None:
    pure = in_another_process("answers", 0, UNCOMPILED, CEREUS_PURE="1")
    assert not pure["compiled"]
    assert pure["found"] == elsewhere.answers(0, UNCOMPILED)


def test_a_snapshot_goes_on_in_another_process() -> None:
    """Its strings hash differently there, so that nothing may hang on the order of a set."""
    snapshots, early = elsewhere.first_halves(1000, 1000 + SNAPSHOTS)
    other = in_another_process(
        "go-on", 1000, 1000 + SNAPSHOTS, text=json.dumps(snapshots), PYTHONHASHSEED="12345"
    )
    whole = elsewhere.answers(1000, 1000 + SNAPSHOTS)
    together = [
        [sorted(a + b) for a, b in zip(*halves, strict=True)]
        for halves in zip(early, other["found"], strict=True)
    ]
    limited = [elsewhere.case(seed).query.limit for seed in range(1000, 1000 + SNAPSHOTS)]
    for found, expected, limit in zip(together, whole, limited, strict=True):
        assert found == expected or limit is not None
