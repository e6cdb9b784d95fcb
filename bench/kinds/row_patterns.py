"""Row patterns as people write them, on the stock stream: `python -m bench row_patterns`.

Kinds of quantifiers, aggregates, navigation, alternatives, skips, outputs and windows, each
measured as `bench.kinds.cliffs` does, the slowest first.
"""

from __future__ import annotations

import sys

from bench.data import stocks
from bench.kinds.cliffs import is_slow, outcomes, rates
from bench.kinds.queries import Case
from bench.kinds.row_clauses import MORE, WITHOUT_KEYS

V_SHAPE = "PATTERN (s d+ u+) DEFINE d AS price < PREV(price), u AS price > PREV(price)"
BELOW = "DEFINE b AS price < a.price, c AS price > a.price"
SIX = (
    "PATTERN (PERMUTE(a, b, c, d, e, f)) DEFINE a AS volume > 100, b AS volume > 200, "
    "c AS volume > 300, d AS volume > 400, e AS type = 'SELL', f AS type = 'BUY'"
)
FOUR = "DEFINE a AS volume > 100, b AS volume > 300, c AS type = 'SELL', d AS type = 'BUY'"

CLAUSES = {
    "PERMUTE of 6": SIX,
    "PERMUTE of 4, compared": "PATTERN (PERMUTE(a, b, c, d)) DEFINE a AS volume > 100, b AS price "
    ">= a.price, c AS volume > 300, d AS type = 'SELL'",
    "PERMUTE with a plus": f"PATTERN (PERMUTE(a+, b, c, d)) {FOUR}",
    "PERMUTE within": f"PATTERN (PERMUTE(a, b, c, d)) WITHIN INTERVAL '10' SECOND {FOUR}",
    "mean below": "PATTERN (a b+ c) DEFINE b AS avg(b.price) < a.price, c AS price > a.price",
    "mean so far": "PATTERN (a+ b) DEFINE a AS price <= avg(a.price), b AS price > avg(a.price)",
    "mean, then below": "PATTERN (a+ b+) DEFINE a AS price >= avg(a.price), b AS price < "
    "avg(a.price)",
    "mean above": "PATTERN (a+ b) DEFINE b AS avg(a.volume) > 2000",
    "band around the mean": "PATTERN (a{5,}) DEFINE a AS abs(price - avg(a.price)) < 0.1",
    "weighted mean": "PATTERN (a+ b) DEFINE b AS price > 1.01 * sum(a.price * a.volume) / "
    "sum(a.volume)",
    "sum below": "PATTERN (a b+ c) DEFINE b AS sum(b.volume) < 10 * a.volume, c AS price > a.price",
    "sum at the end": "PATTERN (a b* c) DEFINE a AS volume > 500, c AS sum(b.volume) > 10 * "
    "a.volume",
    "sum, reluctant": "PATTERN (a b*? c) DEFINE a AS volume > 500, c AS sum(b.volume) > 100000",
    "count": "PATTERN (a b+ c) DEFINE b AS count(b.price) <= 100, c AS price > a.price",
    "count of a variable": "PATTERN (a b+ c) DEFINE b AS count(b.*) <= 1000, c AS price > a.price "
    "* 1.02",
    "count of all": "PATTERN (a b+ c) DEFINE b AS count(*) <= 1000, c AS price > a.price * 1.02",
    "greatest so far": "PATTERN (a b+ c) DEFINE b AS max(b.price) < a.price * 1.01, c AS price > "
    "a.price * 1.01",
    "below the least": "PATTERN (a b+ c) DEFINE c AS price < min(b.price) * 0.98",
    "above the greatest": "PATTERN (a b+ c) DEFINE c AS price > max(b.price) * 1.01",
    "least in a band": "PATTERN (a b+ c) DEFINE b AS price > a.price * 0.99, c AS price < "
    "min(b.price)",
    "rising": "PATTERN (a+ b) DEFINE a AS price >= max(a.price), b AS price < max(a.price) * 0.99",
    "draw-down": "PATTERN (a b* c) DEFINE b AS price > 0.95 * max(price), c AS price <= 0.95 * "
    "max(price)",
    "draw-down, reluctant": "PATTERN (a b*? c) DEFINE c AS price <= 0.95 * max(price)",
    "range": "PATTERN (a{5,}) DEFINE a AS max(a.price) - min(a.price) < 0.1",
    "bins": "PATTERN (a+) DEFINE a AS sum(a.volume) <= 5000",
    "large bins": "PATTERN (a+) DEFINE a AS sum(a.volume) <= 5000000",
    "bins from every row": "AFTER MATCH SKIP TO NEXT ROW PATTERN (a+) DEFINE a AS sum(a.volume) <= "
    "50000",
    "sums of alternatives": "PATTERN ((a | b)+ c) DEFINE a AS type = 'SELL', b AS type = 'BUY', "
    "c AS sum(a.volume) > 2 * sum(b.volume) + 5000",
    "alternatives": "PATTERN ((a | b | c)+ d) DEFINE a AS volume > 100, b AS volume > 200, c AS "
    "volume > 300, d AS volume > 5000",
    "alternatives, compared": "PATTERN ((a | b)+ d) DEFINE a AS volume > 100, b AS price > a.price,"
    " d AS volume > 5000",
    "nested": "PATTERN (((a b)+ c)+ d) DEFINE a AS type = 'SELL', b AS type = 'BUY', c AS volume > "
    "300, d AS volume > 900",
    "nested, compared": "PATTERN (((a b)+ c)+ d) DEFINE b AS price > a.price, c AS price < "
    "b.price, d AS price > FIRST(a.price) * 1.001",
    "{2,1000}": "PATTERN (a{2,1000} b) DEFINE a AS volume > 100, b AS volume > 5000",
    "{2,1000}, compared": "PATTERN (a b{2,1000} c) DEFINE b AS price <= a.price, c AS price > "
    "a.price",
    "{2,1000}, any rows": "PATTERN (a b{2,1000} c) DEFINE c AS price > a.price * 1.02",
    "{2,100}": "PATTERN (a b{2,100} c) DEFINE a AS volume > 900, c AS price > a.price * 1.005",
    "{500}": "PATTERN (a{500} b) DEFINE a AS volume < 20000, b AS price > PREV(price, 100)",
    "reluctant, compared": "PATTERN (a b*? c) DEFINE a AS volume > 1000, c AS price > a.price * "
    "1.01",
    "greedy, compared": "PATTERN (a b* c) DEFINE c AS price > a.price * 1.01",
    "two waits": "PATTERN (a b*? c d*? e) DEFINE c AS price > a.price * 1.005, e AS price < "
    "a.price",
    "two waits, greedy": "PATTERN (a b* c d* e) DEFINE c AS price > a.price * 1.005, e AS price < "
    "c.price * 0.995",
    "equal": "PATTERN (a b*? c) DEFINE c AS volume = a.volume AND price > a.price",
    "rare end": "PATTERN (a b* c) DEFINE c AS volume > 2000000 + a.volume",
    "SUBSET": "PATTERN (a b+ c+ d) SUBSET u = (b, c) DEFINE b AS price > a.price, c AS price < "
    "b.price, d AS price > avg(u.price)",
    "FIRST with an offset": "PATTERN (a+ b) DEFINE a AS price <= FIRST(a.price, 3) OR count(a.*) < "
    "5, b AS price > FIRST(a.price, 2)",
    "LAST with an offset": "PATTERN (a+ b) DEFINE b AS price > 1.01 * LAST(a.price, 50)",
    "PREV of a variable": "PATTERN (a b+ c) DEFINE b AS price < PREV(a.price), c AS price > "
    "PREV(a.price, 2)",
    "PREV of FIRST": "PATTERN (a b+ c) DEFINE b AS price <= PREV(FIRST(b.price)), c AS price > "
    "NEXT(a.price)",
    "CLASSIFIER": "PATTERN ((a | b)+ c) DEFINE a AS type = 'SELL', b AS PREV(CLASSIFIER()) = 'A', "
    "c AS volume > 900",
    "MATCH_NUMBER": "PATTERN (a b+) DEFINE b AS price > a.price OR MATCH_NUMBER() % 2 = 0",
    "band": "PATTERN (a b{5,}) DEFINE b AS abs(price - a.price) < 0.05",
    "CASE": "PATTERN (a b+ c) DEFINE b AS CASE WHEN type = 'SELL' THEN price < a.price ELSE price "
    "<= a.price END, c AS price > a.price",
    "greatest of two": "PATTERN (a b+ c) DEFINE b AS price < greatest(a.price, PREV(price)), c AS "
    "price > a.price",
    "coalesce": "PATTERN (a b+) DEFINE b AS price >= coalesce(LAST(b.price, 1), a.price)",
    "W, compared": "PATTERN (s d+ u+ e+ v+) DEFINE d AS price <= PREV(price), u AS price >= "
    "PREV(price), e AS price <= PREV(price) AND price > LAST(d.price), v AS price >= PREV(price) "
    "AND price > LAST(u.price)",
    "SKIP TO NEXT ROW": f"AFTER MATCH SKIP TO NEXT ROW {V_SHAPE}",
    "SKIP TO FIRST": f"AFTER MATCH SKIP TO FIRST b PATTERN (a b+ c) {BELOW}",
    "SKIP TO LAST": f"AFTER MATCH SKIP TO LAST b PATTERN (a b+ c) {BELOW}",
    "ALL ROWS": f"ALL ROWS PER MATCH {V_SHAPE}",
    "WITH UNMATCHED ROWS": f"ALL ROWS PER MATCH WITH UNMATCHED ROWS {V_SHAPE}",
    "exclusion": f"ALL ROWS PER MATCH PATTERN (a {{- b+ -}} c) {BELOW}",
    "anchors": "PATTERN (^ a b* c $) DEFINE c AS price > a.price",
    "to the end": "PATTERN (a b* $) DEFINE b AS price > a.price",
    "WITHIN": "PATTERN (a b* c) WITHIN INTERVAL '1' MINUTE DEFINE a AS volume > 900, c AS volume > "
    "5000",
    "WITHIN, compared": "PATTERN (a b* c) WITHIN INTERVAL '10' MINUTE DEFINE c AS price > a.price "
    "* 1.02",
    "WITH TIMEOUTS": "PATTERN (a b*? c) WITHIN INTERVAL '1' MINUTE WITH TIMEOUTS DEFINE c AS "
    "volume > 9000",
    "a window in conditions": "PATTERN (a{3,} b) DEFINE a AS volume > 100 AND stock_time <= "
    "FIRST(a.stock_time) + 10000, b AS volume > 5000",
    "intervals merged": "PATTERN (a* b) DEFINE a AS max(a.stock_time + 100) >= NEXT(stock_time)",
    "sessions with a total": "PATTERN (a b*) DEFINE b AS stock_time - PREV(stock_time) < 1000 AND "
    "sum(volume) < 100000",
    "lists": "PATTERN (a{3,20} b) DEFINE b AS price > avg(a.price) + 2 * stddev(a.price)",
}
RUNNING = "RUNNING avg(price) AS m, RUNNING max(price) AS x, FINAL LAST(price) AS l"


def text(clause: str, key: str = "PARTITION BY name ") -> str:
    measures = RUNNING if clause.startswith("ALL ROWS") else "count(*) AS n"
    return f"MATCH_RECOGNIZE ({key}ORDER BY stock_time MEASURES {measures} {clause})"


def main(*words: str) -> None:
    table, which = stocks()
    texts = {name: text(clause) for name, clause in {**CLAUSES, **MORE}.items()}
    texts |= {name: text(clause, "") for name, clause in WITHOUT_KEYS.items()}
    cases = tuple(
        Case(name, query, "match_recognize")
        for name, query in texts.items()
        if not words or any(word in name for word in words)
    )
    print(f"{len(cases)} row patterns over {table.num_rows:,} of {which}, one core\n")
    found = sorted(outcomes(cases), key=lambda pair: rates(pair[1], table.num_rows)[0])
    for case, outcome in found:
        mark = "✗" if is_slow(outcome, table.num_rows) else " "
        rate = rates(outcome, table.num_rows)[0] / 1e6
        why = outcome.reason if outcome.seconds is None else ""
        print(f"{mark} {rate:8.2f} {outcome.matches:9,}  {case.name:32} {why}".rstrip())


if __name__ == "__main__":
    main(*sys.argv[1:])
