"""Queries with few or no matches in a stream of stock events, in every language: what `why` is
asked about."""

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
})  # fmt: skip
SREMO = _asked("sremo", {
    "any": "any({SELL: name = 'INTC' AND volume > 20000}, {BUY: name = 'RIMM'}) "
           "WITHIN 10 milliseconds",
    "register": "any({SELL: name = 'INTC' AND volume > 9000} -> x, "
                "{BUY: price > 3 * x.price AND name = 'QQQ'}) WITHIN 1 second",
    "next": "next({SELL: name = 'INTC'}, {BUY: name = 'RIMM' AND volume > 90000}) WITHIN 1 second",
    "negation": "{SELL: name = 'INTC'} . !(skip* . skip{SELL: name = 'RIMM'} . skip*) . "
                "{BUY: name = 'RIMM' AND volume > 50000} WITHIN 1 second",
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
})  # fmt: skip
PAR = _asked("par", {
    "sequence": "repeat (BUY(volume > 50000) ; SELL(volume > 90000)[pair])",
    "preemption": "repeat (try BUY(name = 'INTC') ; SELL(volume > 90000)[pair] "
                  "unless SELL(volume > 4000))",
    "a wrong constant": "repeat (BUY(volume > 1000000) ; SELL[sold])",
})  # fmt: skip
PAR_KEYED = _asked("par", {
    "keys": "repeat (BUY(volume > 20000) ; SELL(volume > 50000)[pair])",
}, ("name",))  # fmt: skip
ALGEBRA = _asked("algebra", {
    "sequence": "(BUY(volume > 50000) ; SELL(volume > 50000))_1000",
    "conjunction": "(BUY(volume > 90000) + SELL(volume > 50000))_1000",
    "negation": "(BUY(volume > 50000) ; SELL(volume > 50000)) - SELL(volume > 4000)",
    "a wrong constant": "(BUY(volume > 1000000) ; SELL(volume > 4000))_1000",
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
})  # fmt: skip

ASKED = (*CEQL, *SREMO, *SASE, *PAR, *PAR_KEYED, *ALGEBRA, *MATCH_RECOGNIZE)
