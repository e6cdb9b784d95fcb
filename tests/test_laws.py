"""How work grows, counted: the laws that `bench/growth/scaling.py` measures in seconds.

A law that fails here has become worse on every machine, as nothing here looks at a clock.
"""

from __future__ import annotations

import pytest

from bench.growth.laws import LAWS, Law, power

COUNTED = [law for law in LAWS if law.few_sizes]
COUNTS = ("tests", "kept", "steps", "nodes", "bytes")
TOLERANCE = 0.05


@pytest.mark.parametrize("law", COUNTED, ids=lambda law: law.name)
@pytest.mark.parametrize("count", COUNTS)
def test_counts_grow_no_faster_than_expected(law: Law, count: str) -> None:
    """One more, as a count may be zero."""
    counts = [
        1.0 + getattr(law.case(size, law.few_events).costs(), count) for size in law.few_sizes
    ]
    assert power(law.few_sizes, counts) <= law.power + TOLERANCE, counts


def test_a_power_is_fitted_over_the_larger_sizes() -> None:
    sizes = (1, 10, 100, 1_000)
    assert power(sizes, [7.0, 70.0, 700.0, 7_000.0]) == pytest.approx(1)
    assert power(sizes, [500.0, 500.0, 600.0, 60_000.0]) == pytest.approx(2)
    assert power(sizes, [3.0] * 4) == pytest.approx(0)
