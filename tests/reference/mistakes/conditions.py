"""Mistakes in conditions and parameters, which all languages share."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from tests.reference.mistakes.model import Mistake


def condition(wrong: str, right: str, **given: Any) -> Mistake:
    """About one event, in CEQL."""
    text = "SELECT * WHERE BUY AS b FILTER b[{}]"
    return Mistake(text.format(wrong), text.format(right), **given)


MISTAKES = [
    condition("prize > 10", "price > 10"),
    condition("price.cents > 10", "price > 10"),
    condition("place.town = 'Rome'", "place.city = 'Rome'"),
    condition("place = 'Rome'", "place.city = 'Rome'"),
    condition("tags = 'x'", "tags IS NULL"),
    condition("name > 10", "name > '10'"),
    condition("price = '10'", "price = 10"),
    condition("flag < true", "flag = true"),
    condition("price", "price > 0"),
    condition("name + 1 = 'x'", "concat(name, '1') = 'x'"),
    condition("ts > 'yesterday'", "ts > '2025-03-03 09:30'"),
    condition("price > 99999999999999999999", "price > 1e20"),
    condition("price > 1e999", "price > 1e300"),
    condition("name IN (price)", "name IN ('INTC', 'MSFT')"),
    condition("name NOT IS NULL", "name IS NOT NULL"),
    condition("name = 'a' || flag", "name = 'a' OR flag"),
    condition("name LIKE 'a!b' ESCAPE '!'", "name LIKE 'a!!b' ESCAPE '!'"),
    condition("name LIKE 'a' ESCAPE 'ab'", "name LIKE 'a' ESCAPE '!'"),
    condition("name REGEXP '['", "name REGEXP '[a-z]'"),
    condition("CAST(name AS number) > 1", "CAST(name AS double) > 1"),
    condition("CAST(price AS string) = '1'", "CAST(volume AS string) = '1'"),
    condition("lowercase(name) = 'x'", "lower(name) = 'x'"),
    condition("round(price, 1, 2) > 1", "round(price, 1) > 1"),
    condition("lower(price) = 'x'", "lower(name) = 'x'"),
    condition("substr(name, volume) = 'x'", "substr(name, 2) = 'x'"),
    condition("date_trunc('decade', ts) = ts", "date_trunc('year', ts) = ts"),
    condition("split_part(name, ',', 0) = 'x'", "split_part(name, ',', 1) = 'x'"),
    condition("regexp_extract(name, 'a(b)', 2) = 'x'", "regexp_extract(name, 'a(b)', 1) = 'x'"),
    condition("cidr_match(name, '10.0.0')", "cidr_match(name, '10.0.0.0/8')"),
    condition("is_in(name)", "is_in(name, 'a', 'b')"),
    condition("ts - ts < INTERVAL 'soon'", "ts - ts < INTERVAL '5' MINUTE"),
    # totals
    Mistake(
        "SELECT * WHERE B+ AS b FILTER percentile(b.price, 95) > 1",
        "SELECT * WHERE B+ AS b FILTER percentile(b.price, 0.95) > 1",
    ),
    Mistake(
        "SELECT * WHERE B+ AS b FILTER sum(b.price, 2) > 1",
        "SELECT * WHERE B+ AS b FILTER sum(b.price) > 1",
    ),
    Mistake(
        "SELECT * WHERE B+ AS b FILTER sum(price) > 1",
        "SELECT * WHERE B+ AS b FILTER sum(b.price) > 1",
    ),
    # parameters
    condition("price > :least", "price > 5"),
    condition("price > :least", "price > :limit", params={"limit": 5}),
    condition("name IN :name", "name = :name", params={"name": "INTC"}),
    condition("name = :names", "name IN :names", params={"names": ["INTC", "IBM"]}),
    condition("price > :least", "price > 5", params={"least": object()}),
    condition("is_in(name, price)", "is_in(name, 'a')"),
    condition("ts > TIMESTAMP 'soon'", "ts > TIMESTAMP '2025-03-03 09:30'"),
    condition("ts - ts < 99999999999999999999 seconds", "ts - ts < 5 seconds"),
    condition("name 'x'", "name = 'x'"),
    condition("name LIKE :pattern", "name LIKE 'I%'", params={"pattern": 5}),
    condition("(price > 1) || (volume > 2)", "(price > 1) OR (volume > 2)"),
    condition("abs(:prices) > 1", "price IN :prices", params={"prices": [1, 2]}),
    condition("price > :least", "price > 0.1", params={"least": Decimal("0.1")}),
]
