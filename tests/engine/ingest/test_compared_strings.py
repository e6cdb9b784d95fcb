"""Strings that are compared between events are remembered as long as a partial match holds them."""

from __future__ import annotations

import pyarrow as pa

import cereus

QUERY = "SELECT * WHERE A AS a ; B AS b FILTER a.card = b.card WITHIN 10 EVENTS"


def test_an_endless_stream_of_new_strings_keeps_snapshots_flat() -> None:
    recognizer = cereus.compile(QUERY).recognizer()
    sizes = []
    for turn in range(40):
        cards = [f"card {turn * 50 + place // 2}" for place in range(100)]
        found = recognizer.push(pa.table({"type": ["A", "B"] * 50, "card": cards}))
        assert len(found) == 50
        sizes.append(len(recognizer.snapshot()))
    assert max(sizes[5:]) <= 1.2 * sizes[5]


def test_a_string_that_was_forgotten_is_not_taken_for_another() -> None:
    query = cereus.compile(QUERY)
    recognizer = query.recognizer()
    recognizer.push(pa.table({"type": ["A", "C"], "card": ["x", "y"]}))
    recognizer = query.restore(recognizer.snapshot())
    assert len(recognizer.push(pa.table({"type": ["B", "B"], "card": ["new", "x"]}))) == 1


def test_unsigned_numbers_past_63_bits_are_compared_as_they_are() -> None:
    table = pa.table({"type": ["A", "B"], "v": pa.array([2**63 - 1, 2**63 + 5], pa.uint64())})
    assert len(cereus.compile("SELECT * WHERE A AS a ; B AS b FILTER a.v < b.v").run(table)) == 1
