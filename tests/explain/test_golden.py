"""explain of queries in every language, kept in `golden/`: whoever moves its code sees what of
the text has changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pytest

import cereus
from tests.golden import Golden
from tests.languages.sase.paper_queries import QUERY_2, QUERY_3, QUERY_4, QUERY_5

FILES = Path(__file__).with_name("golden")
MARKET = pa.schema(
    {
        "type": pa.string(),
        "name": pa.string(),
        "symbol": pa.string(),
        "price": pa.float64(),
        "volume": pa.int64(),
        "ts": pa.timestamp("us"),
    }
)
SCANS = pa.schema(
    {
        "type": pa.string(),
        "object_id": pa.string(),
        "courier_id": pa.string(),
        "location": pa.string(),
        "next": pa.string(),
        "ts": pa.timestamp("us"),
    }
)
TIMED = cereus.Stream(time="ts")
KEYED = cereus.Stream(time="ts", keys="name")
VENUES = cereus.Stream(time="ts", stream="name")


class Case(NamedTuple):
    text: str
    dialect: str = "ceql"
    stream: cereus.Stream = TIMED
    schema: pa.Schema | None = MARKET
    options: dict[str, Any] = {}  # noqa: RUF012 (never changed)


PAIR = "SELL AS a ; BUY AS b"
WAITS = "(SELL ; NOT(BUY)) UNLESS HALT"
NESTED = "LAST(MAX(NEXT(A+ ; B+ ; C+)) ; D+)"
LARGE = " ALL ".join(f"(A{i} ; B{i})" for i in range(5))
RISING = "price > a.price"

CASES = {
    "ceql_implied_keys": Case(
        f"SELECT a, b WHERE {PAIR}+ FILTER a.name = b.name AND a.price < b.price WITHIN 1 minute"
    ),
    "ceql_filters_are_pushed": Case(
        f"SELECT * FROM S WHERE {PAIR}+ FILTER a[volume >= 1000] AND b[price < 5 OR price > 9]"
        " PARTITION BY name WITHIN 10 seconds"
    ),
    "ceql_registers": Case(
        f"SELECT a, b FROM S WHERE {PAIR} ; BUY AS c FILTER a.price < b.price AND a.name = c.name"
        " WITHIN 1 hour"
    ),
    "ceql_without_a_schema": Case(
        f"SELECT * FROM S WHERE {PAIR} FILTER a.price < b.price WITHIN 1 hour", schema=None
    ),
    "ceql_totals": Case(
        "SELECT * FROM S WHERE SELL AS a ; (BUY AS b)+ ; HALT FILTER sum(b.volume) > a.volume"
        " WITHIN 20 EVENTS"
    ),
    "ceql_strategies": Case("SELECT NEXT * FROM S WHERE SELL ; BUY+ ; HALT WITHIN 100 EVENTS"),
    "ceql_max": Case("SELECT MAX * FROM S WHERE A ; B+ WITHIN 9 EVENTS"),
    "ceql_nested_strategies": Case(f"SELECT * FROM S WHERE {NESTED} WITHIN 1 minute"),
    "ceql_any": Case("SELECT ANY * FROM S WHERE A ; NOT(B) WITHIN 9 EVENTS"),
    "ceql_count": Case("SELECT COUNT(*) FROM S WHERE A ; B+ ; C PARTITION BY name WITHIN 1 day"),
    "ceql_late": Case(f"SELECT * FROM S WHERE {WAITS} WITHIN 30 seconds"),
    "ceql_places": Case("SELECT * FROM S WHERE START(A : B:+) LIMIT 3 CONSUME BY PARTITION"),
    "ceql_streams": Case("SELECT x FROM X, Y WHERE X>A AS x ; Y>B WITHIN 6 s", stream=VENUES),
    "ceql_counts": Case("SELECT * FROM S WHERE A:{2,3} ; B? ; C PARTITION BY name WITHIN 1 minute"),
    "ceql_without": Case(
        "SELECT * FROM S WHERE (A AS a ; C) WITHOUT (B FILTER B.name = a.name) WITHIN 1 minute"
    ),
    "ceql_gaps": Case("SELECT * FROM S WHERE (A ;[1 minute] B) WITHIN 90 seconds ; C+[5 seconds]"),
    "ceql_misread": Case("SELECT * FROM S WHERE A ; NOT(B) ; C UNLESS D WITHIN 1 minute"),
    "ceql_warnings": Case("SELECT * FROM S WHERE A OR (B FILTER B[volume > 3 AND volume < 2]) ; C"),
    "ceql_large": Case(f"SELECT * FROM S WHERE {LARGE}", schema=None),
    "sremo_registers": Case(
        f"any({{SELL: name = 'INTC'}} -> a, {{BUY: name = 'QQQ' AND {RISING}}}) WITHIN 20 events",
        "sremo",
    ),
    "sremo_iteration": Case(
        f"any({{SELL: volume > 4000}} -> a, any({{BUY: {RISING}}}+), {{HALT:}})"
        " PARTITION BY name WITHIN 1 hour",
        "sremo",
    ),
    "sremo_stored_again": Case(
        "{A:} -> a . skip* . ({B: price > a.price} -> b . skip*)* . {C: price < b.price}", "sremo"
    ),
    "sremo_negation": Case("(!(skip* . {B:} . skip*) & ({A:} . skip* . {C:}))[1..9]", "sremo"),
    "sase_query_2": Case(QUERY_2, "sase"),
    "sase_query_3": Case(QUERY_3, "sase"),
    "sase_query_4": Case(QUERY_4, "sase", schema=SCANS),
    "sase_queries_4_and_5": Case(QUERY_4 + QUERY_5, "sase", schema=SCANS),
    "sase_negation_at_the_end": Case(
        "PATTERN SEQ(SELL a, ~BUY b) WHERE [name] WITHIN 10 seconds RETURN a.price", "sase"
    ),
    "sase_any_match": Case(
        "PATTERN SEQ(A a, B+ b[], C c) WHERE skip_till_any_match(a, b[], c)"
        " { b[i].price > a.price } WITHIN 50 events",
        "sase",
    ),
    "par_unless": Case("repeat (SELL ; try BUY[sold] unless (HALT ; HALT))", "par", KEYED),
    "par_conditions": Case("!(A(price > 3) ; B) | C(volume < 9)[small]", "par"),
    "algebra_bounds": Case("((A ; B)_5s - C) + (B | D)", "algebra", KEYED),
    "algebra_values": Case("A ; (B ; C)", "algebra", options={"values": True}),
    "algebra_as_written": Case("(A | B) ; (C - D)", "algebra", options={"optimise": False}),
}


def explained(case: Case) -> str:
    query = cereus.compile(
        case.text, dialect=case.dialect, stream=case.stream, schema=case.schema, **case.options
    )
    return query.explain()


@pytest.mark.parametrize("name", CASES)
def test_explain_is_as_in_its_file(name: str, golden: Golden) -> None:
    golden.text(FILES / f"{name}.txt", explained(CASES[name]))


def test_every_file_has_its_query() -> None:
    assert {path.stem for path in FILES.iterdir()} == set(CASES)
