"""What queries ask, in plain English; every language."""

from __future__ import annotations

import pytest

import cereus
from cereus import Stream

from .test_golden import CASES

WORDS = [
    (
        "ceql",
        "SELECT * WHERE A AS a FILTER a[NOT x > 3] AND a[NOT y IN (1, 2)] AND a[NOT n LIKE 'b%']",
        "An A (a) whose x is not above 3 and whose y is neither 1 nor 2 and whose n is not like"
        " 'b%'.",
    ),
    (
        "ceql",
        "SELECT * WHERE (A OR B) AS a ; C? AS c ; (D ; D) AS d AFTER MATCH SKIP PAST LAST EVENT",
        "Either an A or a B (a), then optionally a C (c), then a D, then a D (together d), and"
        " after a match the next one begins after its last event.",
    ),
    (
        "ceql",
        "SELECT * WHERE A ; (B ; C) UNLESS X",
        "An A, then a B, then a C, with no X meanwhile.",
    ),
    (
        "ceql",
        "SELECT * WHERE A ; ((B ; C) UNLESS X)",
        "An A, then (a B, then a C, with no X meanwhile).",
    ),
    (
        "ceql",
        "SELECT * WHERE (A AS a ; B) WITHOUT (X FILTER X.y = a.y)",
        "An A (a), then a B, with no X in between where the y of X is the y of a.",
    ),
    (
        "ceql",
        "SELECT * WHERE (A OR B)+ ; (C ; D){2} RETURN count(C) AS n, first(C.x)",
        "One or more times (either an A or a B), then two times (a C, then a D), reporting"
        " count(C) as n and first(C.x).",
    ),
    ("algebra", "A ; (B ; C)_10", "An A, then (a B, then a C) within 10 ticks."),
    ("algebra", "(A ; (B ; C))_10", "An A, then a B, then a C, all within 10 ticks."),
    ("ceql", "SELECT * WHERE A LIMIT 1", "An A, with at most one match for each last event."),
    (
        "sremo",
        "{A:} . !(skip* . skip{B: x > 3} . skip*) . {C:}",
        "An A, then any events with no B whose x is above 3 among them, then a C.",
    ),
    (
        "sremo",
        "next({A: x > 1} -> r, {B: x = r.x}, {C:} | {D:})",
        "An A (r) whose x is above 1, then the next B whose x is the x of r, then the next that is"
        " either a C or a D.",
    ),
    (
        "ceql",
        "SELECT * WHERE (A ; B) UNLESS (C ; D)",
        "An A, then a B, with no (a C, then a D) meanwhile.",
    ),
    (
        "match_recognize",
        "MATCH_RECOGNIZE (ORDER BY t DESC MEASURES a.x AS x PATTERN (^ a b+ $)"
        " DEFINE b AS x > PREV(x) AND x < FIRST(a.x))",
        "In rows that follow one another, from the very first row on, one A, then one or more B,"
        " up to the very last row, where A is any row, and B is a row whose x is above the x of the"
        " row before and whose x is below the x of the first A, in the order of t, the largest"
        " first. Emit one"
        " row for each match, with A.x as x, and go on after the match.",
    ),
    (
        "par",
        "A | B",
        "At the same time (wait for an A) and (wait for a B), until one of them succeeds.",
    ),
    (
        "ceql",
        "SELECT * WHERE SELL AS s ; BUY+ AS b FILTER s[volume >= 2000] PARTITION BY name"
        " WITHIN 10 seconds",
        "A SELL (s) whose volume is at least 2,000, then one or more BUYs (b), all of the same"
        " name, all within 10 seconds.",
    ),
    (
        "ceql",
        "SELECT * WHERE SELL AS s : BUY:+ AS b UNLESS HALT FILTER s.price < b.price",
        "A SELL (s), directly followed by one or more BUYs (b) without a gap, with no HALT"
        " meanwhile, where the price of s is below the price of b.",
    ),
    ("ceql", "SELECT * WHERE A{2,5} ; B?", "Two to five As, then optionally a B."),
    (
        "sremo",
        "any({SELL: volume > 4000} -> a, {BUY: price > a.price}) WITHIN 1 hour",
        "A SELL (a) whose volume is above 4,000, then a BUY whose price is above the price of a"
        " (with any events between), all within 1 hour.",
    ),
    (
        "sase",
        "PATTERN SEQ(SELL s, ~HALT h, BUY+ b[]) WHERE [name] AND s.volume > 10"
        " AND b[i].price > b[i-1].price WITHIN 10 minutes",
        "A SELL (s) whose volume is above 10, then no HALT (h), then one or more BUYs (b), where"
        " the price of each b is above the price of the b before, all of the same name, each time"
        " taking the next event that fits, all within 10 minutes.",
    ),
    (
        "algebra",
        "((SELL(price > 3) ; BUY)_{10s} - HALT)",
        "A SELL whose price is above 3, then a BUY, all within 10 seconds, without a HALT"
        " meanwhile.",
    ),
    (
        "par",
        "repeat (SELL ; BUY(price IN (1, 2))[sold])",
        "Again and again: wait for a SELL, then wait for a BUY whose price is 1 or 2, and at its"
        " end emit sold.",
    ),
    (
        "ceql",
        "SELECT * WHERE A NOT FOLLOWED BY (B OR (C FILTER C[x > 1])) WITHIN 1 minute",
        "An A, not followed by any B or C where the x of C is above 1 within 1 minute.",
    ),
    ("ceql", "SELECT * WHERE A ALL B ALL C", "An A, a B and a C, in any order."),
    ("ceql", "SELECT * WHERE A ; (B OR C OR D)", "An A, then either a B, a C or a D."),
    (
        "ceql",
        "SELECT * WHERE A ;[5 seconds..1 minute] B",
        "An A, then, 5 seconds to 1 minute later, a B.",
    ),
    ("algebra", "A + B + (C | D | E)", "An A, a B and (either a C, a D or an E), in any order."),
    (
        "sremo",
        "{A:} . skip* . {B:}+ . {C: x > 1}*",
        "An A, then any number of other events, then one or more Bs in a row, directly followed by"
        " any number of Cs in a row whose x is above 1.",
    ),
    (
        "par",
        "try A ; B[done] unless C",
        "Wait for an A, then wait for a B, and at its end emit done; give up if a C comes before"
        " that.",
    ),
    (
        "match_recognize",
        "MATCH_RECOGNIZE (ORDER BY t MEASURES a.x AS x PATTERN (a{,3} b c) SUBSET u = (a, b)"
        " DEFINE b AS x > NEXT(x, 2), c AS sum(c.x) < avg(u.x))",
        "In rows that follow one another, up to three A, then one B, then one C, where A is any"
        " row,"
        " and B is a row whose x is above the x of the row two behind, and C is a row such that"
        " the total x of C"
        " is below the average x of U, and U is A or B, in the order of t."
        " Emit one row for each match, with A.x as x, and go on after the match.",
    ),
    (
        "algebra",
        "A(x > 1 AND y = 2) + B",
        "(An A whose x is above 1 and whose y is 2) and a B, in any order.",
    ),
    (
        "match_recognize",
        "MATCH_RECOGNIZE (PARTITION BY name ORDER BY time MEASURES a.price AS p PATTERN (a b+?)"
        " DEFINE b AS price > a.price)",
        "In rows that follow one another, one A, then one or more B (as few as possible), where A"
        " is any row, and B is a row whose price is above the price of A, in the order of time,"
        " all of the"
        " same name. Emit one row for each match, with A.price as p, and go on after the"
        " match.",
    ),
    (
        "ceql",
        "SELECT * WHERE A:+ AS a ; B AS b FILTER a[x > 3 OR y IS NULL] AND b[ok] AND b[NOT late]",
        "One or more As (a), each such that either its x is above 3 or its y is missing, without a"
        " gap, then a B (b) whose ok is true and whose late is false.",
    ),
    (
        "ceql",
        "SELECT * WHERE A{2,5}[3 seconds] ; (B ; C){2}[1 minute]",
        "Two to five As, at most 3 seconds from one to the next, then two times, at most 1 minute"
        " from one to the next, (a B, then a C).",
    ),
    (
        "ceql",
        "SELECT COUNT(*), SUM(a.x), MAX(b.y) WHERE A AS a ; B AS b FILTER a[t < DATE '2025-01-01']",
        "An A (a) whose t is before 2025-01-01 00:00:00, then a B (b), counted, not listed, with"
        " the sum of the x of a and the largest of the y of b over all matches.",
    ),
    (
        "ceql",
        "SELECT NEXT * WHERE START(A) ; PROJECT[b](B AS b ; C)",
        "Beginning with the very first event, an A, then (a B (b), then a C) (keeping only b), for"
        " each last event only the match with the earliest events.",
    ),
    (
        "ceql",
        "SELECT * WHERE (A OR B) AND (A ; B)",
        "(Either an A or a B) that is also (an A, then a B).",
    ),
    (
        "match_recognize",
        "MATCH_RECOGNIZE (ORDER BY t MEASURES 1 AS n PATTERN (a{3} b? | c*))",
        "In rows that follow one another, either (three A, then an optional B) or any number of C,"
        " where A is any row, and B is any row, and C is any row, in the order of t."
        " Emit one row for each match, with 1 as n, and go on after the match.",
    ),
    (
        "match_recognize",
        "MATCH_RECOGNIZE (ORDER BY t MEASURES 1 AS n PATTERN (PERMUTE(a, b c)) DEFINE a AS x = 1)",
        "In rows that follow one another, one A and (one B, then one C), in any order, where A is a"
        " row whose x is 1, and B is any row, and C is any row, in the order of t."
        " Emit one row for each match, with 1 as n, and go on after the match.",
    ),
]


@pytest.mark.parametrize(("dialect", "text", "words"), WORDS)
def test_the_words_of_a_query(dialect: str, text: str, words: str) -> None:
    assert cereus.compile(text, dialect=dialect, stream=Stream(time="time")).words() == words


@pytest.mark.parametrize("name", CASES)
def test_every_query_has_words(name: str) -> None:
    case = CASES[name]
    query = cereus.compile(case.text, dialect=case.dialect, stream=case.stream, **case.options)
    words = query.words()
    assert words.endswith(".")
    assert "ex." not in words and "object at" not in words
