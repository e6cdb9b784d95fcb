"""Mistakes in MATCH_RECOGNIZE."""

from __future__ import annotations

from tests.reference.mistakes.model import Mistake


def clause(inside: str) -> str:
    return f"MATCH_RECOGNIZE ({inside})"


def mistake(wrong: str, right: str) -> Mistake:
    return Mistake(clause(wrong), clause(right))


UP = "PATTERN (a b+) DEFINE b AS price > PREV(price)"
NUMBER = "MEASURES MATCH_NUMBER() AS n"
MISTAKES = [
    mistake(UP, f"{NUMBER} {UP}"),
    mistake(f"{NUMBER} PATTERN (a b+", f"{NUMBER} PATTERN (a b+)"),
    mistake(
        f"{NUMBER} PATTERN (a b) WITHIN INTERVAL '1' HOUR",
        f"ORDER BY ts {NUMBER} PATTERN (a b) WITHIN INTERVAL '1' HOUR",
    ),
    mistake(
        f"ORDER BY ts DESC {NUMBER} PATTERN (a b) WITHIN INTERVAL '1' HOUR",
        f"ORDER BY ts {NUMBER} PATTERN (a b) WITHIN INTERVAL '1' HOUR",
    ),
    mistake(
        f"ORDER BY ts {NUMBER} PATTERN (a b) WITHIN INTERVAL '0' HOUR",
        f"ORDER BY ts {NUMBER} PATTERN (a b) WITHIN INTERVAL '1' HOUR",
    ),
    mistake(
        f"ORDER BY ts {NUMBER} PATTERN (a b) WITHIN 5",
        f"ORDER BY ts {NUMBER} PATTERN (a b) WITHIN INTERVAL '5' MINUTE",
    ),
    mistake(f"{NUMBER} PATTERN (a b{{3,2}})", f"{NUMBER} PATTERN (a b{{2,3}})"),
    mistake(f"{NUMBER} PATTERN (a b{{0}})", f"{NUMBER} PATTERN (a b?)"),
    mistake(
        f"{NUMBER} PATTERN (PERMUTE(a, b, c, d, e, f, g, h))",
        f"{NUMBER} PATTERN (PERMUTE(a, b, c))",
    ),
    mistake(
        "ALL ROWS PER MATCH WITH UNMATCHED ROWS PATTERN (a {- b -})",
        "ALL ROWS PER MATCH PATTERN (a {- b -})",
    ),
    mistake(
        "MEASURES 1 AS price ALL ROWS PER MATCH PATTERN (a b)",
        "MEASURES 1 AS one ALL ROWS PER MATCH PATTERN (a b)",
    ),
    mistake("MEASURES 1 AS n, 2 AS n PATTERN (a b)", "MEASURES 1 AS n, 2 AS m PATTERN (a b)"),
    mistake(f"{NUMBER} PATTERN (a b) SUBSET a = (b)", f"{NUMBER} PATTERN (a b) SUBSET c = (a, b)"),
    mistake(
        f"{NUMBER} PATTERN (a b) SUBSET c = (a, d)", f"{NUMBER} PATTERN (a b) SUBSET c = (a, b)"
    ),
    mistake(
        f"{NUMBER} PATTERN (a b) SUBSET c = (a), c = (b)",
        f"{NUMBER} PATTERN (a b) SUBSET c = (a, b)",
    ),
    mistake(
        f"{NUMBER} PATTERN (a b) SUBSET c = (a, b) DEFINE c AS price > 1",
        f"{NUMBER} PATTERN (a b) SUBSET c = (a, b) DEFINE a AS price > 1",
    ),
    mistake(
        f"{NUMBER} PATTERN (a b) DEFINE a AS price > 1, a AS price < 9",
        f"{NUMBER} PATTERN (a b) DEFINE a AS price > 1 AND price < 9",
    ),
    mistake(
        f"{NUMBER} PATTERN (a b) DEFINE d AS price > 1",
        f"{NUMBER} PATTERN (a b) DEFINE b AS price > 1",
    ),
    mistake(
        f"{NUMBER} PATTERN (a b) DEFINE b AS price", f"{NUMBER} PATTERN (a b) DEFINE b AS price > 1"
    ),
    mistake(
        f"{NUMBER} PATTERN (a b) DEFINE b AS prize > 1",
        f"{NUMBER} PATTERN (a b) DEFINE b AS price > 1",
    ),
    mistake(
        f"{NUMBER} PATTERN (a b) DEFINE b AS FINAL LAST(price) > 1",
        f"{NUMBER} PATTERN (a b) DEFINE b AS LAST(price) > 1",
    ),
    mistake("MEASURES LAST(1) AS x PATTERN (a b)", "MEASURES LAST(price) AS x PATTERN (a b)"),
    mistake(
        "MEASURES LAST(a.price + b.price) AS x PATTERN (a b)",
        "MEASURES LAST(a.price) + LAST(b.price) AS x PATTERN (a b)",
    ),
    mistake(
        "MEASURES FINAL PREV(price) AS x PATTERN (a b)",
        "MEASURES PREV(FINAL LAST(price)) AS x PATTERN (a b)",
    ),
    mistake(
        "MEASURES PREV(price, -1) AS x PATTERN (a b)", "MEASURES NEXT(price, 1) AS x PATTERN (a b)"
    ),
    mistake("MEASURES sum(*) AS x PATTERN (a b)", "MEASURES count(*) AS x PATTERN (a b)"),
    mistake("MEASURES sum(name) AS x PATTERN (a b)", "MEASURES sum(price) AS x PATTERN (a b)"),
    mistake(
        "MEASURES CLASSIFIER(1) AS x PATTERN (a b)", "MEASURES CLASSIFIER(a) AS x PATTERN (a b)"
    ),
    mistake(
        "MEASURES percentile(price, 95) AS x PATTERN (a b)",
        "MEASURES percentile(price, 0.95) AS x PATTERN (a b)",
    ),
    mistake(
        f"{NUMBER} AFTER MATCH SKIP TO d PATTERN (a b)",
        f"{NUMBER} AFTER MATCH SKIP TO b PATTERN (a b)",
    ),
    mistake(
        f"PARTITION BY lower(name) {NUMBER} PATTERN (a b)",
        f"PARTITION BY name {NUMBER} PATTERN (a b)",
    ),
    mistake(
        f"PARTITION BY nmae {NUMBER} PATTERN (a b)", f"PARTITION BY name {NUMBER} PATTERN (a b)"
    ),
]
