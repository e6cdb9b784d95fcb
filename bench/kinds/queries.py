"""Kinds of queries over the stock stream, for `bench.kinds.cliffs`: every operator, strategy, kind
of condition, consumption, counting and negation, keyed and not, in all languages."""

from __future__ import annotations

from typing import NamedTuple


class Case(NamedTuple):
    """A query; `reads` says which stream: the stock events, `types`, twelve types of event, or
    `columns`, with decimals, times and strings."""

    name: str
    text: str
    dialect: str = "ceql"
    reads: str = "stocks"
    keys: str = ""
    counted: bool = False


def ceql(name: str, pattern: str, *, select: str = "*", **options: str) -> Case:
    return Case(name, f"SELECT {select} WHERE {pattern}", **options)  # type: ignore[arg-type]


RIMM = "FILTER a[name = 'RIMM'] AND b[name = 'RIMM']"
THREE = "SELL AS a ; BUY AS b ; SELL AS c FILTER a[name = 'INTC'] AND b[name = 'RIMM']"
OPERATORS = (
    ceql("sequence", f"{THREE} WITHIN 1 second"),
    ceql("contiguous", "SELL AS a : BUY AS b : SELL AS c WITHIN 1 second"),
    ceql("Kleene plus", "SELL AS a ; BUY+ AS b ; SELL AS c FILTER BUY[volume > 9000] AND "
          "a[name = 'INTC'] AND c[name = 'RIMM'] WITHIN 1 second"),
    ceql("contiguous plus", "SELL AS a : BUY:+ AS b : SELL AS c WITHIN 1 second"),
    ceql("plus over a sequence", "(SELL AS a : BUY AS b):+ ; SELL AS c FILTER a[volume > 4000] "
          "WITHIN 1 second"),
    ceql("OR", "(SELL AS a ; BUY AS b) OR (BUY AS a : SELL AS b) FILTER a[name = 'INTC'] AND "
          "b[name = 'RIMM'] WITHIN 1 second"),
    ceql("AND", f"(SELL AS a ; BUY AS b) AND (SELL ; BUY) {RIMM} WITHIN 1 second"),
    ceql("ALL of 2", f"SELL AS a ALL BUY AS b {RIMM} WITHIN 1 second"),
    ceql("ALL of 12 types", " ALL ".join(f"T{n}" for n in range(12)) + " WITHIN 1 second LIMIT 1",
          reads="types"),
    ceql("ALL of 12 types, no window", " ALL ".join(f"T{n}" for n in range(12)) + " LIMIT 1",
          reads="types"),
    ceql("UNLESS", f"(SELL AS a ; BUY AS b) UNLESS (BUY AS c FILTER c[volume > 9000]) {RIMM} "
          "WITHIN 1 second"),
    ceql("UNLESS, exception compares", "(SELL AS a ; BUY AS b) UNLESS (SELL AS c ; BUY AS d FILTER"
          f" c.volume = d.volume AND c[volume > 4000]) {RIMM} WITHIN 1 second"),
    ceql("UNLESS, exception orders", "(SELL AS a ; BUY AS b) UNLESS (SELL AS c ; BUY AS d FILTER"
          f" c.price < d.price AND c[volume > 4000]) {RIMM} WITHIN 1 second"),
    ceql("NOT between", f"SELL AS a : NOT(SELL) : BUY AS b {RIMM} WITHIN 1 second"),
    ceql("START", f"START(BUY AS a ; BUY AS b) {RIMM} WITHIN 1 second"),
    ceql("PROJECT", f"PROJECT[a, c](SELL AS a ; BUY AS b ; SELL AS c {RIMM}) WITHIN 1 second"),
    ceql("trailing NOT", f"SELL AS a ; BUY AS b : NOT(BUY) {RIMM} WITHIN 1 second"),
    ceql("variables", f"SELL AS a ; BUY AS b {RIMM} WITHIN 1 second", select="a, b"),
    ceql("one variable of three", f"{THREE} WITHIN 1 second", select="b"),
    ceql("attributes", f"SELL AS a ; BUY AS b {RIMM} WITHIN 1 second",
          select="a[price], b[price, volume]"),
)  # fmt: skip

PAIR = "SELL AS a ; BUY AS b"
CONDITIONS = (
    ceql("equality", f"{PAIR} FILTER a.volume = b.volume AND a[name = 'INTC'] WITHIN 1 second"),
    ceql("order of numbers", f"{PAIR} FILTER a.price < b.price AND a[volume > 4000] "
          "WITHIN 1 second"),
    ceql("order of numbers, plus", "SELL+ AS a ; BUY AS b FILTER a.price < b.price AND "
          "a[volume > 9000] AND b[volume > 4000] WITHIN 1 second"),
    ceql("order of strings", f"{PAIR} FILTER a.name < b.name AND a[volume > 4000] AND "
          "b[volume > 4000] WITHIN 1 second"),
    ceql("unequal strings", f"{PAIR} FILTER a.name != b.name AND a[volume > 4000] AND "
          "b[volume > 4000] WITHIN 1 second"),
    ceql("unequal to a set", "SELL+ AS a ; BUY AS b FILTER a.price != b.price AND "
          "a[volume > 9000] AND b[volume > 4000] WITHIN 1 second"),
    ceql("arithmetic", f"{PAIR} FILTER a.price * 2 < b.price AND a[volume > 4000] AND "
          "b[volume > 4000] WITHIN 1 second"),
    ceql("arithmetic over three", "SELL AS a ; BUY AS b ; SELL AS c FILTER a.price + b.price < "
          "c.price AND a[volume > 4000] AND b[volume > 4000] AND c[volume > 4000] "
          "WITHIN 1 second"),
    ceql("arithmetic against a set", "SELL+ AS a ; BUY AS b FILTER a.price + b.price > 100 AND "
          "a[volume > 9000] AND b[volume > 4000] WITHIN 1 second"),
    ceql("CASE between events", f"{PAIR} FILTER CASE WHEN a.volume > b.volume THEN a.price ELSE "
          "b.price END > 30 AND a[volume > 4000] WITHIN 1 second"),
    ceql("LIKE between events", f"{PAIR} FILTER concat(a.name, b.name) LIKE '%CR%' AND "
          "a[volume > 4000] WITHIN 1 second"),
    ceql("function between events", f"{PAIR} FILTER abs(a.price - b.price) < 0.01 AND "
          "a[volume > 4000] WITHIN 1 second"),
    ceql("string function between events", f"{PAIR} FILTER upper(a.name) = lower(b.name) AND "
          "a[volume > 4000] WITHIN 1 second"),
    ceql("function of two strings", f"{PAIR} FILTER concat(a.name, b.name) = 'INTCRIMM' AND "
          "a[volume > 4000] WITHIN 1 second"),
    ceql("OR of comparisons", f"{PAIR} FILTER (a.price < b.price OR a.volume = b.volume) AND "
          "a[volume > 4000] WITHIN 1 second"),
    ceql("total of a set", "SELL AS a ; BUY:+ AS b FILTER sum(b.volume) > 4 * a.volume "
          "WITHIN 1 second"),
    ceql("conditions per round", "(SELL AS a ; BUY AS b FILTER a.price = b.price AND "
          "a[volume > 9000])+ WITHIN 1 second"),
)  # fmt: skip

STRATEGIES = (
    *(ceql(f"{s} in a window", f"{THREE} WITHIN 10 seconds", select=f"{s} *")
      for s in ("NEXT", "LAST", "ANY", "MAX", "STRICT")),
    *(ceql(f"{s} without a window", f"{THREE} LIMIT 1", select=f"{s} *")
      for s in ("NEXT", "LAST", "MAX")),
    *(ceql(f"{s} over a comparison, in a window",
            f"{PAIR} FILTER a.volume = b.volume AND a[name = 'INTC'] WITHIN 1 second",
            select=f"{s} *")
      for s in ("NEXT", "LAST", "MAX", "STRICT")),
    ceql("MAX over an order, in a window",
          f"{PAIR} FILTER a.price < b.price AND a[volume > 4000] WITHIN 1 second", select="MAX *"),
    ceql("MAX of a plus, in a window", "SELL AS a ; BUY+ AS b ; SELL AS c FILTER a[name = 'INTC']"
          " AND b[name = 'RIMM'] AND c[name = 'QQQ'] WITHIN 1 second", select="MAX *"),
    *(ceql(f"{s} inside a pattern", f"{s}(SELL AS a ; BUY AS b {RIMM}) ; SELL AS c FILTER "
            "c[volume > 9000] WITHIN 1 second")
      for s in ("NEXT", "LAST", "MAX", "STRICT")),
    *(ceql(f"{s} inside a pattern over a comparison",
            f"{s}({PAIR} FILTER a.volume = b.volume) ; SELL AS c FILTER c[volume > 9000] "
            "WITHIN 1 second")
      for s in ("NEXT", "LAST", "MAX", "STRICT")),
    ceql("NEXT inside, no window",
          f"NEXT({PAIR} FILTER a.volume = b.volume) ; SELL AS c FILTER c[volume > 20000] LIMIT 1"),
)  # fmt: skip

ABSENT = f"(SELL AS a ; BUY AS b {RIMM})"
MORE_OPERATORS = (
    ceql("WITHOUT", f"{ABSENT} WITHOUT (SELL AS n FILTER n[volume > 4000]) WITHIN 1 second"),
    ceql("WITHOUT, compared with the first", f"{ABSENT} WITHOUT (SELL AS n FILTER n.price > "
          "a.price) WITHIN 1 second"),
    ceql("WITHOUT, compared with the last", f"{ABSENT} WITHOUT (SELL AS n FILTER n.price > "
          "b.price) WITHIN 1 second"),
    ceql("NOT FOLLOWED BY", f"{ABSENT} NOT FOLLOWED BY (SELL AS n FILTER n[volume > 9000]) WITHIN "
          "1 second WITHIN 1 second"),
    ceql("NOT FOLLOWED BY, compared", f"{ABSENT} NOT FOLLOWED BY (SELL AS n FILTER n.price > "
          "a.price) WITHIN 1 second WITHIN 1 second"),
    ceql("UNTIL", "SELL AS a ; (BUY AS b)+ UNTIL SELL FILTER a[name = 'INTC'] AND "
          "b[volume > 9000] WITHIN 1 second"),
    ceql("gap", f"SELL AS a ;[100 milliseconds] BUY AS b {RIMM} WITHIN 1 second"),
    ceql("gaps of a repetition", "(SELL AS a){2,4}[50 milliseconds] FILTER a[name = 'RIMM'] "
          "WITHIN 1 second"),
    ceql("inner window", f"({PAIR} {RIMM}) WITHIN 100 milliseconds ; SELL AS c FILTER "
          "c[volume > 4000] WITHIN 1 second"),
    ceql("prev", "SELL AS a ; BUY:+ AS b ; SELL AS c FILTER b.price > prev(b.price) AND "
          "a[volume > 4000] WITHIN 1 second"),
    ceql("counts", "SELL AS a ; (BUY AS b){2,3} ; SELL AS c FILTER a[volume > 9000] AND "
          "b[name = 'RIMM'] AND c[volume > 9000] WITHIN 1 second"),
    ceql("RETURN", f"{PAIR} {RIMM} WITHIN 1 second RETURN a.price, b.price - a.price AS d"),
    ceql("WITH TIMEOUTS", f"{PAIR} FILTER a[volume > 9000] AND b[volume > 9000] WITHIN 1 second "
          "WITH TIMEOUTS"),
    *(ceql(f"AFTER MATCH SKIP {where}", f"{THREE} WITHIN 1 second AFTER MATCH SKIP {where}")
      for where in ("PAST LAST EVENT", "TO NEXT EVENT")),
    *(ceql(f"{s} inside, after an event", f"SELL AS d ; {s}({PAIR} FILTER a.volume = b.volume) ; "
            "SELL AS c FILTER d[volume > 9000] AND c[volume > 9000] WITHIN 1 second")
      for s in ("NEXT", "LAST")),
    ceql("NEXT inside an iteration", f"(NEXT({PAIR} FILTER a.volume = b.volume AND "
          "a[volume > 9000]))+ WITHIN 1 second"),
    ceql("UNLESS in the middle, exception compares", "SELL AS a ; (BUY AS b UNLESS (SELL AS c ; "
          "BUY AS d FILTER c.volume = d.volume)) FILTER a[volume > 4000] AND b[volume > 4000] "
          "WITHIN 1 second"),
    ceql("COUNT per key, with a comparison", f"{PAIR} FILTER a.price < b.price PARTITION BY name "
          "WITHIN 10 seconds", select="COUNT(*)"),
)  # fmt: skip

KEYED = "SELL AS a ; BUY AS b ; SELL AS c FILTER a[volume > 4000] AND b[volume > 4000]"
CLAUSES = (
    ceql("keyed", f"{KEYED} PARTITION BY name WITHIN 1 second"),
    ceql("keyed, window in events", f"{KEYED} PARTITION BY name WITHIN 50 EVENTS"),
    ceql("keyed, no window", f"{KEYED} PARTITION BY name LIMIT 1"),
    *(ceql(f"keyed, CONSUME BY {c}", f"{KEYED} PARTITION BY name WITHIN 10 seconds "
            f"CONSUME BY {c}") for c in ("PARTITION", "ANY")),
    ceql("keyed, CONSUME BY ANY, often", "SELL AS a ; BUY AS b ; SELL AS c PARTITION BY name "
          "WITHIN 10 seconds CONSUME BY ANY"),
    ceql("keyed, CONSUME BY ANY, LIMIT", "SELL AS a ; BUY AS b ; SELL AS c PARTITION BY volume "
          "WITHIN 10 seconds CONSUME BY ANY LIMIT 1"),
    ceql("CONSUME BY ANY", f"{THREE} WITHIN 10 seconds CONSUME BY ANY"),
    ceql("MAX with CONSUME", f"{THREE} WITHIN 10 seconds CONSUME BY ANY", select="MAX *"),
    ceql("window in events", f"{THREE} WITHIN 100 EVENTS"),
    ceql("window in an attribute", f"{THREE} WITHIN 1000 [stock_time]"),
    ceql("LIMIT", f"{THREE} WITHIN 10 seconds LIMIT 1"),
)  # fmt: skip

COUNTING = (
    ceql("COUNT of a sequence", f"{THREE} WITHIN 10 seconds", select="COUNT(*)"),
    ceql("COUNT of a plus per key, 2 s", "SELL ; BUY+ ; SELL PARTITION BY name WITHIN 2 seconds",
          select="COUNT(*)"),
    ceql("COUNT of a plus, 10 s", "SELL+ ; BUY WITHIN 10 seconds", select="COUNT(*)"),
    ceql("COUNT of a plus, 1 hour", "SELL+ ; BUY WITHIN 1 hour", select="COUNT(*)"),
    ceql("COUNT of a plus, 5,000 events", "SELL+ ; BUY WITHIN 5000 EVENTS", select="COUNT(*)"),
    ceql("COUNT and SUM, 10 minutes", "SELL AS a ; BUY+ AS b ; SELL AS c WITHIN 10 minutes",
          select="COUNT(*), SUM(b.volume)"),
    ceql("COUNT and MAX, 10 minutes", "SELL AS a ; BUY+ AS b ; SELL AS c WITHIN 10 minutes",
          select="COUNT(*), MAX(b.volume), MIN(a.price)"),
    ceql("COUNT, no window", "SELL+ AS a ; BUY", select="COUNT(*)"),
    ceql("COUNT with a comparison", f"{PAIR} FILTER a.price < b.price WITHIN 1 second",
          select="COUNT(*)"),
    ceql("COUNT with an equality, 10 minutes", f"{PAIR} FILTER a.volume = b.volume "
          "WITHIN 10 minutes", select="COUNT(*)"),
)  # fmt: skip


def others(dialect: str, texts: dict[str, str], **options: str) -> tuple[Case, ...]:
    return tuple(
        Case(f"{dialect}: {name}", text, dialect, **options)  # type: ignore[arg-type]
        for name, text in texts.items()
    )


SREMO = others("sremo", {
    "any": "any({SELL: name = 'INTC'}, {BUY: name = 'RIMM'}) WITHIN 1 second",
    "next": "next({SELL: name = 'INTC'}, {BUY: name = 'RIMM'}) WITHIN 1 second",
    "register": "any({SELL: name = 'INTC'} -> x, {BUY: price > x.price}) WITHIN 1 second",
    "star": "any({SELL: name = 'INTC'} -> x . (skip* . {BUY: name = 'RIMM'})*, "
            "{SELL: name = 'MSFT' AND price < x.price}) WITHIN 1 second",
    "inner window": "(any({SELL: name = 'INTC'}, {BUY: name = 'RIMM'}) WITHIN 100 milliseconds) . "
                    "skip* . {SELL: name = 'QQQ'} WITHIN 1 second",
    "inner window, register": "(any({SELL: name = 'INTC'} -> x, {BUY: price > x.price}) WITHIN 100 "
                    "milliseconds) . skip* . {SELL: name = 'QQQ'} WITHIN 1 second",
    "window in events": "({SELL: name = 'INTC'} . skip* . {BUY: name = 'RIMM'})[1..20]",
    "negation": "{SELL: name = 'INTC'} . !(skip* . skip{SELL: name = 'RIMM'} . skip*) . "
                "{BUY: name = 'RIMM'} WITHIN 1 second",
    "negation, register": "{SELL: name = 'INTC'} -> x . !(skip* . skip{SELL: price > x.price} . "
                "skip*) . {BUY: name = 'RIMM'} WITHIN 1 second",
    "negation of what compares": "{SELL: name = 'INTC'} . !(skip* . skip{SELL: name = 'CSCO'} -> y "
                ". skip* . skip{BUY: price = y.price} . skip*) . {BUY: name = 'RIMM'} "
                "WITHIN 1 second",
    "negation of what compares, all": "{SELL: volume > 4000} . !(skip* . skip{SELL: } -> y . skip* "
                ". skip{BUY: price = y.price} . skip*) . {BUY: } WITHIN 1 second",
    "intersection": "({SELL: name = 'INTC'} . skip* . {BUY: name = 'RIMM'}) & "
                    "({SELL: } . skip* . skip{BUY: volume > 4000} . skip* . {BUY: }) "
                    "WITHIN 1 second",
    "intersection, registers": "({SELL: name = 'INTC'} -> x . skip* . {BUY: price > x.price}) & "
                    "({SELL: } -> y . skip* . {BUY: volume = y.volume}) WITHIN 1 second",
})  # fmt: skip


def sase(pattern: str, strategy: str, names: str, where: str, rest: str) -> str:
    return f"PATTERN SEQ({pattern}) WHERE {strategy}({names}) {{ {where} }} {rest}"


NEXT, ANY = "skip_till_next_match", "skip_till_any_match"
SASE = others("sase", {
    "next": sase("SELL a, BUY b, SELL c", NEXT, "a, b, c",
                  "[name] AND b.price > a.price AND c.price < b.price", "WITHIN 1 second"),
    "any": sase("SELL a, BUY b, SELL c", ANY, "a, b, c",
                 "[name] AND a.volume > 4000 AND b.price > a.price", "WITHIN 1 second"),
    "strict": sase("SELL a, BUY b", "strict_contiguity", "a, b", "a.price = b.price",
                    "WITHIN 1 second"),
    "partition": sase("SELL a, BUY b", "partition_contiguity", "a, b",
                       "[name] AND a.price = b.price", "WITHIN 1 second"),
    "Kleene": sase("SELL a, BUY+ b[], SELL c", NEXT, "a, b[]!, c",
                    "[name] AND a.volume > 4000 AND b[i].price > b[i-1].price",
                    "WITHIN 1 second RETURN a.price, count(b[]), c.price"),
    "next, no window": sase("SELL a, BUY b, SELL c", NEXT, "a, b, c",
                  "[name] AND a.volume > 9000 AND b.price > a.price AND c.price < b.price", ""),
    "next, no window, no key": sase("SELL a, BUY b, SELL c", NEXT, "a, b, c",
                  "a.volume > 9000 AND b.price > a.price AND c.price < b.price", ""),
    "average": sase("SELL+ a[], BUY b", NEXT, "a[]!, b",
                  "[name] AND a[1].volume > 4000 AND a[i].price > avg(a[..i-1].price)",
                  "WITHIN 1 second RETURN count(a[]), b.price"),
    "inner negation": sase("SELL a, ~(SELL x), BUY b", NEXT, "a, b",
                  "[name] AND a.volume > 4000 AND x.volume > 9000", "WITHIN 1 second"),
    "inner negation, compared": sase("SELL a, ~(SELL x), BUY b", NEXT, "a, b",
                  "[name] AND a.volume > 4000 AND x.price > a.price", "WITHIN 1 second"),
    "inner negation, compared with later": sase("SELL a, ~(SELL x), BUY b", NEXT, "a, b",
                  "[name] AND a.volume > 4000 AND x.price > b.price", "WITHIN 1 second"),
    "trailing negation": sase("SELL a, BUY b, ~(SELL x)", NEXT, "a, b",
                  "[name] AND a.volume > 4000 AND x.volume > 9000", "WITHIN 1 second"),
    "leading negation": sase("~(SELL x), BUY a, SELL b", NEXT, "a, b",
                  "[name] AND a.volume > 4000 AND x.volume > 9000", "WITHIN 1 second"),
    "leading negation, compared": sase("~(SELL x), BUY a, SELL b", NEXT, "a, b",
                  "[name] AND a.volume > 4000 AND x.price > a.price", "WITHIN 1 second"),
    "highest": sase("SELL+ a[], BUY b", NEXT, "a[]!, b",
                  "[name] AND a[1].volume > 4000 AND b.price > max(a[].price)",
                  "WITHIN 1 second RETURN count(a[]), b.price"),
})  # fmt: skip

PAR = others("par", {
    "sequence": "repeat (BUY(name = 'INTC') ; SELL(name = 'RIMM')[pair])",
    "selection": "repeat (BUY(volume > 4000) ; (SELL[sold] | BUY[again]))",
    "preemption": "repeat (try BUY(name = 'INTC') ; SELL(name = 'RIMM')[pair] "
                  "unless SELL(volume > 4000))",
    "negation": "repeat !(BUY(volume > 4000))[quiet]",
})  # fmt: skip
PAR_KEYED = tuple(case._replace(name=f"{case.name}, keyed", keys="name") for case in PAR[:1])

ALGEBRA = others("algebra", {
    "sequence": "(BUY(volume > 4000) ; SELL(volume > 4000))_1000",
    "conjunction": "(BUY(volume > 4000) + SELL(volume > 4000))_1000",
    "negation": "(BUY(name = 'INTC') ; SELL(name = 'RIMM')) - SELL(volume > 4000)",
    "disjunction": "BUY(volume > 4000) | (SELL(volume > 4000) ; BUY)",
})  # fmt: skip
ALGEBRA_KEYED = tuple(
    case._replace(name=f"{case.name}, keyed", keys="name") for case in ALGEBRA[:1]
)


def match(body: str) -> str:
    return f"MATCH_RECOGNIZE (PARTITION BY name ORDER BY stock_time MEASURES count(*) AS n {body})"


MATCH_RECOGNIZE = others("match_recognize", {
    "V-shape": match("PATTERN (s d+ u+) DEFINE d AS price < PREV(price), "
                      "u AS price > PREV(price)"),
    "first": match("PATTERN (a b+ c) DEFINE b AS price < FIRST(a.price), c AS price > a.price"),
    "aggregate": match("PATTERN (a+) DEFINE a AS sum(a.volume) <= 5000"),
    "alternation": match("PATTERN ((a | b)+ c) DEFINE a AS type = 'SELL' AND volume > 500, "
                          "b AS type = 'BUY' AND volume > 500, c AS volume < 200"),
})  # fmt: skip

CASES = (
    *OPERATORS, *MORE_OPERATORS, *CONDITIONS, *STRATEGIES, *CLAUSES, *COUNTING, *SREMO, *SASE,
    *PAR, *PAR_KEYED, *ALGEBRA, *ALGEBRA_KEYED, *MATCH_RECOGNIZE,
)  # fmt: skip
