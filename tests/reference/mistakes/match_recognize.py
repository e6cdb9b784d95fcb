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
    mistake(f"{NUMBER} PATTERN (a{{0,9999999999}})", f"{NUMBER} PATTERN (a{{0,9}})"),
    mistake(f"{NUMBER} INITIAL PATTERN (a)", f"{NUMBER} PATTERN (a)"),
    mistake(f"{NUMBER} SEEK PATTERN (a)", f"{NUMBER} PATTERN (a)"),
    mistake(
        "MEASURES count(DISTINCT price) AS n PATTERN (a)", "MEASURES count(price) AS n PATTERN (a)"
    ),
    mistake("MEASURES (SELECT 1) AS n PATTERN (a)", "MEASURES a.price AS n PATTERN (a)"),
    mistake(
        f"{NUMBER} PATTERN (a) DEFINE a AS ts - ts < INTERVAL '5' MONTH",
        f"{NUMBER} PATTERN (a) DEFINE a AS ts - ts < INTERVAL '5' DAY",
    ),
    mistake(
        f"{NUMBER} PATTERN (a) DEFINE a AS ts - ts < INTERVAL '5' DAY TO SECOND",
        f"{NUMBER} PATTERN (a) DEFINE a AS ts - ts < INTERVAL '5' DAY",
    ),
    mistake("MEASURES price[1] AS n PATTERN (a)", "MEASURES array_agg(price)[1] AS n PATTERN (a)"),
    mistake(
        "MEASURES cardinality(price) AS n PATTERN (a)",
        "MEASURES cardinality(array_agg(price)) AS n PATTERN (a)",
    ),
    mistake("MEASURES max(tags) AS n PATTERN (a)", "MEASURES max(price) AS n PATTERN (a)"),
    mistake(
        "MEASURES max_by(price) AS n PATTERN (a)", "MEASURES max_by(price, volume) AS n PATTERN (a)"
    ),
    mistake("MEASURES max(price, 'a') AS n PATTERN (a)", "MEASURES max(price, 2) AS n PATTERN (a)"),
    mistake(
        "MEASURES listagg(name, 5) AS n PATTERN (a)", "MEASURES listagg(name, ',') AS n PATTERN (a)"
    ),
    mistake("MEASURES sum(sum(price)) AS n PATTERN (a)", "MEASURES sum(price) AS n PATTERN (a)"),
    mistake("MEASURES PREV(sum(price)) AS n PATTERN (a)", "MEASURES PREV(price) AS n PATTERN (a)"),
    mistake(
        "MEASURES PREV(PREV(price)) AS n PATTERN (a)", "MEASURES PREV(price, 2) AS n PATTERN (a)"
    ),
    mistake("MEASURES sum(PREV(price)) AS n PATTERN (a)", "MEASURES sum(price) AS n PATTERN (a)"),
    mistake("MEASURES MATCH_ROWTIME() AS n PATTERN (a)", "MEASURES LAST(ts) AS n PATTERN (a)"),
    mistake(
        "MEASURES date_add('day', 1) AS n PATTERN (a)",
        "MEASURES date_add('day', 1, ts) AS n PATTERN (a)",
    ),
    mistake(
        "MEASURES date_add('days of', 1, ts) AS n PATTERN (a)",
        "MEASURES date_add('day', 1, ts) AS n PATTERN (a)",
    ),
    mistake(
        f"ORDER BY ts {NUMBER} ALL ROWS PER MATCH WITH UNMATCHED ROWS PATTERN (a b) "
        "WITHIN INTERVAL '1' HOUR WITH TIMEOUTS",
        f"ORDER BY ts {NUMBER} ALL ROWS PER MATCH PATTERN (a b) "
        "WITHIN INTERVAL '1' HOUR WITH TIMEOUTS",
    ),
    mistake(
        "MEASURES array_join(array_agg(place), ',') AS n PATTERN (a)",
        "MEASURES array_join(array_agg(name), ',') AS n PATTERN (a)",
    ),
    mistake(
        "MEASURES array_join(array_agg(name), 5) AS n PATTERN (a)",
        "MEASURES array_join(array_agg(name), ',') AS n PATTERN (a)",
    ),
    mistake(
        "MEASURES element_at(array_agg(name), 'x') AS n PATTERN (a)",
        "MEASURES element_at(array_agg(name), 1) AS n PATTERN (a)",
    ),
    mistake(
        f"PARTITION BY place.city {NUMBER} PATTERN (a)", f"PARTITION BY name {NUMBER} PATTERN (a)"
    ),
    mistake("MEASURES ARRAY[1] AS n PATTERN (a)", "MEASURES a.price AS n PATTERN (a)"),
    mistake(f"{NUMBER} PATTERN ((a{{1000}} b){{1000}})", f"{NUMBER} PATTERN ((a{{10}} b){{10}})"),
    mistake(
        "MEASURES map_union(array_agg(a.price)) AS n PATTERN (a)",
        "MEASURES map_agg(a.name, a.price) AS n PATTERN (a)",
    ),
    mistake(
        "MEASURES element_at(array_agg(a.name), a.volume) AS n PATTERN (a)",
        "MEASURES element_at(array_agg(a.name), 1) AS n PATTERN (a)",
    ),
    mistake(
        "MEASURES cardinality(element_at(array_agg(a.name), 1)) AS n PATTERN (a)",
        "MEASURES cardinality(array_agg(a.name)) AS n PATTERN (a)",
    ),
    mistake(f"{NUMBER} PATTERN (a{{}} b)", f"{NUMBER} PATTERN (a{{2}} b)"),
    mistake(
        f"{NUMBER} PATTERN (a b) DEFINE b AS b.ts - a.ts < DATE '3:10' MINUTE TO SECOND",
        f"{NUMBER} PATTERN (a b) DEFINE b AS b.ts - a.ts < INTERVAL '3:10' MINUTE TO SECOND",
    ),
    mistake(
        f"ORDER BY ts {NUMBER} PATTERN (a b) WITHIN INTERVAL '3:10' MONTH TO DAY",
        f"ORDER BY ts {NUMBER} PATTERN (a b) WITHIN INTERVAL '3 10' DAY TO HOUR",
    ),
]
