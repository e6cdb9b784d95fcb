"""More kinds of queries for `bench.kinds.cliffs`: operators × strategies × conditions × clauses,
also in combinations that few users write.
"""

from __future__ import annotations

from bench.kinds.queries import ANY, NEXT, PAIR, RIMM, ceql, others, sase

EQUAL, ORDER = "a.volume = b.volume", "a.price < b.price"
LARGE = "a[volume > 9000] AND b[volume > 9000]"
C = "SELL AS c FILTER c[volume > 9000]"
SECOND = "WITHIN 1 second"

STRATEGIES = (
    ceql("NEXT of LAST, every event", f"NEXT(LAST({PAIR} FILTER {EQUAL}) ; {C}) {SECOND}"),
    ceql("LAST of NEXT, order", f"LAST(NEXT({PAIR} FILTER {ORDER} AND a[volume > 4000]) ; {C}) "
         f"{SECOND}"),
    ceql("NEXT inside, order", f"NEXT({PAIR} FILTER {ORDER} AND a[volume > 900]) ; {C} {SECOND}"),
    ceql("LAST inside, order, every event", f"LAST({PAIR} FILTER {ORDER}) ; {C} {SECOND}"),
    ceql("NEXT inside, begins with NOT", f"NEXT((NOT(BUY) : SELL AS a) ; BUY AS b FILTER {EQUAL}) "
         f"; {C} {SECOND}"),
    ceql("NEXT inside, events", f"NEXT({PAIR} FILTER {ORDER}) ; {C} WITHIN 100 EVENTS"),
    ceql("NEXT inside, keyed", f"NEXT({PAIR} FILTER {ORDER}) ; SELL AS c PARTITION BY name "
         f"{SECOND}"),
    ceql("NEXT inside, CONSUME", f"NEXT({PAIR} FILTER {ORDER}) ; SELL AS c {SECOND} CONSUME BY "
         "ANY"),
    ceql("MAX inside, plus with an order", f"MAX(SELL AS a ; BUY+ AS b FILTER {ORDER} AND {LARGE})"
         f" ; {C} {SECOND}"),
    ceql("NEXT inside, plus with an order", f"NEXT(SELL AS a ; BUY+ AS b FILTER {ORDER} AND "
         f"{LARGE}) ; {C} {SECOND}"),
    ceql("LAST inside, total", "LAST(SELL AS a ; BUY:+ AS b FILTER sum(b.volume) > 4 * a.volume "
         f"AND a[volume > 4000]) ; {C} {SECOND}"),
    ceql("STRICT of NEXT", f"STRICT(NEXT({PAIR} FILTER {EQUAL} AND {LARGE}) ; {C}) {SECOND}"),
    ceql("STRICT of NEXT, every event", f"STRICT(NEXT({PAIR} FILTER {EQUAL}) ; SELL AS c) "
         f"{SECOND}"),
    ceql("AND with NEXT, every event", f"NEXT({PAIR} FILTER {EQUAL}) AND (SELL AS a : BUY AS b) "
         f"{SECOND}"),
    ceql("condition on NEXT, every event", f"(NEXT({PAIR} FILTER {EQUAL}) FILTER {ORDER}) "
         f"{SECOND}"),
    ceql("window of LAST, every event", f"(LAST({PAIR} FILTER {ORDER})) WITHIN 100 milliseconds ; "
         f"{C} {SECOND}"),
    ceql("NEXT behind a colon, every event", f"SELL AS d : NEXT({PAIR} FILTER {EQUAL}) {SECOND}"),
    ceql("NEXT behind a colon", f"SELL AS d : NEXT({PAIR} FILTER {EQUAL} AND {LARGE}) {SECOND}"),
    ceql("strategies side by side in AND", f"NEXT({PAIR} FILTER {EQUAL} AND {LARGE}) AND "
         f"LAST({PAIR} FILTER {ORDER} AND {LARGE}) {SECOND}"),
    ceql("strategy in ALL", f"NEXT({PAIR} FILTER {EQUAL} AND {LARGE}) ALL ({C}) {SECOND}"),
    ceql("NEXT in ALL, every event", f"NEXT({PAIR} FILTER {EQUAL}) ALL ({C}) {SECOND}"),
    ceql("LAST in ALL, order, every event", f"LAST({PAIR} FILTER {ORDER}) ALL ({C}) {SECOND}"),
    ceql("COUNT of NEXT inside, every event", f"NEXT({PAIR} FILTER {EQUAL}) ; SELL AS c {SECOND}",
         select="COUNT(*)"),
    ceql("STRICT around NEXT, every event", f"NEXT({PAIR} FILTER {EQUAL}) ; SELL AS c {SECOND}",
         select="STRICT *"),
    ceql("LAST behind a colon, every event", f"SELL AS d : LAST({PAIR} FILTER {ORDER}) {SECOND}"),
    ceql("unseen plus with an order", f"SELL+ AS a ; BUY AS b FILTER {ORDER} {SECOND}",
         select="b"),
    ceql("MAX over an order, plus, keyed", f"SELL AS a ; BUY+ AS b FILTER {ORDER} AND "
         f"b[volume > 4000] PARTITION BY name {SECOND}", select="MAX *"),
    ceql("LAST over UNLESS", f"({PAIR}) UNLESS (SELL AS c ; BUY AS d FILTER c.volume = d.volume) "
         f"{RIMM} {SECOND}", select="LAST *"),
    ceql("NEXT, WITHOUT compared", f"({PAIR} {RIMM}) WITHOUT (SELL AS n FILTER n.price > a.price) "
         f"{SECOND}", select="NEXT *"),
    ceql("STRICT, plus with an order", f"SELL AS a ; BUY+ AS b FILTER {ORDER} {SECOND}",
         select="STRICT *"),
)  # fmt: skip

CLAUSES = (
    ceql("window in events, plus with an order", f"SELL AS a ; BUY+ AS b ; SELL AS c FILTER {ORDER}"
         " AND b[volume > 4000] AND c[volume > 9000] AND a[volume > 4000] WITHIN 200 EVENTS"),
    ceql("COUNT, window in events, order", f"{PAIR} FILTER {ORDER} WITHIN 200 EVENTS",
         select="COUNT(*)"),
    ceql("COUNT, order, 10 s", f"{PAIR} FILTER {ORDER} WITHIN 10 seconds", select="COUNT(*)"),
    ceql("COUNT, order, 1 hour", f"{PAIR} FILTER {ORDER} WITHIN 1 hour", select="COUNT(*)"),
    ceql("COUNT of a plus, order at the end", "SELL AS a ; BUY+ AS b ; SELL AS c FILTER a.price < "
         "c.price WITHIN 10 seconds", select="COUNT(*)"),
    ceql("COUNT of a plus, order", f"SELL AS a ; BUY+ AS b FILTER {ORDER} AND b[volume > 4000] "
         f"{SECOND}", select="COUNT(*)"),
    ceql("COUNT, WITHOUT", f"({PAIR}) WITHOUT (SELL AS n FILTER n[volume > 4000]) {SECOND}",
         select="COUNT(*)"),
    ceql("COUNT and MAX, keyed, order", f"{PAIR} FILTER {ORDER} PARTITION BY name WITHIN 10 "
         "seconds", select="COUNT(*), MAX(b.price)"),
    ceql("COUNT, contiguous plus with a total", "SELL AS a ; BUY:+ AS b FILTER sum(b.volume) > 4 * "
         f"a.volume {SECOND}", select="COUNT(*)"),
    ceql("CONSUME, plus, keyed", "SELL AS a ; BUY+ AS b ; SELL AS c FILTER b[volume > 4000] "
         f"PARTITION BY name {SECOND} CONSUME BY PARTITION"),
    ceql("CONSUME, order, no window", f"{PAIR} FILTER {ORDER} CONSUME BY ANY"),
    ceql("CONSUME, equality, keyed, events", f"{PAIR} FILTER {EQUAL} PARTITION BY name WITHIN 50 "
         "EVENTS CONSUME BY PARTITION"),
    ceql("NOT FOLLOWED BY, keyed, compared", f"({PAIR}) NOT FOLLOWED BY (SELL AS n FILTER n.price "
         f"> b.price) {SECOND} PARTITION BY name {SECOND}"),
    ceql("timeouts, keyed", f"{PAIR} FILTER {ORDER} AND a[volume > 4000] PARTITION BY name {SECOND}"
         " WITH TIMEOUTS"),
    ceql("RETURN, plus, keyed", "SELL AS a : BUY:+ AS b : SELL AS c FILTER b.price >= a.price "
         f"PARTITION BY name {SECOND} RETURN a.price, count(b) AS n, avg(b.price) AS m"),
    ceql("prev, keyed, no window", "BUY AS a : BUY:+ AS b FILTER b.price > prev(b.price) AND "
         "b.price > a.price PARTITION BY name LIMIT 1"),
    ceql("gap, plus, order", f"SELL AS a ;[100 milliseconds] BUY+ AS b FILTER {ORDER} AND {LARGE} "
         f"{SECOND}"),
    ceql("UNTIL compared", f"SELL AS a ; (BUY AS b)+ UNTIL SELL FILTER a[name = 'INTC'] AND "
         f"{ORDER} AND b[volume > 4000] {SECOND}"),
    ceql("ALL of three, order", "(SELL AS a ALL BUY AS b ALL SELL AS c) FILTER a.price < b.price "
         f"AND b.price < c.price AND {LARGE} AND c[volume > 9000] {SECOND}"),
    ceql("AND with registers", f"({PAIR} FILTER {ORDER}) AND (SELL AS c ; BUY AS d FILTER c.volume "
         f"= d.volume) {SECOND}"),
    ceql("UNLESS, exception total", f"({PAIR}) UNLESS (SELL AS c ; BUY:+ AS d FILTER "
         f"sum(d.volume) > 4 * c.volume) {RIMM} {SECOND}"),
    ceql("UNLESS compared, keyed", f"({PAIR}) UNLESS (SELL AS c ; BUY AS d FILTER c.price < "
         f"d.price) PARTITION BY name {SECOND}"),
    ceql("average and order", "SELL AS a ; BUY:+ AS b ; SELL AS c FILTER avg(b.price) > a.price AND"
         f" c.price > a.price AND a[volume > 4000] {SECOND}"),
    ceql("min and max of a plus", "SELL AS a ; BUY+ AS b ; SELL AS c FILTER max(b.price) < "
         f"c.price AND min(b.price) > a.price AND {LARGE} AND c[volume > 9000] {SECOND}"),
    ceql("LIKE against a set", f"SELL+ AS a ; BUY AS b FILTER concat(a.name, b.name) LIKE '%IN%' "
         f"AND {LARGE} {SECOND}"),
    ceql("modulo between events", f"{PAIR} FILTER (a.volume + b.volume) % 7 = 0 AND a[volume > 900]"
         f" {SECOND}"),
    ceql("equality of sums", "SELL AS a ; BUY AS b ; SELL AS c FILTER a.volume + b.volume = "
         f"c.volume AND a[volume > 4000] {SECOND}"),
    ceql("optional parts", f"SELL AS a ; (BUY AS b)? ; (SELL AS c)? ; BUY AS d FILTER {ORDER} AND "
         f"{LARGE} AND c[volume > 9000] AND d[volume > 9000] {SECOND}"),
    ceql("plus of OR with an order", f"SELL AS a ; (BUY AS b OR SELL AS b)+ FILTER {ORDER} AND "
         f"{LARGE} {SECOND}"),
    ceql("one hour, equality", f"{PAIR} FILTER {EQUAL} AND a[volume > 4000] WITHIN 1 hour LIMIT 1"),
    ceql("one hour, three events, LIMIT", f"{PAIR} ; SELL AS c FILTER {ORDER} AND c.price > "
         "a.price WITHIN 1 hour LIMIT 1"),
    ceql("one hour, two orders, LIMIT", f"{PAIR} ; SELL AS c FILTER {ORDER} AND c.volume > "
         "a.volume WITHIN 1 hour LIMIT 1"),
    ceql("one hour, NEXT of an order", f"{PAIR} FILTER {ORDER} WITHIN 1 hour", select="NEXT *"),
    ceql("one hour, NEXT of a sequence", f"{PAIR} ; SELL AS c WITHIN 1 hour", select="NEXT *"),
    ceql("one hour, LAST of an order", f"{PAIR} FILTER {ORDER} WITHIN 1 hour", select="LAST *"),
)  # fmt: skip

OTHERS = (
    *others("sremo", {
        "negation in a star": "{SELL: name = 'INTC'} -> x . (!(skip* . skip{SELL: price > x.price} "
                  ". skip*) . {BUY: volume > 4000})+ WITHIN 1 second",
        "last value of a star": "{SELL: name = 'INTC'} . (skip* . {BUY: volume > 4000} -> y)+ . "
                  "skip* . {SELL: price > y.price AND volume > 4000} WITHIN 1 second",
        "three registers": "any({SELL: volume > 4000} -> x, {BUY: price > x.price} -> y, {SELL: "
                  "price > y.price} -> z) . skip* . {BUY: price > z.price AND volume > 9000} "
                  "WITHIN 1 second",
        "intersection, negation": "({SELL: name = 'INTC'} -> x . skip* . {BUY: price > x.price}) & "
                  "!(skip* . skip{SELL: volume > 9000} . skip*) WITHIN 1 second",
        "window in events, register": "({SELL: } -> x . skip* . {BUY: price = x.price})[1..50]",
    }),
    *others("sase", {
        "any, no key": sase("SELL a, BUY b", ANY, "a, b", "a.volume > 4000 AND b.price > a.price",
                  "WITHIN 1 second"),
        "partition contiguity": sase("SELL+ a[], BUY b", "partition_contiguity", "a[], b",
                  "[name] AND a[i].price >= a[i-1].price AND b.price < a[1].price",
                  "WITHIN 10 seconds"),
        "two Kleenes": sase("SELL+ a[], BUY+ b[], SELL c", NEXT, "a[], b[], c",
                  "[name] AND a[1].volume > 900 AND a[i].price > a[i-1].price AND b[i].price < "
                  "a[a.LEN].price AND c.price > a[1].price", "WITHIN 10 seconds"),
        "negation between Kleenes": sase("SELL+ a[], ~(SELL x), BUY b", NEXT, "a[], b",
                  "[name] AND a[1].volume > 4000 AND x.price > a[1].price", "WITHIN 1 second"),
        "average, events": sase("SELL+ a[], BUY b", NEXT, "a[], b",
                  "[name] AND a[i].price > avg(a[..i-1].price) AND b.volume > 4000",
                  "WITHIN 100 events"),
        "no window": sase("SELL a, BUY b, SELL c", NEXT, "a, b, c",
                  "[name] AND a.volume > 9000 AND b.price > a.price AND c.price < a.price",
                  "WITHIN 1 hour"),
    }),
    *others("par", {
        "selection of sequences": "repeat ((BUY(volume > 4000)[large] ; SELL(volume > 4000)) | "
                    "(SELL(name = 'INTC') ; BUY(name = 'INTC')[back]))",
        "nested preemption": "repeat (try (try BUY(volume > 900) ; SELL(volume > 900)[pair] unless "
                    "SELL(volume > 4000)) ; BUY[end] unless BUY(volume > 9000))",
    }),
    *others("algebra", {
        "negation of a sequence": "(BUY(volume > 900) ; SELL(volume > 900))_100 - (BUY(name = "
                  "'INTC') ; SELL(name = 'INTC'))",
        "five parts": "(BUY ; SELL ; BUY(volume > 900) ; SELL(volume > 900) ; BUY(volume > "
                  "4000))_10000",
        "conjunction of four": "(BUY(name = 'INTC') + SELL(name = 'INTC') + BUY(name = 'RIMM') + "
                  "SELL(name = 'RIMM'))_1000",
    }),
    *others("algebra", {
        "conjunction, by name": "(BUY(volume > 4000) + SELL(volume > 4000))_1000",
        "negation, by name": "(BUY ; SELL)_100 - (BUY(volume > 4000) ; SELL(volume > 4000))",
    }, keys="name"),
)  # fmt: skip

CROSSINGS = (*STRATEGIES, *CLAUSES, *OTHERS)
