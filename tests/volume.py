"""How many random cases a test draws: some in `make test`, thousands in `make test-long`.

    CEREUS_TEST_LONG=1     the thousands
    CEREUS_TEST_SHORT=1    half of what make test draws, for builds that run slowly

A test that also counts what it met (matches, kinds of plans) asks for a share of its volume.
"""

from __future__ import annotations

import os


def _is_set(name: str) -> bool:
    return os.environ.get(name, "") not in ("", "0")


LONG = _is_set("CEREUS_TEST_LONG")
SHORT = _is_set("CEREUS_TEST_SHORT")


def volume(usual: int, long: int) -> int:
    """The number of cases to draw now."""
    if LONG:
        return long
    return max(1, usual // 2) if SHORT else usual
