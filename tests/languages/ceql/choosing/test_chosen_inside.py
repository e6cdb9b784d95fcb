"""Strategies inside a pattern around parts whose events are compared, which the kernel chooses for:
against the definition, however the stream is cut."""

from __future__ import annotations

from collections import Counter
from random import Random

import pyarrow as pa
import pytest

import cereus
from cereus.automata.memory.chosen import MOST_NESTED
from cereus.engine.kernel import layout
from cereus.engine.match import table
from cereus.errors import LimitError
from cereus.languages.ceql.scope import bound
from cereus.languages.ceql.text import parse
from tests.languages.ceql import strategies
from tests.languages.ceql.harness import ALWAYS, assert_agrees, rows, sizes
from tests.languages.ceql.pieces import (
    TIMED,
    assert_agrees_in_pieces,
    cut,
    events,
)
from tests.volume import volume

FIRST = (
    "NEXT(A AS a ; B AS b FILTER a.x = b.x) ; A AS c",
    "LAST(A AS a ; B AS b FILTER a.x < b.x) ; A AS c",
    "ANY(A AS a ; B AS b FILTER a.w + b.x > 1) ; A",
    "NEXT(A AS a ; A AS b ; B AS c FILTER a.x = c.x) ; B",
    "LAST(A AS a ; A AS b ; B AS c FILTER a.x <= c.x AND b.w < c.x)",
    "NEXT(A+ AS a ; B AS b FILTER a.x <= b.x) ; A",
    "LAST(A+ AS a ; B AS b FILTER a.x <= b.x) ; A",
    "NEXT((A AS a ; B AS b FILTER a.x = b.x) OR B AS c) ; A AS d",
    "LAST((A AS a ; B AS b FILTER a.x = b.x) OR (A AS c ; B AS d FILTER c.w < d.x)) ; A",
    "NEXT(A AS a ; B+ AS b FILTER a.x = b.x)",
)
AFTER = (
    "A AS d ; NEXT(A AS a ; B AS b FILTER a.x = b.x) ; A AS c",
    "A+ ; LAST(A AS a ; B AS b FILTER a.x < b.x)",
    "B? ; NEXT(A AS a ; B AS b FILTER a.x = b.x) ; A",
    "B : A ; LAST(A AS a ; B AS b FILTER a.x = b.x) : A",
    "NOT(B) ; NEXT(A AS a ; B AS b FILTER a.x = b.x)",
    "(A AS d ; B AS e FILTER d.w < e.w) ; NEXT(A AS a ; B AS b FILTER a.x = b.x)",
    "(A AS d ; LAST(A AS a ; B AS b FILTER a.x = b.x) ; B AS e FILTER d.x < e.x)",
    "NEXT(A AS a ; B AS b FILTER a.x = b.x) ; LAST(A AS c ; B AS d FILTER c.x < d.x)",
    "NEXT(A AS a ; B AS b FILTER a.x = b.x) OR LAST(A AS c ; B AS d FILTER c.x < d.x)",
)
ROUNDS = (
    "(NEXT(A AS a ; B AS b FILTER a.x = b.x))+",
    "(LAST(A AS a ; B AS b FILTER a.x = b.x) ; A)+",
    "(NEXT(A AS a ; B AS b FILTER a.x = b.x)){1,2} ; A",
    "(NEXT(A AS a ; B AS b FILTER a.x = b.x) ; A) UNLESS (B ; B)",
)
AROUND = (
    "(NEXT(A AS a ; B AS b FILTER a.x = b.x) ; A AS c FILTER c.w > a.w)",
    "(LAST(A AS a ; B AS b FILTER a.x < b.x) ; A AS c FILTER c.w <= a.w AND c.x = b.x)",
    "(NEXT(A AS a ; A AS d ; B AS b FILTER a.x = b.x) ; A+ AS c FILTER c.x != d.x)",
    "(LAST(A+ AS a ; B AS b FILTER a.x <= b.x) ; A AS c FILTER c.w > a.w)",
    "(A AS d ; LAST(A AS a ; B AS b FILTER a.x = b.x) ; B AS c FILTER a.x + d.x > c.x)",
    "((NEXT(A AS a ; B AS b FILTER a.x = b.x) ; A AS c FILTER c.x < a.w) ; B AS d "
    "FILTER d.w > b.w)",
    "(NEXT(A AS a ; B AS b FILTER a.x = b.x) ; (A AS c OR B AS c) FILTER c.x = a.x)",
    "(NEXT(A AS a ; B AS b FILTER a.x = b.x) ; A AS c FILTER c.w > a.w)+",
    "(NEXT(A AS a ; B AS b FILTER a.x = b.x) ; A AS c FILTER abs(a.x - c.x) < 2)",
)
NESTED = (
    "NEXT(LAST(A AS a ; B AS b FILTER a.x = b.x) ; A AS c) ; B",
    "LAST(NEXT(A AS a ; B AS b FILTER a.x < b.x) ; A AS c)",
    "LAST(NEXT(A AS a ; A AS d ; B AS b FILTER a.x <= b.x) ; A+ AS c) ; B",
    "NEXT(A AS d ; LAST(A AS a ; B AS b FILTER a.x = b.x))",
    "LAST(A+ AS d ; NEXT(A+ AS a ; B AS b FILTER a.x <= b.x)) ; A",
    "NEXT(LAST(A+ AS a ; B AS b FILTER a.x <= b.x))",
    "LAST(NEXT(A AS a ; B+ AS b FILTER a.x = b.x) ; LAST(A AS c ; B AS d FILTER c.x < d.x))",
    "NEXT((LAST(A AS a ; B AS b FILTER a.x = b.x))+ ; A)",
    "(LAST(A ; NEXT(A AS a ; B AS b FILTER a.x <= b.x)))+",
    "LAST(NEXT(A AS a ; LAST(B AS b ; A AS c FILTER b.x < c.x) FILTER a.x >= 0) ; B) ; A",
    "NEXT(LAST(NEXT(LAST(A AS a ; B AS b FILTER a.x = b.x) ; A) ; A+) ; B)",
    "NEXT(LAST(A AS a ; B AS b FILTER a.x = b.x) ; A AS c FILTER c.w > a.w) ; B",
    "A AS e ; LAST((NEXT(A AS a ; B AS b FILTER a.x = b.x) OR A AS f) ; B AS c) ; A",
    "NEXT(MAX(A AS a ; B AS b FILTER a.x < b.x) ; LAST(A AS c ; B AS d FILTER c.x < d.x))",
    "LAST(NOT(B) ; NEXT(NOT(A) ; A AS a ; B AS b FILTER a.x <= b.x)) ; A",
    "NEXT(NOT(B) ; LAST(A AS a ; B AS b FILTER a.x <= b.x) ; A)",
    "LAST(NEXT((NOT(A) : B) OR (A AS a ; B AS b FILTER a.x <= b.x)) ; A)",
)
LARGEST = (
    "MAX(A AS a ; B+ AS b FILTER a.x < b.x) ; A AS c",
    "MAX(A+ AS a ; B AS b FILTER a.x <= b.x) ; A",
    "A AS d ; MAX(A+ AS a ; B+ AS b FILTER a.x < b.x)",
    "MAX((A AS a ; B AS b FILTER a.x = b.x) OR B AS c) ; A",
    "MAX(A AS a ; (B AS b)? ; A AS c FILTER a.x = c.x)",
    "MAX(A AS a ; B+ AS b ; A AS c FILTER b.x < c.x) ; B",
    "MAX(NOT(A) ; A AS a ; B+ AS b FILTER a.x != b.x)",
    "A ; MAX(A AS a ; B+ AS b FILTER a.x = b.x) ; A",
    "(MAX(A AS a ; B+ AS b FILTER a.x = b.x))+",
    "(MAX(A AS a ; B+ AS b FILTER a.x <= b.x) ; A AS c FILTER c.w > a.w)",
    "MAX(A+ AS a ; B AS b FILTER a.x < b.x) OR MAX(A AS c ; B+ AS d FILTER c.x = d.x)",
    "NEXT(MAX(A+ AS a ; B+ AS b FILTER a.x <= b.x) ; A) ; B",
    "MAX(NEXT(A AS a ; B AS b FILTER a.x <= b.x) ; A+ AS c)",
    "MAX(A+ ; LAST(A AS a ; B AS b FILTER a.x < b.x)) ; A",
    "MAX(MAX(A AS a ; B+ AS b FILTER a.x < b.x) ; A+ AS c)",
)
REFUSED = (
    "STRICT(NEXT(A AS a ; B AS b FILTER a.x = b.x) ; A AS c)",
    "STRICT(LAST(A AS a ; B AS b FILTER a.x < b.x) ; A+)",
    "STRICT(MAX(A AS a ; B+ AS b FILTER a.x < b.x)) ; A",
    "B : NEXT(A AS a ; B AS b FILTER a.x = b.x)",
    "A ; B : LAST(A AS a ; B AS b FILTER a.x <= b.x) : A",
    "B : MAX(A AS a ; B+ AS b FILTER a.x <= b.x)",
    "(NEXT(A AS a ; B AS b FILTER a.x = b.x)):+",
    "(LAST(A AS a ; A AS c ; B AS b FILTER a.x <= b.x) : A):+ ; B",
    "(MAX(A AS a ; B+ AS b FILTER a.x <= b.x)):{1,2}",
    "NEXT(A AS a ; B AS b FILTER a.x = b.x) AND (A AS a : B AS b)",
    "LAST(A AS a ; B AS b FILTER a.x < b.x) AND (A AS a ; B AS b FILTER a.w < b.w)",
    "(NEXT(A AS a ; A AS c ; B AS b FILTER a.x <= b.x) AND (A AS a ; (A AS c : B AS b))) ; A",
    "NEXT(A AS a ; B AS b FILTER a.x <= b.x) AND LAST(A AS a ; B AS b FILTER a.w < b.x)",
    "MAX(A AS a ; B+ AS b FILTER a.x < b.x) AND NEXT(A AS a ; B+ AS b FILTER a.x <= b.w)",
    "(A ; NEXT(A AS a ; B AS b FILTER a.x = b.x)) AND (A ; A AS a : B AS b)",
    "NEXT(LAST(A AS a ; B AS b FILTER a.x <= b.x) AND (A AS a : B AS b)) ; A",
    "NEXT(LAST(A AS a ; B AS b FILTER a.x <= b.x) ; A) AND (A AS a ; B AS b : A)",
    "LAST(NEXT(A AS a ; B AS b FILTER a.x <= b.x) ; A AS c) FILTER a.x > 1",
    "(NEXT(A AS a ; A AS c ; B AS b FILTER a.x <= b.x) FILTER c.w > a.w)",
    "(LAST(A+ AS a ; B AS b FILTER a.x <= b.x) ; A AS c FILTER a.w < b.x AND c.x = b.x)",
    "(MAX(A AS a ; B+ AS b FILTER a.x <= b.x) FILTER sum(b.x) > 2) ; A",
    "(NEXT(A AS a ; B AS b FILTER a.x = b.x) FILTER a.w > b.w OR a.x = 1)",
    "(NEXT(A AS a ; B AS b FILTER a.x <= b.x)) WITHIN 2 seconds ; A",
    "(LAST(A AS a ; A AS c ; B AS b FILTER a.x <= b.x)) WITHIN 3 EVENTS ; A",
    "(A ; MAX(A AS a ; B+ AS b FILTER a.x <= b.x)) WITHIN 3 seconds ; A",
    "START(NEXT(A AS a ; B AS b FILTER a.x <= b.x)) ; A",
    "A ; START(LAST(A AS a ; B AS b FILTER a.x = b.x))",
    "A ;[2 seconds] NEXT(A AS a ; B AS b FILTER a.x <= b.x)",
    "LAST(A AS a ; B AS b FILTER a.x <= b.x) ;[2 seconds] A",
    "(NEXT(A AS a ; B AS b FILTER a.x = b.x)){1,3}[2 seconds]",
    "(NEXT(A AS a ; A AS c ; B AS b FILTER a.x <= b.x)) WITHOUT (B AS n FILTER n.x > 1)",
    "(LAST(A AS a ; B AS b FILTER a.x <= b.x) ; A) WITHOUT (B AS n FILTER n.x > a.x)",
    "((NEXT(A AS a ; B AS b FILTER a.x <= b.x)) WITHOUT (A AS n FILTER n.x > b.x)) ; A",
)
"""What stands around the strategy refuses matches before one is chosen."""
BESIDE = (
    "NEXT(A AS a ; B AS b FILTER a.x = b.x) ALL C AS c",
    "NEXT(A AS a ; A AS d ; B AS b FILTER a.x <= b.x) ALL (A AS c ; A)",
    "LAST(A AS a ; B AS b FILTER a.x <= b.x) ALL B AS c",
    "LAST(A AS a ; A AS d ; B AS b FILTER a.x <= b.x) ALL C+",
    "MAX(A AS a ; B+ AS b FILTER a.x <= b.x) ALL B AS c",
    "A : (NEXT(A AS a ; A AS d ; B AS b FILTER a.x <= b.x) ALL B AS c)",
    "A ; (LAST(A AS a ; A AS d ; B AS b FILTER a.x <= b.x) ALL B AS c) ; A",
    "NEXT(A AS a ; B AS b FILTER a.x <= b.x) ALL LAST(A AS c ; B AS d FILTER c.x < d.x)",
    "NEXT(A AS a ; B AS b FILTER a.x <= b.x) ALL NEXT(A AS a ; B AS b FILTER a.x <= b.x)",
    "(NEXT(A AS a ; B AS b FILTER a.x <= b.x) ALL B AS c FILTER c.x < a.w)",
    "(LAST(A AS a ; A AS d ; B AS b FILTER a.x <= b.x) ALL A AS c FILTER c.x < d.x)",
    "(NEXT(A AS a ; B AS b FILTER a.x <= b.x) ; C) ALL A AS c",
    "(C ; LAST(A AS a ; B AS b FILTER a.x <= b.x)) ALL A AS c",
    "LAST(NEXT(A AS a ; B AS b FILTER a.x <= b.x) ALL A AS c)",
    "LAST(NEXT(A AS a ; B AS b FILTER a.x <= b.x) ; B) ALL A AS c",
    "NEXT(A AS a ; B AS b FILTER a.x <= b.x) ALL START(A AS c)",
    "LAST(A AS a ; B AS b FILTER a.x <= b.x) ALL (A AS c)?",
    "STRICT(NEXT(A AS a ; A AS d ; B AS b FILTER a.x <= b.x) ALL B AS c)",
    "(NEXT(A AS a ; B AS b FILTER a.x = b.x) ALL A AS c) AND (A AS a : A AS c ; B AS b)",
    "(LAST(A AS a ; B AS b FILTER a.x = b.x) ALL A AS c)+",
    "(LAST(A AS a ; B AS b FILTER a.x = b.x) AS n) ALL A AS c ALL B AS d",
    "NEXT((A AS a ; B AS b FILTER a.x <= b.x) UNLESS (A ; A)) ALL A AS c",
    "LAST(NOT(B) ; A AS a ; B AS b FILTER a.x <= b.x) ALL A AS c",
)
"""Others mark events while the strategy's part does."""
PROJECTED = (
    "PROJECT[a, b](NEXT(A AS a ; B AS b FILTER a.x = b.x) ; A AS c)",
    "PROJECT[a, b](A ; LAST(A AS a ; B AS b FILTER a.x <= b.x))",
    "PROJECT[A, b](B ; NEXT(A AS a ; B AS b FILTER a.x <= b.x) ; A)",
    "PROJECT[a, b](LAST(A AS a ; B AS b FILTER a.x <= b.x) ALL A AS c)",
    "PROJECT[a, b](B : MAX(A AS a ; B+ AS b FILTER a.x <= b.x)) ; A",
)
"""Events beside those that the strategy chooses from are projected away."""
CLAUSES = (
    "",
    "",
    "WITHIN 4 EVENTS",
    "WITHIN 3 seconds",
    "WITHIN 3 seconds CONSUME BY ANY",
    "PARTITION BY x WITHIN 4 seconds",
    "LIMIT 1",
    "WITHIN 4 seconds LIMIT 2",
)


PATTERNS = (*FIRST, *AFTER, *ROUNDS, *AROUND, *NESTED, *LARGEST, *REFUSED, *BESIDE, *PROJECTED)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_kernel_chooses_what_the_definition_chooses(pattern: str) -> None:
    visible = bound(parse(f"SELECT * WHERE {pattern}").formula)
    for seed in range(volume(1, 20)):
        draw = Random(seed)
        top = draw.choice(("*", "*", "*", "NEXT *", "LAST *", "MAX *", "b", "a, b"))
        names = top if "*" in top or visible.issuperset(top.split(", ")) else "*"
        text = f"SELECT {names} WHERE {pattern} {draw.choice(CLAUSES)}"
        query = cereus.compile(text, stream=TIMED, schema=strategies.SCHEMA)
        assert not any("this is slow" in warning for warning in query.warnings)
        assert_agrees_in_pieces(query, draw, seed)


STRATEGIES = ("NEXT", "LAST", "MAX", "ANY")
BODIES = (
    "A AS a ; B AS b FILTER a.x {op} b.x",
    "A AS a ; A AS c ; B AS b FILTER a.x {op} b.x",
    "A+ AS a ; B AS b FILTER a.x {op} b.x",
    "A AS a ; B+ AS b FILTER a.x {op} b.x",
    "(A AS a ; B AS b FILTER a.x {op} b.x) OR B AS b",
    "A AS a ; B AS b ; A AS c FILTER a.w + c.x > b.x",
    "NOT(B) ; A AS a ; B AS b FILTER a.x {op} b.x",
    "A AS a ; (B AS b)? ; A AS c FILTER a.x {op} c.x",
)
SURROUNDINGS = (
    "STRICT({part} ; A)",
    "B : {part}",
    "A : {part} ; A",
    "({part}):+",
    "({part} : A):+",
    "({part}):{{1,2}}",
    "({part}) AND (A AS a : B AS b)",
    "({part}) AND ({part})",
    "(A ; {part}) AND (A : A AS a : B AS b)",
    "({part} FILTER a.w < b.w)",
    "({part} ; A AS z FILTER a.w < b.w AND z.x = b.x)",
    "({part} FILTER sum(b.x) > 2)",
    "({part} FILTER a.w > b.w OR a.x = 1)",
    "({part}) WITHIN 2 seconds ; A",
    "({part} ; A) WITHIN 4 EVENTS",
    "A ; START({part}) ; B",
    "A ;[2 seconds] {part}",
    "{part} ;[2 seconds] A",
    "({part}){{1,3}}[2 seconds]",
    "({part}) WITHOUT (B AS n FILTER n.x > 1)",
    "({part}) WITHOUT (A AS n FILTER n.x > b.x)",
    "({part}) UNLESS (B ; B)",
    "({part} OR A AS a) ; B",
    "{part} ALL C AS y",
    "{part} ALL (A AS y ; B)",
    "({part} ; A) ALL B AS y",
    "(C ; {part}) ALL A AS y",
    "({part}) ALL ({part})",
    "({part} ALL A AS y FILTER y.x < b.x)",
    "A : ({part} ALL (B AS y)?)",
    "PROJECT[a, b, c](A ; {part} ; B)",
)
ONCE = tuple(around for around in SURROUNDINGS if around.count("{part}") == 1)
"""Four strategies beside each other have millions of matches in a stream of nine events."""


def _surrounded(draw: Random) -> str:
    """A strategy with some operators around it, one of which may be a strategy."""
    body = draw.choice(BODIES).format(op=draw.choice(("=", "<", "<=", "!=")))
    pattern = f"{draw.choice(STRATEGIES)}({body})"
    for _ in range(draw.choice((1, 1, 2))):
        beside = pattern.count(body) > 1
        pattern = draw.choice(ONCE if beside else SURROUNDINGS).format(part=pattern)
        if draw.random() < 0.3:
            pattern = f"{draw.choice(STRATEGIES)}({pattern})"
    return pattern


def test_the_kernel_chooses_whatever_stands_around() -> None:
    chosen = 0
    for seed in range(volume(27, 400)):
        draw = Random(seed)
        top = draw.choice(("*", "*", "*", "NEXT *", "LAST *", "MAX *", "STRICT *", "b"))
        text = f"SELECT {top} WHERE {_surrounded(draw)} {draw.choice(CLAUSES)}"
        try:
            query = cereus.compile(text, stream=TIMED, schema=strategies.SCHEMA)
        except cereus.CereusError:
            continue  # `b` need not be there
        if any("this is slow" in warning for warning in query.warnings):
            continue
        chosen += 1
        stream = events(draw)
        order = draw.choice((ALWAYS, 100))
        with sizes(chunk=draw.choice((1, 1000)), sweep=draw.choice((1, 1000)), order=order):
            found = rows(cut(query, stream, draw), query.tree)
        try:
            assert_agrees(found, parse(text), TIMED, stream)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {text}\n{error}") from None
    assert chosen > volume(27, 400) * 2 // 3


@pytest.mark.parametrize("pattern", [each for each in PATTERNS[::3] if each not in PROJECTED])
def test_what_is_chosen_is_counted(pattern: str) -> None:
    for seed in range(volume(1, 20)):
        draw = Random(seed)
        rest = f"WHERE {pattern} {draw.choice(('', 'WITHIN 3 seconds', 'WITHIN 4 EVENTS'))}"
        listing = cereus.compile(f"SELECT * {rest}", stream=TIMED, schema=strategies.SCHEMA)
        counting = cereus.compile(f"SELECT COUNT(*) {rest}", stream=TIMED, schema=strategies.SCHEMA)
        assert not any("this is slow" in warning for warning in counting.warnings)
        stream = events(draw)
        ends = Counter(match["end"] for match in listing.run(strategies.table(stream)))
        with sizes(chunk=draw.choice((1, 1000)), sweep=1, order=ALWAYS):
            found = cut(counting, stream, draw)
        assert {row["end"]: row["count"] for row in found} == ends


def test_explain_shows_variables_only_and_says_that_counts_are_distinct() -> None:
    pattern = "NEXT(A AS a ; B AS b FILTER a.x <= b.x) ALL A AS a WITHIN 9 seconds"
    text = cereus.compile(f"SELECT * WHERE {pattern}", stream=TIMED).explain(strategies.SCHEMA)
    assert "marks A, a" in text and "∈" not in text
    counted = cereus.compile(f"SELECT COUNT(*) WHERE {pattern}", stream=TIMED)
    assert "COUNT(*) is refused" not in counted.explain(strategies.SCHEMA)


def test_totals_over_what_is_chosen() -> None:
    pattern = "WHERE NEXT(A AS a ; B AS b FILTER a.x <= b.x) ; A AS c WITHIN 4 seconds"
    listing = cereus.compile(f"SELECT * {pattern} RETURN b.x AS x", stream=TIMED)
    counting = cereus.compile(
        f"SELECT COUNT(*), SUM(b.x), MIN(b.x), AVG(b.x) {pattern}",
        stream=TIMED,
        schema=strategies.SCHEMA,
    )
    for seed in range(volume(4, 40)):
        draw = Random(seed)
        stream = events(draw, 12)
        values: dict[int, list[int]] = {}
        for match in listing.run(strategies.table(stream)):
            values.setdefault(match["end"], []).append(match["x"])
        with sizes(chunk=draw.choice((1, 1000)), sweep=1, order=ALWAYS):
            found = cut(counting, stream, draw)
        totals = {
            row["end"]: (row["count"], row["sum(b.x)"], row["min(b.x)"], row["avg(b.x)"])
            for row in found
        }
        assert totals == {
            end: (len(every), sum(every), min(every), pytest.approx(sum(every) / len(every)))
            for end, every in values.items()
        }


def test_runs_that_something_refuses_do_not_outlive_the_window() -> None:
    """Their rivals do: one for each value, not for each pair of values."""
    stream = pa.table(
        {"type": ["A", "B"] * 1000, "t": range(2000), "x": [n % 5 for n in range(2000)],
         "w": [float(n) for n in range(2000)]}
    )  # fmt: skip
    text = (
        "SELECT * WHERE (NEXT(A AS a ; B AS b FILTER a.x = b.x) FILTER a.w < b.w) WITHIN 9 seconds"
    )
    recognizer = cereus.compile(text, stream=TIMED).recognizer(schema=stream.schema)
    saved = []
    for begin in range(0, 2000, 500):
        recognizer.push(stream[begin : begin + 500])
        saved.append(len(recognizer.snapshot()))
    assert saved[1] == saved[-1]


def test_the_kernel_has_room_for_all_strategies_that_may_stand_inside_each_other() -> None:
    assert layout.SCOPES == MOST_NESTED + 1


@pytest.mark.parametrize(
    "pattern",
    [
        "NEXT(A AS a ; B AS b FILTER a.x < b.x) ; A AS c",
        "NEXT(LAST(A AS a ; B AS b FILTER a.x < b.x) ; A AS c)",
    ],
)
def test_what_left_the_window_takes_no_steps(pattern: str) -> None:
    """Better matches outlive the window, but not those that are worse and harder to complete."""
    draw = Random(7)
    stream = pa.table(
        {"type": ["A", "A", "A", "B"] * 500, "t": range(2000), "x": draw.sample(range(9999), 2000)}
    )
    text = f"SELECT * WHERE {pattern} WITHIN 5 seconds"
    limits = cereus.Limits(steps_per_event=60)
    query = cereus.compile(text, stream=TIMED, schema=stream.schema, limits=limits)
    assert query.run(stream).shed == ()


def test_max_follows_one_match_for_each_first_event() -> None:
    """Of the events behind a first one all are taken, however many sets of them there are."""
    stream = pa.table({"type": ["A", "B", "B"] * 300, "t": range(900), "x": range(900)})
    for text in (
        "SELECT MAX * WHERE A AS a ; B+ AS b FILTER a.x < b.x WITHIN 30 seconds",
        "SELECT * WHERE MAX(A AS a ; B+ AS b FILTER a.x < b.x) ; A AS c WITHIN 30 seconds",
    ):
        limits = cereus.Limits(steps_per_event=60)
        query = cereus.compile(text, stream=TIMED, schema=stream.schema, limits=limits)
        assert not query.warnings
        matches = query.run(stream)
        assert matches.shed == ()
        firsts = [(match["start"], match["end"]) for match in matches]
        assert len(firsts) > 2000
        assert text.startswith("SELECT *") or len(set(firsts)) == len(firsts)


def test_a_limit_stops_strategies_whose_runs_pile_up() -> None:
    stream = pa.table({"type": ["A", "B"] * 200, "t": range(400), "x": range(400)})
    text = "SELECT * WHERE PROJECT[b](NEXT(A AS a ; B AS b FILTER a.x < b.x)) WITHIN 5 seconds"
    limits = cereus.Limits(steps_per_event=100)
    query = cereus.compile(text, stream=TIMED, schema=stream.schema, limits=limits)
    assert any("this is slow" in warning for warning in query.warnings)
    with pytest.raises(LimitError, match=r"steps_per_event=…"):
        query.run(stream)


def test_runs_that_pile_up_are_stopped_by_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "MOST_RUNS", 100)
    stream = pa.table({"type": ["A", "B"] * 200, "t": range(400), "x": range(400)})
    text = "SELECT * WHERE PROJECT[b](NEXT(A AS a ; B AS b FILTER a.x < b.x)) WITHIN 5 seconds"
    with pytest.raises(LimitError, match=r"more than 100 runs and values"):
        cereus.compile(text, stream=TIMED, schema=stream.schema).run(stream)


def test_events_are_forgotten_that_only_better_matches_out_of_the_window_have() -> None:
    text = "SELECT * WHERE NEXT(A AS a ; B AS b FILTER a.x = b.x) ; A AS c WITHIN 5 seconds"
    schema = pa.schema([("type", pa.string()), ("t", pa.int64()), ("x", pa.int64())])
    recognizer = cereus.compile(text, stream=TIMED).recognizer(schema=schema)
    sizes_of_state = []
    for begin in range(0, 4000, 1000):
        times = range(begin, begin + 1000)
        columns = [["A", "B"] * 500, list(times), [time % 7 for time in times]]
        recognizer.push(pa.table(columns, schema=schema))
        sizes_of_state.append(len(recognizer.snapshot()))
    assert len(set(sizes_of_state)) == 1


@pytest.mark.parametrize("clauses", ["WITHIN 5 seconds", "PARTITION BY x WITHIN 5 seconds"])
def test_a_snapshot_before_the_first_event_that_matters(clauses: str) -> None:
    text = f"SELECT * WHERE NEXT(A AS a ; B AS b FILTER a.w = b.w) {clauses}"
    query = cereus.compile(text, stream=TIMED)
    recognizer = query.recognizer(schema=strategies.SCHEMA)
    stream = [
        dict.fromkeys(strategies.SCHEMA.names) | {"type": name, "t": t, "x": 1, "w": 1.0}
        for t, name in enumerate("CAB")
    ]
    assert not list(recognizer.push(strategies.table(stream[:1])))
    recognizer = query.restore(recognizer.snapshot())
    assert [row["positions"] for row in recognizer.push(strategies.table(stream[1:]))] == [[1, 2]]


@pytest.mark.parametrize("rows", [1, 2, 5])
def test_a_snapshot_whose_keys_have_windows_of_their_own(rows: int) -> None:
    """A key that comes later begins below the floor of one whose events are forgotten."""
    text = """SELECT * WHERE NEXT(* UNTIL ((C AS c) OR (A AS b)) ; A FILTER first(A.x) <= A.x)
        PARTITION BY k WITHIN 1 EVENTS"""
    query = cereus.compile(text, stream=TIMED)
    values = [
        ("D", 0, 2, 0.5, None, None),
        ("B", 1, 1, 1.5, "a", None),
        ("A", 2, None, 2.5, "a", 1),
        ("B", 2, 0, 3.5, "a", 2),
        ("A", 3, None, 4.5, None, None),
        ("A", 4, 2, 5.0, "u", None),
    ]
    events = [dict(zip(("type", "t", "x", "w", "s", "k"), row, strict=True)) for row in values]
    recognizer = query.recognizer(schema=strategies.SCHEMA)
    emitted = []
    for at in range(0, len(events), rows):
        emitted += [*recognizer.push(strategies.table(events[at : at + rows]))]
        recognizer = query.restore(recognizer.snapshot())
    emitted += [*recognizer.finish()]
    assert emitted == [*query.run(strategies.table(events))]
