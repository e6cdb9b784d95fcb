"""Where one match of many is wanted, partial matches go that another outdoes: it is better, and its
values are easier to satisfy. What is found stays what the definition says."""

from __future__ import annotations

from random import Random

import pyarrow as pa
import pytest

import cereus
from cereus.errors import CereusError, DataError
from cereus.languages.ceql.text import parse
from tests.languages.ceql import strategies
from tests.languages.ceql.harness import ALWAYS, answer, assert_agrees, positions, rows, sizes
from tests.languages.ceql.pieces import TIMED, cut
from tests.volume import volume

LARGE = 2**62
NAN, INFINITE = float("nan"), float("inf")
SUMS = (
    "sum(a.x)", "sum(a.w)", "avg(a.x)", "avg(a.w)", "min(a.w)", "max(a.x)", "count(a.x)",
    "sum(a.w) * 2", "sum(a.w) / 0.5", "sum(a.x) + b.w", "sum(a.w) + sum(b.w)",
    "(count(a.x) + b.w) / count(a.x)", "sum(a.w) * count(b.x)", "a.w + b.w", "b.w + 1",
)  # fmt: skip
PATTERNS = (
    "{a} ; B AS b ; C AS c FILTER {held}",
    "{a} ; B{{1,2}} AS b ; C AS c FILTER {held}",
    "{way}({a} ; B AS b) ; C AS c FILTER {held}",
    "{way}({a} ; B AS b ; C AS c FILTER {held}) ; A",
    "B ; {way}({a} ; B AS b ; C AS c FILTER {held})",
    "{way}({a} ; B AS b) ALL C AS c FILTER {held}",
    "{way}(NEXT({a} ; B AS b) ; C AS c FILTER {held}) ; A",
)
REPEATED = ("A+ AS a", "A:+ AS a", "A AS a ; A AS a", "(A OR B)+ AS a")
WINDOWS = ("", "WITHIN 5 EVENTS", "WITHIN 4 seconds", "PARTITION BY k", "WITHIN 2 [t]")
REALS = (None, 0.0, -0.0, 1.0, 2.5, -1.0, NAN, INFINITE, -INFINITE, 1.7e308, -1e308)


def events(draw: Random, size: int) -> list[dict[str, object]]:
    made, time = [], 0
    reals = draw.choice(((0.0, 1.0, 2.5, None), REALS))
    for _ in range(size):
        time += draw.choice((0, 1, 1))
        made.append(
            dict.fromkeys(strategies.SCHEMA.names)
            | {"type": draw.choice("AABBC"), "t": time, "k": draw.choice((1, 1, 2))}
            | {"x": draw.choice((None, 0, 1, 2, -3)), "w": draw.choice(reals)}
        )
    return made


def condition(draw: Random) -> str:
    one = draw.choice(SUMS)
    other = draw.choice(("c.w", "c.x", "1", "2.5", "-1", "0"))
    first, second = (one, other) if draw.randrange(2) else (other, one)
    return f"{first} {draw.choice(('<', '<=', '>', '>='))} {second}"


@pytest.mark.parametrize("pattern", PATTERNS)
def test_totals_and_floats_are_outdone(pattern: str) -> None:
    for seed in range(volume(12, 120)):
        draw = Random(seed)
        held = " AND ".join(condition(draw) for _ in range(draw.choice((1, 1, 2))))
        way, a = draw.choice(("NEXT", "LAST", "MAX")), draw.choice(REPEATED)
        select = draw.choice(("", "LAST", "LAST", "NEXT", "ANY", "MAX"))
        text = (
            f"SELECT {select} * WHERE {pattern.format(a=a, held=held, way=way)} "
            f"{draw.choice(WINDOWS)} {draw.choice(('', '', 'LIMIT 1', 'LIMIT 2'))}"
        )
        if "a.w + b.w" in held:
            text = text.replace(a, "A AS a")
        query = cereus.compile(text, stream=TIMED, schema=strategies.SCHEMA)
        stream = events(draw, 9)
        chunk, sweep, order = (
            draw.choice((1, 1000)),
            draw.choice((1, 1000)),
            draw.choice((64, ALWAYS)),
        )
        with sizes(chunk=chunk, sweep=sweep, order=order):
            found = rows(cut(query, stream, draw), query.tree)
        try:
            assert_agrees(found, parse(text), TIMED, stream)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {text}\n{error}") from None


# ---------------------------------------------------------------- what grows, and what does not


def stream(types: str, **columns: list[object]) -> list[dict[str, object]]:
    return [
        {"type": name, "t": place} | {column: values[place] for column, values in columns.items()}
        for place, name in enumerate(types.split())
    ]


def test_a_fraction_does_not_grow_with_a_count_above_and_below_its_line() -> None:
    """With one A it is 6, with two 3.5."""
    text = "SELECT LAST * WHERE A AS a+ ; B AS b ; C FILTER (count(a) + sum(b.w)) / count(a) > 4"
    assert positions(text, stream("A A B C", w=[0.0, 0.0, 5.0, 0.0])) == [[1, 2, 3]]


def test_an_infinite_sum_times_no_values_is_no_number() -> None:
    """The sum of all As is infinite; that of the last two is not."""
    text = "SELECT LAST * WHERE A AS a+ ; B AS b+ ; C FILTER sum(a.w) * count(b.x) > -1"
    large = [1.7e308, 0.0, None, 1e308, None, 0.0]
    events = stream("A A B A B C", w=large, x=[0, 0, None, 0, None, 0])
    assert positions(text, events) == [[1, 3, 4, 5]]


def test_what_overflows_and_is_no_number_then_does_not_outdo_what_is_infinite() -> None:
    """a.w + b.w overflows for the second A. With it, the whole is not a number, with the first it
    is as small as -Infinity."""
    text = "SELECT LAST * WHERE A AS a ; B AS b ; C AS c ; D AS d FILTER a.w + b.w + c.w >= d.w"
    events = stream("A A B C D", w=[0.0, 1.7e308, 1e308, -INFINITE, -INFINITE])
    assert positions(text, events) == [[0, 2, 3, 4]]


def test_what_a_constant_makes_infinite_does_not_outdo_what_stays_finite() -> None:
    """1e308 times the number of As overflows for two. With the B, the whole is not a number then,
    and as small as -Infinity with one A."""
    text = "SELECT LAST * WHERE A AS a+ ; B AS b ; C AS c FILTER count(a) * 1e308 + b.w >= c.w"
    events = stream("A A B C", w=[0.0, 0.0, -INFINITE, -INFINITE])
    assert positions(text, events) == [[1, 2, 3]]


# ---------------------------------------------------------------- sums beyond 64 bits

TWO_SUMMED = "SELECT LAST * WHERE A AS a ; B AS a ; C FILTER sum(a.x) > 5"


def outdone_sums(first: int, second: int) -> pa.Table:
    """The sums that the first and the second A begin: with the B, that of the larger does not fit
    64 bits."""
    return strategies.table(
        [
            dict.fromkeys(strategies.SCHEMA.names) | event
            for event in stream("A A B C", x=[first, second, LARGE, 0])
        ]
    )


def test_a_sum_beyond_64_bits_is_an_error_where_a_smaller_one_was_left_out() -> None:
    query = cereus.compile(TWO_SUMMED, schema=strategies.SCHEMA)
    with pytest.raises(DataError, match="a sum of integers does not fit 64 bits"):
        query.run(outdone_sums(6, LARGE + 6))


def test_a_sum_beyond_64_bits_ends_a_recognizer() -> None:
    """It has read some of the events: what goes on from there would lose matches."""
    query, table = cereus.compile(TWO_SUMMED, schema=strategies.SCHEMA), outdone_sums(6, LARGE + 6)
    recognizer = query.recognizer()
    with pytest.raises(DataError, match="a sum of integers does not fit 64 bits"):
        recognizer.push(table)
    for each in (recognizer, query.restore(recognizer.snapshot())):
        with pytest.raises(CereusError, match="this recognizer is finished"):
            each.push(table)


def test_a_snapshot_says_whether_a_smaller_sum_was_left_out() -> None:
    query, table = (
        cereus.compile(TWO_SUMMED, schema=strategies.SCHEMA),
        outdone_sums(6, LARGE + 6),
    )
    recognizer = query.recognizer()
    recognizer.push(table[:2])
    recognizer = query.restore(recognizer.snapshot())
    with pytest.raises(DataError, match="a sum of integers does not fit 64 bits"):
        recognizer.push(table[2:])


def test_a_sum_beyond_64_bits_is_null_where_none_was_left_out() -> None:
    """The first A has the greater sum, but LAST prefers the second."""
    events = stream("A A B C", x=[LARGE + 6, 6, LARGE, 0])
    assert answer(TWO_SUMMED, events) == [(1, 3, [1, 2, 3])]


@pytest.mark.parametrize("fewer", ["count(a) > 0", "min(a.x) < 5", "sum(a.y) > 0"])
def test_a_sum_beyond_64_bits_is_null_where_others_were_left_out(fewer: str) -> None:
    """What was left out has another count, minimum, or sum of 32 bits: it would have the same sum
    of the Cs."""
    text = f"SELECT LAST * WHERE A AS a+ ; B ; C AS c ; C AS c FILTER {fewer} AND sum(c.x) > 5"
    schema = pa.schema([("type", pa.string()), ("x", pa.int64()), ("y", pa.int32())])
    rows = {"type": list("AABCC"), "y": [1, 2, 1, 1, 1]}
    query = cereus.compile(text, schema=schema)
    for last, matches in ((LARGE, 0), (6 - LARGE, 1)):
        table = pa.table(rows | {"x": [1, 0, 1, LARGE, last]}, schema=schema)
        assert len(query.run(table)) == matches


# ---------------------------------------------------------------- what it saves


@pytest.mark.parametrize(
    "text",
    [
        "SELECT LAST * WHERE A AS a ; B AS b ; C AS c FILTER a.w < c.w",
        "SELECT LAST * WHERE A AS a ; B AS b ; C AS c FILTER a.w + b.w < c.w",
        "SELECT LAST * WHERE A AS a ; B AS b ; C FILTER min(a.x) > 2000000",
        "SELECT LAST * WHERE A AS a ; B AS b ; C AS c FILTER avg(a.x) * 2 + b.w >= c.w",
        "SELECT * WHERE LAST(A AS a ; B AS b ; C AS c FILTER a.w < c.w)",
        "SELECT * WHERE A AS a ; B AS b ; C AS c FILTER a.w < c.w LIMIT 1",
    ],
)
def test_few_of_thousands_of_values_wait(text: str) -> None:
    """Each B reads all that wait: some dozens of 2,000 As."""
    draw = Random(1)
    types = ["A"] * 2_000 + ["B"] * 20
    values = [draw.randrange(1_000_000) for _ in types]
    table = pa.table({"type": types, "w": [float(value) for value in values], "x": values})
    query = cereus.compile(f"{text} WITHIN 100000 EVENTS")
    assert query.run(table).costs.steps < 2_000 + 20 * 200
