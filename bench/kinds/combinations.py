"""More kinds of queries for `bench.kinds.cliffs`: combinations that users write, in all
languages."""

from __future__ import annotations

from bench.kinds.queries import ANY, KEYED, NEXT, PAIR, RIMM, ceql, match, others, sase

LARGE = "a[volume > 9000] AND b[volume > 9000]"
COMPARED = (
    ceql("counts with a comparison", f"SELL AS a ; (BUY AS b){{2,5}} FILTER a.price < b.price AND "
         f"{LARGE} WITHIN 1 second"),
    ceql("counts, equality per round", "(SELL AS a ; BUY AS b FILTER a.price = b.price){2,5} "
         f"FILTER {LARGE} WITHIN 1 second"),
    ceql("contiguous counts with a comparison", "SELL AS a : (BUY AS b):{2,5} FILTER a.price < "
         "b.price WITHIN 1 second"),
    ceql("counts of many rounds", "(SELL AS a){20} FILTER a[name = 'RIMM'] WITHIN 1 second "
         "LIMIT 1"),
    ceql("OR with comparisons", "(SELL AS a ; BUY AS b FILTER a.price < b.price) OR (BUY AS a ; "
         f"SELL AS b FILTER a.volume = b.volume) FILTER {LARGE} WITHIN 1 second"),
    ceql("ALL with a comparison", "(SELL AS a ALL BUY AS b) FILTER a.volume = b.volume AND "
         "a[name = 'INTC'] WITHIN 1 second"),
    ceql("ALL of sequences", f"(SELL AS a ; BUY AS b {RIMM}) ALL (SELL AS c ; BUY AS d FILTER "
         "c[name = 'INTC'] AND d[volume > 9000]) WITHIN 1 second"),
    ceql("two sets", f"SELL+ AS a ; BUY+ AS b FILTER a.price < b.price AND {LARGE} "
         "WITHIN 1 second"),
    ceql("three sets in order", "SELL+ AS a ; BUY+ AS b ; SELL+ AS c FILTER a.price < b.price AND "
         f"b.price < c.price AND {LARGE} AND c[volume > 9000] WITHIN 1 second"),
    ceql("three-way comparison", "SELL AS a ; BUY AS b ; SELL AS c FILTER a.price < b.price AND "
         "b.price < c.price AND a.volume = c.volume AND a[volume > 900] AND b[volume > 900] "
         "WITHIN 1 second"),
    ceql("product of three", "SELL AS a ; BUY AS b ; SELL AS c FILTER a.price * b.price < c.price "
         "* 2 AND a[volume > 4000] AND b[volume > 4000] AND c[volume > 4000] WITHIN 1 second"),
    ceql("IN and BETWEEN", f"{PAIR} FILTER b.price BETWEEN a.price - 1 AND a.price + 1 AND a.name "
         "IN ('INTC', 'RIMM') AND b[volume > 900] WITHIN 1 second"),
    ceql("coalesce between events", f"{PAIR} FILTER coalesce(a.volume, 0) - coalesce(b.volume, 0) "
         "> 4000 WITHIN 1 second LIMIT 1"),
    ceql("average of a set", "SELL AS a ; BUY:+ AS b FILTER avg(b.price) > a.price AND "
         "a[volume > 4000] WITHIN 1 second"),
    ceql("highest of a set", "SELL AS a ; BUY:+ AS b FILTER max(b.price) > a.price AND "
         "a[volume > 4000] WITHIN 1 second"),
    ceql("prev, plus", f"SELL AS a ; BUY+ AS b FILTER b.price > prev(b.price) AND {LARGE} "
         "WITHIN 1 second"),
    ceql("order of a set's strings", "SELL+ AS a ; BUY AS b FILTER a.name < b.name AND "
         "a[volume > 9000] AND b[volume > 4000] WITHIN 1 second"),
    ceql("unequal to two sets", f"SELL+ AS a ; BUY+ AS b FILTER a.volume != b.volume AND {LARGE} "
         "WITHIN 1 second"),
    ceql("order of numbers, no window, LIMIT", f"{PAIR} FILTER a.price < b.price LIMIT 1"),
    ceql("order of numbers, one hour, LIMIT", f"{PAIR} FILTER a.price < b.price WITHIN 1 hour "
         "LIMIT 1"),
    ceql("equality, keyed, no window", f"{PAIR} FILTER a.volume = b.volume PARTITION BY name "
         "LIMIT 1"),
)  # fmt: skip

ORDERED = f"{PAIR} FILTER a.price < b.price"
CLAUSES = (
    *(ceql(f"keyed, CONSUME BY {c}, comparison", f"{ORDERED} PARTITION BY name WITHIN 1 second "
           f"CONSUME BY {c}") for c in ("PARTITION", "ANY")),
    ceql("window in events, comparison", f"{ORDERED} AND a[volume > 4000] WITHIN 100 EVENTS"),
    ceql("window in an attribute, comparison", f"{ORDERED} AND a[volume > 4000] WITHIN 1000 "
         "[stock_time]"),
    ceql("gap with a comparison", "SELL AS a ;[100 milliseconds] BUY AS b FILTER a.price < b.price "
         "AND a[volume > 900] WITHIN 1 second"),
    ceql("inner window with a comparison", f"({ORDERED} AND a[volume > 4000]) WITHIN 100 "
         "milliseconds ; SELL AS c FILTER c[volume > 9000] WITHIN 1 second"),
    ceql("WITH TIMEOUTS, compared", f"{ORDERED} AND {LARGE} WITHIN 1 second WITH TIMEOUTS"),
    ceql("SKIP PAST LAST EVENT, compared", f"{ORDERED} AND a[volume > 900] WITHIN 1 second AFTER "
         "MATCH SKIP PAST LAST EVENT"),
    ceql("SKIP TO NEXT EVENT, compared", f"{ORDERED} AND {LARGE} WITHIN 1 second AFTER MATCH SKIP "
         "TO NEXT EVENT"),
    ceql("WITHOUT, keyed", "(SELL AS a ; BUY AS b) WITHOUT (SELL AS n FILTER n.price > a.price) "
         "PARTITION BY name WITHIN 1 second"),
    ceql("RETURN of totals", "SELL AS a ; BUY:+ AS b ; SELL AS c FILTER a[volume > 4000] WITHIN 1 "
         "second RETURN a.price, sum(b.volume) AS v, max(b.price) AS m"),
    ceql("COUNT of ALL", "SELL AS a ALL BUY AS b WITHIN 10 seconds", select="COUNT(*)"),
    ceql("COUNT of ALL of 12 types", " ALL ".join(f"T{n}" for n in range(12)) + " WITHIN 1 second",
         select="COUNT(*)", reads="types"),
    ceql("sequence of 12 types", " ; ".join(f"T{n}" for n in range(12)) + " WITHIN 1 second",
         reads="types"),
    ceql("ALL of 8 types, then one", "(" + " ALL ".join(f"T{n}" for n in range(8)) + ") ; T8 "
         "WITHIN 200 milliseconds LIMIT 1", reads="types"),
)  # fmt: skip

STRATEGIES = (
    ceql("NEXT, keyed", f"{KEYED} PARTITION BY name WITHIN 10 seconds", select="NEXT *"),
    ceql("MAX of a plus, keyed", "SELL AS a ; BUY+ AS b ; SELL AS c FILTER a[volume > 4000] AND "
         "b[volume > 4000] PARTITION BY name WITHIN 1 second", select="MAX *"),
    ceql("NEXT over a plus with a comparison", "SELL AS a ; BUY+ AS b ; SELL AS c FILTER a.price < "
         "b.price AND a[volume > 4000] AND b[volume > 900] WITHIN 1 second", select="NEXT *"),
    ceql("LAST over a total", "SELL AS a ; BUY:+ AS b FILTER sum(b.volume) > 4 * a.volume "
         "WITHIN 1 second", select="LAST *"),
    ceql("MAX of a plus over an equality", "SELL AS a ; BUY+ AS b FILTER a.volume = b.volume "
         "WITHIN 1 minute", select="MAX *"),
    ceql("MAX of a plus, every event", "SELL AS a ; BUY+ AS b ; SELL AS c WITHIN 1 second",
         select="MAX *"),
    ceql("MAX of a leading plus, every event", "SELL+ AS a ; BUY AS b WITHIN 1 second",
         select="MAX *"),
    ceql("MAX of a plus alone, every event", "SELL+ AS a WITHIN 1 second", select="MAX *"),
    ceql("MAX of two pluses, every event", "SELL+ AS a ; BUY+ AS b WITHIN 1 second",
         select="MAX *"),
    ceql("ALL of three, equality", "(SELL AS a ALL BUY AS b ALL SELL AS c) FILTER "
         "a.volume = b.volume WITHIN 1 second"),
    ceql("MAX of a plus over a comparison", f"SELL AS a ; BUY+ AS b FILTER a.price < b.price AND "
         f"{LARGE} WITHIN 1 second", select="MAX *"),
    ceql("NEXT of LAST", f"NEXT(LAST({PAIR} FILTER a.volume = b.volume AND {LARGE}) ; SELL AS c "
         "FILTER c[volume > 9000]) ; BUY AS d FILTER d[volume > 9000] WITHIN 1 second"),
    ceql("condition around a strategy", f"(NEXT({PAIR} FILTER a.volume = b.volume AND {LARGE}) ; "
         "SELL AS c FILTER c.price > a.price) FILTER c[volume > 9000] WITHIN 1 second"),
    ceql("UNLESS a strategy", f"(SELL AS a ; BUY AS b) UNLESS (NEXT(SELL AS c ; BUY AS d FILTER "
         f"c.volume = d.volume)) {RIMM} WITHIN 1 second"),
)  # fmt: skip

OTHERS = (
    *others("sremo", {
        "two registers": "any({SELL: name = 'INTC'} -> x, {BUY: price > x.price} -> y) . skip* . "
                         "{SELL: price < y.price AND volume = x.volume} WITHIN 1 second",
        "plus with a register": "{SELL: name = 'INTC'} -> x . (skip* . {BUY: price > x.price AND "
                         "volume > 4000})+ WITHIN 1 second",
    }),
    *others("sase", {
        "any, Kleene": sase("SELL a, BUY+ b[], SELL c", ANY, "a, b[], c", "[name] AND a.volume > "
                  "4000 AND b[i].volume > 4000 AND b[i].price > a.price", "WITHIN 1 second"),
        "next, no key": sase("SELL a, BUY b, SELL c", NEXT, "a, b, c",
                  "a.volume > 900 AND b.price > a.price AND c.price < a.price", "WITHIN 1 second"),
        "sum": sase("SELL+ a[], BUY b", NEXT, "a[], b",
                  "[name] AND a[1].volume > 4000 AND sum(a[].volume) < 20000", "WITHIN 1 second"),
        "trailing negation, compared": sase("SELL a, BUY b, ~(SELL x)", NEXT, "a, b",
                  "[name] AND a.volume > 4000 AND x.price > b.price", "WITHIN 1 second"),
        "strict, Kleene": sase("SELL+ a[], BUY b", "strict_contiguity", "a[], b",
                  "a[i].price >= a[i-1].price", "WITHIN 1 second"),
    }),
    *others("algebra", {
        "nested": "((BUY(volume > 4000) ; SELL(volume > 4000)) + (BUY(name = 'INTC') ; "
                  "SELL(name = 'RIMM')))_1000",
    }),
    *others("match_recognize", {
        "PERMUTE of 6": match("PATTERN (PERMUTE(a, b, c, d, e, f)) DEFINE a AS volume < 100, b AS "
                  "volume BETWEEN 100 AND 199, c AS volume BETWEEN 200 AND 299, d AS volume "
                  "BETWEEN 300 AND 399, e AS volume BETWEEN 400 AND 999, f AS volume > 999"),
        "PERMUTE of 6, overlapping": match("PATTERN (PERMUTE(a, b, c, d, e, f)) DEFINE a AS volume "
                  "> 100, b AS volume > 200, c AS volume > 300, d AS volume > 400, e AS type = "
                  "'SELL', f AS type = 'BUY'"),
        "reluctant": match("PATTERN (a b*? c) DEFINE a AS volume > 1000, c AS price > PREV(price)"),
        "reluctant, compared": match("PATTERN (a b*? c) DEFINE a AS volume > 1000, c AS price > "
                  "a.price * 1.01"),
        "nested quantifiers": match("PATTERN ((a b+)+ c) DEFINE a AS type = 'SELL', b AS type = "
                  "'BUY', c AS volume > 9000"),
        "aggregates of variables": match("PATTERN (a b+ c) DEFINE b AS avg(b.price) < a.price, c "
                  "AS price > a.price"),
        "average so far": match("PATTERN (a+ b) DEFINE a AS price <= avg(a.price), b AS price > "
                  "avg(a.price)"),
        "next row": match("PATTERN (a b+) DEFINE a AS NEXT(price) > price, b AS price > "
                  "PREV(price)"),
        "skip to next row": match("AFTER MATCH SKIP TO NEXT ROW PATTERN (a b{1,10} c) DEFINE b AS "
                  "price < a.price, c AS price > a.price"),
        "rare end": match("PATTERN (a b* c) DEFINE c AS volume > 2000000"),
        "within": match("PATTERN (a b* c) WITHIN INTERVAL '1' SECOND DEFINE a AS volume > 900, c "
                  "AS price > a.price"),
    }),
)  # fmt: skip

COMBINATIONS = (*COMPARED, *CLAUSES, *STRATEGIES, *OTHERS)
