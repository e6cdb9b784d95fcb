"""Rows to ticks."""

from __future__ import annotations

import numpy as np
import pytest

from cereus.errors import DataError
from cereus.languages.algebra.detect.detector import Detector
from cereus.languages.algebra.detect.program import build
from cereus.languages.algebra.detect.run import detect
from cereus.languages.algebra.detect.ticks import group
from cereus.languages.algebra.text import parse


def test_rows_of_one_time_are_one_tick() -> None:
    ticks = group([1, 1, 2, 2, 2, 5], [1, 2, 4, 1, 2, 1])
    assert ticks.times.tolist() == [1, 2, 5]
    assert ticks.masks[:, 0].tolist() == [3, 7, 1]
    assert ticks.tick_rows.tolist() == [0, 2, 5, 6]


def test_ticks_do_not_reach_over_keys() -> None:
    ticks = group([1, 2, 2, 3, 3], [1, 1, 2, 1, 2], key_rows=[0, 2, 2, 5])
    assert ticks.times.tolist() == [1, 2, 2, 3]
    assert ticks.key_ticks.tolist() == [0, 2, 2, 4]


def test_no_rows_are_no_ticks() -> None:
    assert len(group([], [])) == 0
    assert len(detect(build(parse("A ; B")), group([], []))) == 0


@pytest.mark.parametrize("bit", [0, 31, 32, 63])
@pytest.mark.parametrize("times", [2, 3, 4])
def test_one_primitive_twice_in_a_tick_is_refused(bit: int, times: int) -> None:
    masks = np.full(times, 1 << bit, np.uint64)
    with pytest.raises(DataError, match=r"two instances in one tick, at time 7\n.*merge"):
        group([7] * times, masks)


def test_or_merged_when_told_to_taking_the_first() -> None:
    program = build(parse("A ; B"), values=True)
    ticks = group([1, 1, 2], [1, 1, 2], repeated="merge")
    assert detect(program, ticks).constituents() == [[0, 2]]


def test_one_row_may_be_an_instance_of_several_primitives() -> None:
    program = build(parse("A + B"), values=True)
    assert detect(program, group([1], [3])).constituents() == [[0]]


def test_time_that_goes_backwards_is_refused() -> None:
    with pytest.raises(DataError, match="time goes backwards: 3 after 5"):
        group([5, 3], [1, 2])
    assert len(group([5, 3], [1, 2], key_rows=[0, 1, 2])) == 2


def test_times_too_far_from_zero_are_refused() -> None:
    with pytest.raises(DataError, match="too far from zero"):
        group([0, 2**62], [1, 1])


def test_a_detector_refuses_a_primitive_twice_also_in_two_batches() -> None:
    detector = Detector(build(parse("A ; B")))
    detector.push([1], [1], rows=[0])
    with pytest.raises(DataError, match="two instances in one tick"):
        detector.push([1], [1], rows=[1])


def test_what_waits_is_bounded_by_the_primitives() -> None:
    detector = Detector(build(parse("A ; B")), repeated="merge")
    detector.push(np.ones(1000), np.full(1000, 1, np.uint64), rows=range(1000))
    assert detector.waiting.rows.tolist() == [0]
    detector.push([1, 1], [3, 2], rows=[1000, 1001])
    assert detector.waiting.rows.tolist() == [0, 1000]


def test_a_detector_refuses_time_that_goes_backwards_between_batches() -> None:
    detector = Detector(build(parse("A ; B")))
    detector.push([5], [1], rows=[0])
    with pytest.raises(DataError, match="backwards"):
        detector.push([4], [1], rows=[1])


def test_a_detector_refuses_what_comes_after_time_was_advanced() -> None:
    detector = Detector(build(parse("A ; B")))
    detector.push([5], [1], rows=[0])
    assert len(detector.advance(8)) == 0
    with pytest.raises(DataError, match="time 7 comes after time was advanced to 8"):
        detector.push([7], [2], rows=[1])
    detector.push([8], [2], rows=[1])
    assert detector.finish().pairs() == [(5, 8)]


def test_arrays_may_be_read_only() -> None:
    """As those that Arrow hands out are."""
    times, masks = np.array([1, 2]), np.array([1, 2], np.uint64)
    for array in (times, masks):
        array.flags.writeable = False
    assert detect(build(parse("A ; B")), group(times, masks)).pairs() == [(1, 2)]


def test_rows_of_no_primitive_change_nothing() -> None:
    program = build(parse("(A ; (B + C))_9 - D"), values=True)
    ticks = group([1, 2, 3, 4, 5], [1, 0, 2, 0, 4])
    assert detect(program, ticks).constituents() == [[0, 2, 4]]
