"""The event algebra through the public API: valid restrictions, however the events come."""

from __future__ import annotations

import pickle
import random
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cereus
from cereus.errors import CereusError, ConditionTypeError, DataError, RefusedError, UnknownNameError
from cereus.languages.algebra.executor import DetectingExecutor
from cereus.languages.algebra.query import AlgebraQuery
from cereus.languages.algebra.text import parse
from cereus.languages.algebra.tree import ANY_TYPE, EventExpression, Primitive, primitives
from cereus.reference import algebra as reference
from tests.languages.algebra.drawing import expression as draw_expression
from tests.languages.streams import Row, by_key, cuts, in_pieces, rows, satisfies, table

PRIMITIVES = tuple(
    parsed
    for parsed in map(parse, ("a", "b", "c", "a(v > 1)", "*(w = 'x')"))
    if isinstance(parsed, Primitive)
)
expressions = st.builds(
    lambda seed, size: draw_expression(random.Random(seed), size, PRIMITIVES),
    st.integers(0, 2**32),
    st.integers(1, 9),
)
streams = st.sampled_from(
    [
        cereus.Stream(),
        cereus.Stream(time="t"),
        cereus.Stream(keys="k"),
        cereus.Stream(time="t", keys="k"),
    ]
)


def compiled(text: str, **options: Any) -> cereus.Query:
    return cereus.compile(text, dialect="algebra", **options)


def interpretation(
    expression: EventExpression, found: list[Row], numbers: list[int], timed: bool
) -> dict[Primitive, frozenset[reference.Instance]]:
    """Of the instances of a primitive at one time the first; without times, positions."""
    streams: dict[Primitive, dict[int, reference.Instance]] = {}
    for position, number in enumerate(numbers):
        row = found[number]
        time = row["t"] if timed else position
        for each in primitives(expression):
            type_ = None if each.name == ANY_TYPE else each.name
            if satisfies(row, type_, each.condition):
                instance = reference.Instance(time, time, frozenset({number}))
                streams.setdefault(each, {}).setdefault(time, instance)
    return {each: frozenset(of.values()) for each, of in streams.items()}


def faults(
    expression: EventExpression, found: list[Row], stream: cereus.Stream, results: list[Row]
) -> list[str]:
    """Key by key: what keeps the results from being a valid restriction of the meaning."""
    wrong = []
    for numbers in by_key(found, bool(stream.keys)):
        full = reference.meaning(
            expression, interpretation(expression, found, numbers, stream.time is not None)
        )
        own = [r for r in results if not stream.keys or r["k"] == found[numbers[0]]["k"]]
        if own and "constituents" in own[0]:
            detected = [_instance(row) for row in own]
        else:
            full = frozenset(reference.Instance(e.start, e.end) for e in full)
            detected = [reference.Instance(row["start"], row["end"]) for row in own]
        assert len(detected) == len(set(detected))
        wrong += reference.restriction_faults(full, detected)
    return wrong


def _instance(row: Row) -> reference.Instance:
    return reference.Instance(row["start"], row["end"], frozenset(row["constituents"]))


def in_order(results: list[Row]) -> list[Row]:
    return sorted(results, key=lambda row: (str(row.get("k")), row["end"]))


@given(expressions, rows("abc", most=10), streams, st.booleans(), cuts)
def test_what_is_detected_is_a_valid_restriction(
    expression: EventExpression,
    found: list[Row],
    stream: cereus.Stream,
    values: bool,
    cut: list[int],
) -> None:
    query = compiled(str(expression), stream=stream, values=values, merge_ties=True)
    events = table(found)
    results = list(query.run(events))
    assert faults(expression, found, stream, results) == []
    assert in_order(in_pieces(query, events, cut)) == in_order(results)
    assert list(pickle.loads(pickle.dumps(query)).run(events)) == results


@given(expressions, rows("abc"), st.booleans())
def test_optimising_changes_no_interval(
    expression: EventExpression, found: list[Row], timed: bool
) -> None:
    stream = cereus.Stream(time="t" if timed else None)
    options: dict[str, Any] = {"stream": stream, "merge_ties": True}
    written = compiled(str(expression), optimise=False, **options)
    assert list(written.run(table(found))) == list(
        compiled(str(expression), **options).run(table(found))
    )


@given(expressions, rows("abc", most=20), streams, st.booleans())
def test_snapshots_never_exceed_the_bound(
    expression: EventExpression, found: list[Row], stream: cereus.Stream, values: bool
) -> None:
    query = compiled(str(expression), stream=stream, values=values, merge_ties=True)
    assert isinstance(query.compiled, AlgebraQuery)
    bounds = query.compiled.bounds
    events = table(found)
    executor = query.executor(events.schema)
    assert isinstance(executor, DetectingExecutor)
    for row in range(events.num_rows):
        for batch in events.slice(row, 1).to_batches():
            list(executor.push(batch))
        _, _, state = executor.detector.snapshot().partition(b"\n")
        assert len(state) <= executor.detector.keys * (bounds.state_bytes + bounds.waiting_bytes)
        known = executor.reader.substreams.index.values()
        values = sum(column.nbytes for column in known)
        limit = bounds.snapshot_bytes(len(executor.reader.substreams), key_columns=len(known))
        assert len(executor.save()) <= limit + values


@given(expressions, rows("abc", most=20), cuts)
def test_remembered_events_are_those_of_the_instances(
    expression: EventExpression, found: list[Row], cut: list[int]
) -> None:
    query = compiled(str(expression), stream=cereus.Stream(time="t"), values=True, merge_ties=True)
    recognizer = query.recognizer(keep_events=True, schema=table(found).schema)
    for at in range(0, len(found), 2):
        for matches in (recognizer.push(table(found[at : at + 2])),):
            for event in matches.events().to_pylist():
                assert {n: event[n] for n in found[0]} == found[event["position"]]


# ---------------------------------------------------------------- ticks


TWICE = pa.table({"type": ["a", "a", "b"], "t": [1, 1, 2]})


def test_a_primitive_twice_in_a_tick_is_refused_or_merged() -> None:
    stream = cereus.Stream(time="t")
    with pytest.raises(DataError, match="merge_ties=True"):
        compiled("a ; b", stream=stream).run(TWICE)
    merged = compiled("a ; b", stream=stream, merge_ties=True, values=True).run(TWICE)
    assert list(merged) == [{"start": 1, "end": 2, "constituents": [0, 2]}]


def test_a_tick_waits_until_it_is_over() -> None:
    query = compiled("a + b", stream=cereus.Stream(time="t"))
    recognizer = query.recognizer()
    assert not list(recognizer.push(pa.table({"type": ["a"], "t": [1]})))
    assert not list(recognizer.push(pa.table({"type": ["b"], "t": [1]})))
    assert list(recognizer.push(pa.table({"type": ["other"], "t": [2]}))) == [
        {"start": 1, "end": 1}
    ]
    assert not list(recognizer.push(pa.table({"type": ["a"], "t": [3]})))
    assert list(recognizer.advance(4)) == [{"start": 1, "end": 3}]
    assert not list(recognizer.push(pa.table({"type": ["b"], "t": [5]})))
    assert list(recognizer.finish()) == [{"start": 3, "end": 5}]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_durations_fit_the_unit_of_the_time_column(unit: str) -> None:
    begin = datetime(2026, 1, 1, tzinfo=UTC)
    times = pa.array([begin, begin + timedelta(seconds=5), begin + timedelta(seconds=11)])
    events = pa.table({"type": ["a", "a", "a"], "t": times.cast(pa.timestamp(unit, "UTC"))})
    found = compiled("(a ; a)_5s", stream=cereus.Stream(time="t")).run(events)
    assert found.table.column("start").to_pylist() == [begin]
    assert found.table.schema.field("end").type == pa.timestamp(unit, "UTC")


def test_a_numeric_time_column_needs_a_unit_for_durations() -> None:
    with pytest.raises(RefusedError, match=r"\^\^\^"):
        compiled("(a ; b)_1s", stream=cereus.Stream(time="t")).run(TWICE)
    options: dict[str, Any] = {"stream": cereus.Stream(time="t", unit="s"), "merge_ties": True}
    assert len(compiled("(a ; b)_1s", **options).run(TWICE)) == 1


def test_ticks_and_times_that_do_not_fit_are_refused() -> None:
    stream = cereus.Stream(time="t")
    stamps = pa.table({"type": ["a"], "t": pa.array([1], pa.timestamp("us"))})
    with pytest.raises(RefusedError, match="has no ticks"):
        compiled("(a)_2", stream=stream).run(stamps)
    with pytest.raises(DataError, match="counted"):
        compiled("a", stream=stream).run(pa.table({"type": ["a"], "t": [0.5]}))
    with pytest.raises(RefusedError, match="needs a time column"):
        compiled("(a)_2s")


# ---------------------------------------------------------------- errors and explanations


def test_an_unknown_column_is_pointed_at() -> None:
    with pytest.raises(UnknownNameError, match=r"\n +\^\n"):
        compiled("a ; b(z > 1)").run(TWICE)


def test_a_wrong_type_is_pointed_at_even_in_what_is_optimised_away() -> None:
    with pytest.raises(ConditionTypeError, match=r"\^\^\^"):
        compiled("a - (a | b(t > 'x'))").run(TWICE)


def test_an_instance_without_constituents_has_no_events() -> None:
    with pytest.raises(CereusError, match="values=True"):
        compiled("a ; b").run(TWICE).events()


def test_explain_says_bounds_before_and_after_and_the_laws() -> None:
    said = compiled("(a ; b) | (a ; c)").explain()
    assert "as written" in said and "optimised" in said and "law" in said
    assert "bytes of state per key" in compiled("a ; b", optimise=False).explain()
