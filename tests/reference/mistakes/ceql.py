"""Mistakes in CEQL."""

from __future__ import annotations

from datetime import timedelta

import cereus
from tests.reference.mistakes.model import Mistake

NUMBERED = cereus.Stream(time="volume")
MISTAKES = [
    # the text
    Mistake("", "SELECT * WHERE SELL ; BUY"),
    Mistake("SELL ; BUY", "SELECT * WHERE SELL ; BUY"),
    Mistake("SELECT * form S WHERE A", "SELECT * FROM S WHERE A"),
    Mistake("SELECT * FROM S A ; B", "SELECT * FROM S WHERE A ; B"),
    Mistake("SELECT * WHERE (A ; B", "SELECT * WHERE (A ; B)"),
    Mistake("SELECT * WHERE A ; B)", "SELECT * WHERE A ; B"),
    Mistake(
        "SELECT * WHERE A AS a FILTER a[name = 'x]", "SELECT * WHERE A AS a FILTER a[name = 'x']"
    ),
    Mistake("SELECT * WHERE A FOLLOWS B", "SELECT * WHERE A ; B"),
    Mistake("SELECT a.price WHERE A AS a", "SELECT a WHERE A AS a RETURN a.price"),
    Mistake("SELECT NXT * WHERE A", "SELECT NEXT * WHERE A"),
    Mistake("SELECT sum(*) WHERE A", "SELECT COUNT(*) WHERE A"),
    Mistake("SELECT median(A.price) WHERE A", "SELECT AVG(A.price) WHERE A"),
    Mistake("SELECT * WHERE price > 5", "SELECT * WHERE A FILTER A[price > 5]"),
    Mistake(
        "SELECT * WHERE A AS a ; B AS b FILTER b[price = a.price]",
        "SELECT * WHERE A AS a ; B AS b FILTER b.price = a.price",
    ),
    # clauses
    Mistake("SELECT * WHERE A ; B WITHIN 5", "SELECT * WHERE A ; B WITHIN 5 seconds"),
    Mistake("SELECT * WHERE A ; B WITHIN 1 month", "SELECT * WHERE A ; B WITHIN 30 days"),
    Mistake("SELECT * WHERE A ; B WITHIN 1.5 EVENTS", "SELECT * WHERE A ; B WITHIN 2 EVENTS"),
    Mistake(
        "SELECT * WHERE A ; B WITHIN 5 minutes WITHIN 3 EVENTS",
        "SELECT * WHERE A ; B WITHIN 5 minutes",
    ),
    Mistake("SELECT * WHERE A LIMIT 1.5", "SELECT * WHERE A LIMIT 1"),
    Mistake("SELECT * WHERE A CONSUME BY SOME", "SELECT * WHERE A CONSUME BY ANY"),
    Mistake(
        "SELECT * WHERE A ; B AFTER MATCH SKIP TO FIRST EVENT",
        "SELECT * WHERE A ; B AFTER MATCH SKIP TO NEXT EVENT",
    ),
    Mistake(
        "SELECT * WHERE A ; B WITHIN 5 minutes",
        "SELECT * WHERE A ; B WITHIN 5 minutes",
        stream=cereus.Stream(),
        right_stream='cereus.Stream(time="ts")',
    ),
    Mistake(
        "SELECT * WHERE A ; B WITHIN 5 minutes",
        "SELECT * WHERE A ; B WITHIN 5 minutes",
        stream=NUMBERED,
        right_stream='cereus.Stream(time="volume", unit="ms")',
    ),
    Mistake(
        "SELECT * WHERE A ; B WITH TIMEOUTS", "SELECT * WHERE A ; B WITHIN 5 minutes WITH TIMEOUTS"
    ),
    Mistake(
        "SELECT COUNT(*) WHERE A ; B AFTER MATCH SKIP TO NEXT EVENT",
        "SELECT * WHERE A ; B AFTER MATCH SKIP TO NEXT EVENT",
    ),
    Mistake("SELECT COUNT(*) WHERE A ; B RETURN A.price", "SELECT * WHERE A ; B RETURN A.price"),
    Mistake("SELECT LAST COUNT(*) WHERE A ; B", "SELECT LAST * WHERE A ; B"),
    # the pattern
    Mistake("SELECT * WHERE A{5,2}", "SELECT * WHERE A{2,5}"),
    Mistake("SELECT * WHERE A ; B{0}", "SELECT * WHERE A ; B?"),
    Mistake("SELECT * WHERE A{5000}", "SELECT * WHERE A+ AS a FILTER count(a) >= 5000"),
    Mistake(
        "SELECT * WHERE A AS a ; B FILTER "
        + " AND ".join(f"(a.price > {n} OR a.volume < {n})" for n in range(1, 14)),
        "SELECT * WHERE A AS a ; B FILTER "
        + " AND ".join(f"a[price > {n} OR volume < {n}]" for n in range(1, 14)),
    ),
    Mistake("SELECT * WHERE A UNLESS B?", "SELECT * WHERE A UNLESS B"),
    Mistake("SELECT * WHERE NOT(A ; B)", "SELECT * WHERE C UNLESS (A ; B)"),
    Mistake("SELECT * WHERE (A ; C) WITHOUT (B ; D)", "SELECT * WHERE (A ; C) WITHOUT B"),
    Mistake("SELECT * WHERE A ;[3 EVENTS] B", "SELECT * WHERE A ;[3 minutes] B"),
    Mistake(
        "SELECT * WHERE A ;[5 minutes..1 minute] B", "SELECT * WHERE A ;[1 minute..5 minutes] B"
    ),
    Mistake(
        "SELECT * WHERE A ;[5 minutes] B",
        "SELECT * WHERE A ;[5 minutes] B",
        stream=cereus.Stream(),
        right_stream='cereus.Stream(time="ts")',
    ),
    Mistake(
        "SELECT * WHERE A ;[5 minutes] B",
        "SELECT * WHERE A ;[5 minutes] B",
        stream=NUMBERED,
        right_stream='cereus.Stream(time="volume", unit="s")',
    ),
    Mistake(
        "SELECT * WHERE (A ; B) WITHIN 100000 EVENTS ; C",
        "SELECT * WHERE (A ; B) WITHIN 100 EVENTS ; C",
    ),
    Mistake(
        "SELECT * WHERE A NOT FOLLOWED BY B WITHIN 5 EVENTS",
        "SELECT * WHERE A NOT FOLLOWED BY B WITHIN 5 minutes",
    ),
    Mistake(
        "SELECT * WHERE A NOT FOLLOWED BY B WITHIN 5 minutes",
        "SELECT * WHERE A NOT FOLLOWED BY B WITHIN 5 minutes",
        stream=cereus.Stream(),
        right_stream='cereus.Stream(time="ts")',
    ),
    Mistake(
        "SELECT * WHERE A+ AS a NOT FOLLOWED BY (B AS b FILTER b.card = a.card) WITHIN 5 minutes",
        "SELECT * WHERE A AS a NOT FOLLOWED BY (B AS b FILTER b.card = a.card) WITHIN 5 minutes",
    ),
    Mistake("SELECT * FROM S WHERE T>A ; B", "SELECT * FROM S, T WHERE A ; B"),
    Mistake(
        "SELECT * FROM S, T WHERE T>A ; B",
        "SELECT * FROM S, T WHERE T>A ; B",
        right_stream='cereus.Stream(time="ts", stream="name")',
    ),
    # variables and conditions
    Mistake(
        "SELECT * WHERE A AS a FILTER b[price > 5]", "SELECT * WHERE A AS a FILTER a[price > 5]"
    ),
    Mistake("SELECT PYA WHERE PAY", "SELECT PAY WHERE PAY"),
    Mistake("SELECT * WHERE A AS a FILTER price > 5", "SELECT * WHERE A AS a FILTER a.price > 5"),
    Mistake("SELECT * WHERE A AS a FILTER 1 < 2", "SELECT * WHERE A AS a FILTER a.price > 2"),
    Mistake(
        "SELECT * WHERE A AS a ; B AS b FILTER a[b[price > 5]]",
        "SELECT * WHERE A AS a ; B AS b FILTER a[price > 5] AND b[price > 5]",
    ),
    Mistake(
        "SELECT * WHERE A AS a FILTER a[price] > 5",
        "SELECT * WHERE A AS a FILTER a[price > 5]",
    ),
    Mistake(
        "SELECT * WHERE B+ AS b FILTER b[sum(b.price) > 5]",
        "SELECT * WHERE B+ AS b FILTER sum(b.price) > 5",
    ),
    Mistake(
        "SELECT * WHERE B+ AS b FILTER b[1].price > 5",
        "SELECT * WHERE B+ AS b FILTER first(b.price) > 5",
    ),
    Mistake(
        "SELECT * WHERE B+ AS b FILTER b[price > prev(price)]",
        "SELECT * WHERE B+ AS b FILTER b.price > prev(b.price)",
    ),
    Mistake(
        "SELECT * WHERE A AS a ; B+ AS b FILTER b.price > prev(b.price) + a.price",
        "SELECT * WHERE A AS a ; B+ AS b FILTER b.price > prev(b.price) AND b.price > a.price",
    ),
    Mistake(
        "SELECT * WHERE B+ AS b FILTER sum(b.price) > prev(b.price)",
        "SELECT * WHERE B+ AS b FILTER sum(b.price) > 5 AND b.price > prev(b.price)",
    ),
    Mistake(
        "SELECT * WHERE B+ AS b RETURN prev(b.price)", "SELECT * WHERE B+ AS b RETURN last(b.price)"
    ),
    Mistake("SELECT * WHERE B+ AS b RETURN b.price", "SELECT * WHERE B+ AS b RETURN max(b.price)"),
    Mistake("SELECT * WHERE B AS b RETURN b", "SELECT b WHERE B AS b RETURN b.price"),
    Mistake(
        "SELECT * WHERE B AS b RETURN b.price AS end",
        "SELECT * WHERE B AS b RETURN b.price AS last",
    ),
    Mistake(
        "SELECT name WHERE A AS name ; B PARTITION BY [name]",
        "SELECT a WHERE A AS a ; B PARTITION BY [name]",
    ),
    Mistake(
        "SELECT * WHERE A AS a ; (C AS c UNLESS B AS b FILTER b.price > a.price)",
        "SELECT * WHERE A AS a ; (C AS c UNLESS (B AS b FILTER b[price > 5]))",
    ),
    Mistake(
        "SELECT * WHERE A AS a ; B FILTER a.from = 2",
        "SELECT * WHERE A AS a ; B FILTER a.volume = 2",
    ),
    Mistake(
        "SELECT * WHERE A ; B WITHIN 5 EVENTS 3 seconds", "SELECT * WHERE A ; B WITHIN 3 seconds"
    ),
    Mistake("SELECT * WHERE A ; B WITHIN -5 seconds", "SELECT * WHERE A ; B WITHIN 5 seconds"),
    Mistake(
        "SELECT * WHERE A ; B WITHIN :w", "SELECT * WHERE A ; B WITHIN 5 EVENTS", params={"w": "x"}
    ),
    Mistake("SELECT * FROM s WHERE t>A", "SELECT * FROM s WHERE s>A"),
    Mistake(
        "SELECT * WHERE A AS a ; NOT(B AS b FILTER b.price > a.price) ; C",
        "SELECT * WHERE A AS a ; C WITHOUT B",
    ),
    Mistake(
        "SELECT * WHERE " + "A UNLESS (" * 7 + "B" + ")" * 7,
        "SELECT * WHERE (A UNLESS B) UNLESS C",
    ),
    Mistake(
        "SELECT * WHERE A ; B WITHIN :w seconds",
        "SELECT * WHERE A ; B WITHIN :w",
        params={"w": timedelta(seconds=5)},
    ),
    Mistake(
        "SELECT * WHERE A ; B WITHIN DATE '2025-03-03'",
        "SELECT * WHERE A ; B WITHIN INTERVAL '5' MINUTE",
    ),
    Mistake(
        "SELECT * WHERE (A AS a ; B) WITHOUT (C AS c FILTER sum(a.price) > c.price)",
        "SELECT * WHERE (A AS a ; B) WITHOUT (C AS c FILTER a.price > c.price)",
    ),
    Mistake(
        "SELECT * FROM S, R WHERE (S>A ; S>B) WITHOUT (R>C FILTER S>A[price > 3])",
        "SELECT * FROM S, R WHERE (S>A AS a ; S>B) WITHOUT (R>C FILTER a[price > 3])",
        stream=cereus.Stream(time="ts", stream="name"),
    ),
    Mistake("SELECT * WHERE LSAT(A ; B)", "SELECT * WHERE LAST(A ; B)"),
    Mistake("SELECT * WHERE " + "(" * 13 + "A" + "+)" * 13, "SELECT * WHERE A+"),
]
