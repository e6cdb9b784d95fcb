"""More row patterns for `bench.kinds.row_patterns`: less common clauses that people write, and
every kind that may be slow.
"""

from __future__ import annotations

MORE = {
    "weighted mean, reluctant": "PATTERN (a+? b) DEFINE b AS price > 1.01 * sum(a.price * "
    "a.volume) / sum(a.volume)",
    "above the weighted mean": "PATTERN (a b+) DEFINE b AS price > sum(price * volume) / "
    "sum(volume)",
    "weighted mean of a loop": "PATTERN (a b+ c) DEFINE b AS price >= sum(b.price * b.volume) / "
    "sum(b.volume), c AS price < sum(b.price * b.volume) / sum(b.volume)",
    "above the mean": "PATTERN (a+ b) DEFINE b AS price > 1.01 * avg(a.price)",
    "above the mean, reluctant": "PATTERN (a+? b) DEFINE b AS price > 1.01 * avg(a.price)",
    "share": "PATTERN (a+ b) DEFINE b AS count_if(a.type = 'SELL') > 0.7 * count(a.*) AND "
    "count(a.*) > 20",
    "share of a sum": "PATTERN (a{20,} b) DEFINE b AS sum(CASE WHEN a.type = 'SELL' THEN a.volume "
    "ELSE 0 END) > 0.9 * sum(a.volume)",
    "difference of sums": "PATTERN ((a | b)* c) DEFINE a AS type = 'SELL', b AS type = 'BUY', c "
    "AS sum(a.volume) - sum(b.volume) > 20000",
    "sums of any rows": "PATTERN ((a | b)+ c) DEFINE c AS sum(a.volume) > sum(b.volume) + 1000000",
    "counts of alternatives": "PATTERN ((a | b)+ c) DEFINE a AS type = 'SELL', b AS type = 'BUY', "
    "c AS count(a.*) > 2 * count(b.*) + 10",
    "means of alternatives": "PATTERN ((a | b)+ c) DEFINE a AS type = 'SELL', b AS type = 'BUY', "
    "c AS avg(a.price) > 1.01 * avg(b.price)",
    "standard deviation": "PATTERN (a{20,} b) DEFINE b AS price > avg(a.price) + 3 * "
    "stddev(a.price)",
    "standard deviation of 20": "AFTER MATCH SKIP TO NEXT ROW PATTERN (a{20} b) DEFINE b AS price "
    "> avg(a.price) + 3 * stddev(a.price)",
    "mean of 20": "AFTER MATCH SKIP TO NEXT ROW PATTERN (a{20} b) DEFINE b AS price > 1.005 * "
    "avg(a.price)",
    "from every row, compared": "AFTER MATCH SKIP TO NEXT ROW PATTERN (a b*? c) DEFINE c AS price "
    "> a.price * 1.005",
    "from every row, greedy": "AFTER MATCH SKIP TO NEXT ROW PATTERN (a b* c) DEFINE b AS price >= "
    "a.price, c AS price < a.price",
    "from every row, a sum": "AFTER MATCH SKIP TO NEXT ROW PATTERN (a b*? c) DEFINE c AS "
    "sum(volume) > 50000",
    "SHOW EMPTY MATCHES": "ALL ROWS PER MATCH SHOW EMPTY MATCHES PATTERN (a*) DEFINE a AS price > "
    "PREV(price)",
    "OMIT EMPTY MATCHES": "ALL ROWS PER MATCH OMIT EMPTY MATCHES PATTERN (a*) DEFINE a AS price > "
    "PREV(price)",
    "or nothing, compared": "PATTERN (a b* | ()) DEFINE b AS price > a.price",
    "PERMUTE within, compared": "PATTERN (PERMUTE(a, b, c)) WITHIN INTERVAL '1' SECOND DEFINE b "
    "AS price > a.price, c AS volume > b.volume",
    "PERMUTE and more": "PATTERN (PERMUTE(a, b, c) d+ e) DEFINE a AS volume > 100, b AS type = "
    "'SELL', c AS type = 'BUY', d AS price >= a.price, e AS price < a.price",
    "PERMUTE with sums": "PATTERN (PERMUTE(a+, b+) c) DEFINE a AS type = 'SELL', b AS type = "
    "'BUY', c AS sum(a.volume) > sum(b.volume)",
    "exclusion, SKIP TO LAST": "ALL ROWS PER MATCH AFTER MATCH SKIP TO LAST c PATTERN (a {- b* -} "
    "c+ d) DEFINE b AS price < a.price, c AS price >= a.price, d AS price < LAST(c.price)",
    "from the first row": "PATTERN (^ a b+ c) DEFINE b AS price >= a.price, c AS price < a.price",
    "to the last row": "PATTERN (a b*? c $) DEFINE c AS price > a.price * 1.001",
    "all reluctant": "PATTERN (a+? b+? c+? d) DEFINE b AS price > a.price, c AS price < b.price, "
    "d AS volume > 3000",
    "mean in a loop": "ALL ROWS PER MATCH PATTERN (a b+) DEFINE b AS price >= avg(b.price)",
    "NEXT with an offset": "PATTERN (a b* c) DEFINE b AS NEXT(price, 3) >= price, c AS price > "
    "NEXT(a.price, 5) * 1.002",
    "FIRST of 100": "PATTERN (a+ b) DEFINE b AS price > 1.005 * FIRST(a.price, 100)",
    "LAST of 1000": "PATTERN (a+ b) DEFINE b AS price > 1.005 * LAST(a.price, 1000)",
    "LAST of 10 in a loop": "PATTERN (a b+ c) DEFINE b AS price >= LAST(b.price, 10) OR "
    "count(b.*) <= 10, c AS price < a.price",
    "FIRST of a SUBSET": "PATTERN (a (b | c)+ d) SUBSET u = (b, c) DEFINE b AS price > a.price, c "
    "AS volume > 500, d AS price < FIRST(u.price)",
    "sum of a SUBSET": "PATTERN (a (b | c)+ d) SUBSET u = (b, c) DEFINE b AS type = 'BUY', c AS "
    "type = 'SELL', d AS sum(u.volume) > 30 * a.volume",
    "CLASSIFIER of a SUBSET": "PATTERN (a (b | c)+ d) SUBSET u = (b, c) DEFINE b AS price > "
    "PREV(price), c AS price < PREV(price), d AS CLASSIFIER(u) = 'C' AND volume > 2000",
    "median of few": "PATTERN (a{5,20} b) DEFINE b AS price > 1.002 * percentile(a.price, 0.5)",
    "median": "PATTERN (a+ b) DEFINE b AS price > 1.01 * percentile(a.price, 0.5)",
    "median in a loop": "PATTERN (a b+) DEFINE b AS price >= percentile(b.price, 0.5)",
    "percentile, WITHIN": "PATTERN (a+ b) WITHIN INTERVAL '10' SECOND DEFINE b AS volume > 5 * "
    "percentile(a.volume, 0.9)",
    "texts": "PATTERN (a{3} b) DEFINE b AS string_agg(a.type, ',') = 'SELL,BUY,SELL'",
    "texts in a loop": "PATTERN (a+ b) DEFINE a AS volume > 1000, b AS string_agg(a.type, '') "
    "LIKE '%SELLSELL%'",
    "size of a list": "PATTERN (a+ b) DEFINE a AS volume > 500, b AS "
    "cardinality(array_agg(a.price)) > 3",
    "element of a list": "PATTERN (a{3,} b) DEFINE a AS volume > 300, b AS price > "
    "array_agg(a.price)[2]",
    "distinct values": "PATTERN (a+ b) DEFINE a AS volume > 300, b AS "
    "cardinality(array_distinct(array_agg(a.price))) > 3",
    "count of CLASSIFIER": "PATTERN ((a | b)+ c) DEFINE a AS type = 'SELL', b AS type = 'BUY', c "
    "AS count_if(CLASSIFIER() = 'A') > 5",
    "greatest CLASSIFIER": "PATTERN ((a | b)+ c) DEFINE a AS type = 'SELL', b AS type = 'BUY', c "
    "AS max(CLASSIFIER()) = 'A'",
    "sum of MATCH_NUMBER": "PATTERN (a b+ c) DEFINE b AS price > a.price, c AS "
    "sum(MATCH_NUMBER()) > 10",
    "max_by": "PATTERN (a+ b) DEFINE b AS price > 1.01 * max_by(a.price, a.volume)",
    "min_by in a loop": "PATTERN (a b+ c) DEFINE b AS price >= min_by(b.price, b.volume), c AS "
    "price < a.price",
    "all of them": "PATTERN (a+ b) DEFINE b AS bool_and(a.volume > 100) AND volume > 5000",
    "change": "PATTERN (a b* c) DEFINE b AS type = a.type, c AS type != a.type",
    "two loops, compared": "PATTERN (a b+ c+ d) DEFINE b AS price > a.price, c AS price < "
    "LAST(b.price), d AS price > FIRST(b.price) AND volume > a.volume",
    "head and shoulders": "PATTERN (s u+ d+ x+ y+ v+ w+) DEFINE u AS price > PREV(price), d AS "
    "price < PREV(price), x AS price > PREV(price), y AS price < PREV(price), v AS price > "
    "PREV(price) AND price < LAST(x.price), w AS price < PREV(price)",
    "double bottom": "PATTERN (a d+ u+ e+ v+) DEFINE d AS price < PREV(price), u AS price > "
    "PREV(price), e AS price < PREV(price) AND abs(price - LAST(d.price)) < 0.05, v AS price > "
    "PREV(price)",
    "spike": "PATTERN (a b) DEFINE b AS volume > 20 * a.volume",
    "spike over 10": "PATTERN (a{10} b) DEFINE b AS volume > 10 * avg(a.volume)",
    "five in a time": "PATTERN (a{5,} b) DEFINE a AS type = 'SELL' AND stock_time < "
    "FIRST(a.stock_time) + 5000, b AS type = 'BUY'",
    "gap": "PATTERN (a b) DEFINE b AS stock_time - a.stock_time > 5000",
    "nested bounds": "PATTERN ((a b{2,5})+ c) DEFINE b AS price <= a.price, c AS price > "
    "FIRST(a.price)",
    "groups": "PATTERN ((a b+){3,} c) DEFINE b AS price < a.price, c AS volume > 2000",
    "20 groups": "PATTERN ((a b){20,30} c) DEFINE a AS type = 'SELL' , b AS price >= a.price, c "
    "AS price > FIRST(a.price)",
    "optional": "PATTERN (a b? c? d? e) DEFINE b AS price > a.price, c AS price < a.price, d AS "
    "price > b.price, e AS volume > 1000",
    "alternatives of two": "PATTERN ((a b | a c)+ d) DEFINE b AS price > a.price, c AS price < "
    "a.price, d AS volume > 2000",
    "equal to the sum": "PATTERN (a+ b) DEFINE b AS volume = sum(a.volume)",
    "equal to the mean": "PATTERN (a+ b) DEFINE b AS price = avg(a.price)",
    "remainder of a sum": "PATTERN (a+ b) DEFINE b AS sum(a.volume) % 1000 = 7",
    "product": "PATTERN (a b+ c) DEFINE c AS price * count(b.*) > a.price * 1000",
    "order of texts": "PATTERN (a b*? c) DEFINE c AS type > a.type AND volume = a.volume",
    "WITH TIMEOUTS, compared": "PATTERN (a b*? c) WITHIN INTERVAL '10' SECOND WITH TIMEOUTS "
    "DEFINE c AS price > a.price * 1.002",
    "WITH UNMATCHED ROWS, compared": "ALL ROWS PER MATCH WITH UNMATCHED ROWS PATTERN (a b+ c) "
    "DEFINE b AS price > a.price, c AS price < a.price",
    "sum to the end": "PATTERN (a b+ $) DEFINE b AS sum(b.volume) > 100",
    "three waits": "PATTERN (a b*? c b*? d b*? e) DEFINE c AS price > a.price * 1.002, d AS price "
    "< c.price * 0.998, e AS price > d.price * 1.002",
}
WITHOUT_KEYS = {
    "one partition": "PATTERN (s d+ u+) DEFINE d AS price < PREV(price), u AS price > PREV(price)",
    "one partition, weighted mean": "PATTERN (a+ b) DEFINE b AS price > 4 * sum(a.price * "
    "a.volume) / sum(a.volume)",
    "one partition, equal": "PATTERN (a b*? c) DEFINE c AS name = a.name AND price > a.price * "
    "1.002",
    "one partition, greedy": "PATTERN (a b* c) DEFINE b AS name != a.name OR price <= a.price, c "
    "AS name = a.name AND price > a.price * 1.01",
    "one partition, mean": "PATTERN (a+ b) DEFINE b AS price > 3.5 * avg(a.price)",
    "one partition, WITHIN": "PATTERN (a b* c) WITHIN INTERVAL '10' SECOND DEFINE c AS name = "
    "a.name AND price > a.price * 1.005",
    "one partition, alternatives": "PATTERN ((a | b)+ c) DEFINE a AS type = 'SELL', b AS type = "
    "'BUY', c AS sum(a.volume) > 2 * sum(b.volume) + 5000",
}
"""Over all rows in one partition."""
