"""How many random cases a test draws: some in `make test`, thousands in `make test-long`, which
sets CEREUS_TEST_LONG=1.

A test that also counts what it met (matches, kinds of plans) asks for a share of its volume.
"""

from __future__ import annotations

import os

LONG = os.environ.get("CEREUS_TEST_LONG", "") not in ("", "0")


def volume(usual: int, long: int) -> int:
    """The number of cases to draw now."""
    return long if LONG else usual
