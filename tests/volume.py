"""How many random cases a test draws: some in `make test`, thousands in `make test-long`, which
sets CEREUS_TEST_LONG=1. CEREUS_TEST_SHARE=0.2 takes that part of the thousands, as CI does.

A test that also counts what it met (matches, kinds of plans) asks for a share of its volume.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Any

import pytest

LONG = os.environ.get("CEREUS_TEST_LONG", "") not in ("", "0")
SHARE = float(os.environ.get("CEREUS_TEST_SHARE", "1"))


def volume(usual: int, long: int) -> int:
    """The number of cases to draw now."""
    return max(usual, round(long * SHARE)) if LONG else usual


def usually(cases: Iterable[Any], one_in: int) -> list[Any]:
    """The parameters of a test: `make test` takes one in so many, `make test-long` the others."""
    return [
        case if number % one_in == 0 else pytest.param(case, marks=pytest.mark.long)
        for number, case in enumerate(cases)
    ]


_CALL = re.compile(r"\bvolume\(([\d_]+), ([\d_]+)\)")


def draws_more(source: str) -> bool:
    """Whether the tests of a source file draw more cases now than they do in `make test`."""
    return any(volume(int(usual), int(long)) > int(usual) for usual, long in _CALL.findall(source))
