"""Queries with few or no matches in the stock stream, in every language, for `bench.kinds.why`."""

from __future__ import annotations

from typing import NamedTuple


class Asked(NamedTuple):
    name: str
    text: str
    dialect: str
    keys: tuple[str, ...] = ()


def _asked(dialect: str, texts: dict[str, str], keys: tuple[str, ...] = ()) -> tuple[Asked, ...]:
    return tuple(Asked(f"{dialect}: {name}", text, dialect, keys) for name, text in texts.items())


PAIR = "SELECT * WHERE SELL AS a ; BUY AS b"
TRIPLE = (
    "SELECT * WHERE SELL AS a ; BUY AS b ; SELL AS c FILTER a[name = 'INTC'] AND b[name = 'RIMM'] "
    "AND c[name = 'QQQ']"
)
CEQL = _asked("ceql", {
    "a misspelt type": "SELECT * WHERE SEL AS a ; BUY AS b WITHIN 10 seconds",
    "a wrong constant": f"{PAIR} FILTER a[volume > 1000000] AND b[name = 'RIMM'] WITHIN 1 second",
    "a narrow window": f"{TRIPLE} WITHIN 1 millisecond",
    "three steps": f"{TRIPLE} AND c[volume > 90000] WITHIN 1 second",
    "a comparison": f"{PAIR} FILTER a[volume > 9000] AND b[volume > 9000] AND a.price * 3 < b.price"
                    " AND a.name = b.name WITHIN 10 seconds",
    "keys": "SELECT * WHERE SELL AS a ; BUY AS b ; SELL AS c FILTER a[volume > 9000] AND "
            "b[volume > 9000] AND c[volume > 50000] PARTITION BY name WITHIN 1 second",
    "a plus": "SELECT * WHERE SELL AS a ; BUY+ AS b ; SELL AS c FILTER a[volume > 20000] AND "
              "b[volume > 9000] AND c[volume > 50000] WITHIN 1 second",
    "contiguous": "SELECT * WHERE SELL AS a : BUY AS b : SELL AS c FILTER a[volume > 9000] AND "
                  "b[volume > 9000] AND c[volume > 9000] WITHIN 10 seconds",
    "UNLESS": "SELECT * WHERE (SELL AS a ; BUY AS b) UNLESS SELL AS x FILTER a[volume > 9000] AND "
              "b[volume > 20000] WITHIN 1 second",
    "NEXT": "SELECT NEXT * WHERE SELL AS a ; BUY AS b ; SELL AS c FILTER a[volume > 20000] AND "
            "b[volume > 9000] AND c[volume > 50000] WITHIN 10 seconds",
    "consumption": "SELECT * WHERE SELL AS a ; BUY AS b FILTER a[volume > 20000] AND "
                   "b[volume > 20000] WITHIN 10 seconds CONSUME BY ANY",
    "LAST of a plus": "SELECT LAST * WHERE SELL AS a ; BUY+ AS b FILTER a[volume > 20000] AND "
                      "b[volume > 20000] AND a.name = b.name WITHIN 1 second",
    "MAX": "SELECT MAX * WHERE SELL AS a ; BUY+ AS b ; SELL AS c FILTER a[volume > 20000] AND "
           "b[volume > 20000] AND c[volume > 50000] WITHIN 1 second",
    "ALL": "SELECT * WHERE SELL AS a ALL BUY AS b FILTER a[volume > 50000] AND b[volume > 50000] "
           "WITHIN 100 milliseconds",
    "OR": "SELECT * WHERE (SELL AS a OR BUY AS b) ; SELL AS c FILTER a[volume > 50000] AND "
          "b[volume > 50000] AND c[volume > 90000] WITHIN 1 second",
    "STRICT": "SELECT STRICT * WHERE SELL AS a ; BUY AS b ; SELL AS c FILTER a[volume > 9000] AND "
              "c[volume > 9000] WITHIN 100 events",
    "keys and consumption": "SELECT * WHERE SELL AS a ; BUY AS b ; SELL AS c FILTER "
                            "a[volume > 9000] AND b[price > 100] PARTITION BY name "
                            "WITHIN 10 seconds CONSUME BY ANY",
    "no window": "SELECT NEXT * WHERE SELL AS a ; BUY AS b ; SELL AS c FILTER a[volume > 50000] "
                 "AND b[volume > 50000] AND c[volume > 100000]",
    "rising": "SELECT * WHERE SELL AS a ; SELL AS b ; SELL AS c FILTER a[volume > 4000] AND "
              "a.volume * 2 < b.volume AND b.volume * 2 < c.volume AND a.name = b.name AND "
              "b.name = c.name WITHIN 1 second",
    "five comparisons": "SELECT * WHERE SELL AS a ; BUY AS b ; SELL AS c FILTER a[volume > 4000] "
                        "AND a.name = b.name AND b.name = c.name AND a.price < b.price AND "
                        "b.price < c.price AND a.volume * 3 < c.volume WITHIN 1 second",
    "MAX of two pluses": "SELECT MAX * WHERE SELL+ AS a ; BUY+ AS b FILTER a[volume > 20000] AND "
                         "b[volume > 50000] WITHIN 1 second",
    "MAX of comparisons": "SELECT MAX * WHERE SELL AS a ; BUY+ AS b FILTER a[volume > 20000] AND "
                          "b[volume > 9000] AND a.name = b.name AND b.price > 2 * a.price "
                          "WITHIN 1 second",
    "five steps": "SELECT * WHERE SELL AS a ; BUY AS b ; SELL AS c ; BUY AS d ; SELL AS e FILTER "
                  "a[volume > 20000] AND b[volume > 9000] AND c[volume > 9000] AND "
                  "d[volume > 9000] AND e[volume > 90000] WITHIN 1 second",
})  # fmt: skip
SREMO = _asked("sremo", {
    "any": "any({SELL: name = 'INTC' AND volume > 20000}, {BUY: name = 'RIMM'}) "
           "WITHIN 10 milliseconds",
    "register": "any({SELL: name = 'INTC' AND volume > 9000} -> x, "
                "{BUY: price > 3 * x.price AND name = 'QQQ'}) WITHIN 1 second",
    "next": "next({SELL: name = 'INTC'}, {BUY: name = 'RIMM' AND volume > 90000}) WITHIN 1 second",
    "negation": "{SELL: name = 'INTC'} . !(skip* . skip{SELL: name = 'RIMM'} . skip*) . "
                "{BUY: name = 'RIMM' AND volume > 50000} WITHIN 1 second",
    "contiguous": "{SELL: volume > 9000} . {BUY: volume > 9000} . {SELL: volume > 9000}",
    "plus": "any({SELL: name = 'INTC' AND volume > 9000}, {BUY: name = 'RIMM' AND volume > 9000}+,"
            " {SELL: volume > 90000}) WITHIN 1 second",
    "two registers": "any({SELL: volume > 9000} -> x, {BUY: name = x.name} -> y, "
                     "{SELL: name = y.name AND price > 2 * x.price AND volume > y.volume}) "
                     "WITHIN 1 second",
})  # fmt: skip
SASE = _asked("sase", {
    "next": "PATTERN SEQ(SELL a, BUY b, SELL c) WHERE skip_till_next_match(a, b, c) { [name] AND "
            "a.volume > 9000 AND b.price > 2 * a.price AND c.price < b.price } WITHIN 1 second",
    "any": "PATTERN SEQ(SELL a, BUY b) WHERE skip_till_any_match(a, b) { [name] AND "
           "a.volume > 20000 AND b.volume > 20000 } WITHIN 1 second",
    "strict": "PATTERN SEQ(SELL a, BUY b) WHERE strict_contiguity(a, b) { a.volume = b.volume AND "
              "a.volume > 20000 } WITHIN 1 second",
    "a wrong constant": "PATTERN SEQ(SELL a, BUY b) WHERE a.volume > 1000000 AND b.volume > 9000 "
                        "WITHIN 10 seconds",
    "Kleene": "PATTERN SEQ(SELL a, BUY+ b[], SELL c) WHERE skip_till_next_match(a, b[]!, c) { "
              "[name] AND a.volume > 20000 AND b[i].price > b[i-1].price } WITHIN 1 second",
    "negation": "PATTERN SEQ(SELL a, ~(SELL x), BUY b) WHERE skip_till_next_match(a, b) { [name] "
                "AND a.volume > 20000 AND b.volume > 20000 AND x.volume > 9000 } WITHIN 1 second",
    "leading negation": "PATTERN SEQ(~(SELL x), SELL a, BUY b) WHERE skip_till_next_match(a, b) { "
                        "[name] AND a.volume > 20000 AND b.volume > 20000 AND x.volume > 4000 } "
                        "WITHIN 1 second",
    "trailing negation": "PATTERN SEQ(SELL a, BUY b, ~(SELL x)) WHERE skip_till_next_match(a, b) "
                         "{ [name] AND a.volume > 20000 AND b.volume > 20000 } WITHIN 1 second",
    "partition contiguity": "PATTERN SEQ(SELL a, BUY b, SELL c) WHERE partition_contiguity(a, b, c)"
                            " { [name] AND a.volume > 4000 AND b.volume > 4000 AND "
                            "c.price > 2 * a.price } WITHIN 10 seconds",
    "aggregate": "PATTERN SEQ(SELL a, BUY+ b[], SELL c) WHERE skip_till_next_match(a, b[], c) { "
                 "[name] AND a.volume > 20000 AND sum(b[].volume) > 1000000 AND c.volume > 9000 } "
                 "WITHIN 1 second",
    "five comparisons": "PATTERN SEQ(SELL a, BUY b, SELL c) WHERE skip_till_any_match(a, b, c) { "
                        "[name] AND a.volume > 9000 AND a.price < b.price AND b.price < c.price "
                        "AND a.volume < b.volume AND b.volume < c.volume AND "
                        "a.price * 2 < c.price } WITHIN 1 second",
})  # fmt: skip
PAR = _asked("par", {
    "sequence": "repeat (BUY(volume > 50000) ; SELL(volume > 90000)[pair])",
    "preemption": "repeat (try BUY(name = 'INTC') ; SELL(volume > 90000)[pair] "
                  "unless SELL(volume > 4000))",
    "a wrong constant": "repeat (BUY(volume > 1000000) ; SELL[sold])",
    "choice": "repeat ((BUY(volume > 50000) ; SELL(volume > 90000)[pair]) | "
              "SELL(volume > 500000)[big])",
    "three steps": "repeat (BUY(volume > 50000) ; SELL(volume > 50000) ; "
                   "BUY(volume > 200000)[triple])",
})  # fmt: skip
PAR_KEYED = _asked("par", {
    "keys": "repeat (BUY(volume > 20000) ; SELL(volume > 50000)[pair])",
}, ("name",))  # fmt: skip
ALGEBRA = _asked("algebra", {
    "sequence": "(BUY(volume > 50000) ; SELL(volume > 50000))_1000",
    "conjunction": "(BUY(volume > 90000) + SELL(volume > 50000))_1000",
    "negation": "(BUY(volume > 50000) ; SELL(volume > 50000)) - SELL(volume > 4000)",
    "a wrong constant": "(BUY(volume > 1000000) ; SELL(volume > 4000))_1000",
    "three steps": "(BUY(volume > 50000) ; SELL(volume > 50000) ; BUY(volume > 50000))_100",
    "four steps": "(BUY(volume > 50000) ; SELL(volume > 50000) ; BUY(volume > 50000) ; "
                  "SELL(volume > 90000))_1000",
})  # fmt: skip


def _clause(body: str) -> str:
    return f"MATCH_RECOGNIZE (PARTITION BY name ORDER BY stock_time MEASURES count(*) AS n {body})"


MATCH_RECOGNIZE = _asked("match_recognize", {
    "a wrong constant": _clause("PATTERN (a b) DEFINE a AS volume > 1000000, b AS type = 'BUY'"),
    "two steps": _clause("PATTERN (a b) DEFINE a AS type = 'SELL' AND volume > 20000, "
                         "b AS type = 'BUY' AND volume > 20000"),
    "V-shape": _clause("PATTERN (s d+ u+ e) DEFINE d AS price < PREV(price), "
                       "u AS price > PREV(price), e AS volume > 90000"),
    "first": _clause("PATTERN (a b+ c) DEFINE a AS volume > 20000, b AS price < FIRST(a.price), "
                     "c AS price > 2 * a.price"),
    "W-shape": _clause("PATTERN (s d+ u+ w+ v+ e) DEFINE d AS price < PREV(price), "
                       "u AS price > PREV(price), w AS price < PREV(price), "
                       "v AS price > PREV(price), e AS volume > 90000"),
    "eight parts": _clause("PATTERN (s d+ u+ w+ v+ x+ y+ e) DEFINE d AS price < PREV(price), "
                           "u AS price > PREV(price), w AS price < PREV(price), "
                           "v AS price > PREV(price), x AS price < PREV(price), "
                           "y AS price > PREV(price), e AS volume > 90000"),
    "five conditions": _clause("PATTERN (a b c) DEFINE a AS volume > 4000, b AS price > a.price "
                               "AND volume > a.volume AND type <> a.type, c AS price > b.price AND "
                               "volume > 2 * b.volume"),
    "SUBSET": _clause("AFTER MATCH SKIP PAST LAST ROW PATTERN (a b+ c) SUBSET u = (a, b) DEFINE "
                      "a AS volume > 9000, b AS price < AVG(u.price), "
                      "c AS volume > 90000 AND price > 2 * LAST(u.price)"),
    "aggregate": _clause("PATTERN (a b* c) DEFINE a AS volume > 9000, b AS SUM(b.volume) < 1000, "
                         "c AS price > 1.5 * a.price"),
    "alternation": _clause("PATTERN ((a | b) c{2,4} d) DEFINE a AS volume > 50000, "
                           "b AS price > 1000, c AS type = 'BUY', d AS volume > 50000"),
    "PERMUTE": _clause("PATTERN (PERMUTE(a, b, c)) DEFINE a AS volume > 9000 AND type = 'BUY', "
                       "b AS volume > 9000 AND type = 'SELL', c AS volume > 20000"),
    "exclusion": _clause("ALL ROWS PER MATCH PATTERN (a {- b* -} c) DEFINE a AS volume > 20000, "
                         "b AS volume < 100, c AS volume > 20000"),
    "reluctant": _clause("PATTERN (a b*? c) DEFINE a AS volume > 50000, c AS volume > 90000"),
})  # fmt: skip

ASKED = (*CEQL, *SREMO, *SASE, *PAR, *PAR_KEYED, *ALGEBRA, *MATCH_RECOGNIZE)
