"""Mistakes in SASE+."""

from __future__ import annotations

import cereus
from tests.reference.mistakes.model import Mistake

MISTAKES = [
    Mistake("SEQ(A a, B b)", "PATTERN SEQ(A a, B b)"),
    Mistake("SELECT * WHERE A ; B", "PATTERN SEQ(A a, B b)"),
    Mistake("PATTERN SEQ(A a, B+ b)", "PATTERN SEQ(A a, B+ b[])"),
    Mistake("PATTERN SEQ(A a, B b[])", "PATTERN SEQ(A a, B+ b[])"),
    Mistake("PATTERN SEQ(A a, B a)", "PATTERN SEQ(A a, B b)"),
    Mistake("PATTERN SEQ(~A a)", "PATTERN SEQ(B b, ~A a) WITHIN 5 minutes"),
    Mistake("PATTERN SEQ(A a, ~B b)", "PATTERN SEQ(A a, ~B b) WITHIN 5 minutes"),
    Mistake("PATTERN SEQ(A a) WHERE b.price > 1", "PATTERN SEQ(A a) WHERE a.price > 1"),
    Mistake("PATTERN SEQ(A a) WHERE price > 1", "PATTERN SEQ(A a) WHERE a.price > 1"),
    Mistake("PATTERN SEQ(A a) WHERE a > 1", "PATTERN SEQ(A a) WHERE a.price > 1"),
    Mistake("PATTERN SEQ(A a) WHERE 1 < 2", "PATTERN SEQ(A a) WHERE a.price > 2"),
    Mistake("PATTERN SEQ(A a) WHERE a[i].price > 1", "PATTERN SEQ(A a) WHERE a.price > 1"),
    Mistake("PATTERN SEQ(A+ a[]) WHERE a.price > 1", "PATTERN SEQ(A+ a[]) WHERE a[i].price > 1"),
    Mistake("PATTERN SEQ(A+ a[]) WHERE a[0].price > 1", "PATTERN SEQ(A+ a[]) WHERE a[1].price > 1"),
    Mistake(
        "PATTERN SEQ(A+ a[], B+ b[]) WHERE b[a.LEN].price > 1",
        "PATTERN SEQ(A+ a[], B+ b[]) WHERE b[b.LEN].price > 1",
    ),
    Mistake(
        "PATTERN SEQ(A+ a[]) WHERE a[i].price > a[..i-1].price",
        "PATTERN SEQ(A+ a[]) WHERE a[i].price > avg(a[..i-1].price)",
    ),
    Mistake(
        "PATTERN SEQ(A+ a[], B b) WHERE b.price > a[i].price",
        "PATTERN SEQ(A+ a[], B b) WHERE b.price > max(a[].price)",
    ),
    Mistake(
        "PATTERN SEQ(A+ a[]) WHERE mean(a[].price) > 1",
        "PATTERN SEQ(A+ a[]) WHERE avg(a[].price) > 1",
    ),
    Mistake("PATTERN SEQ(A+ a[]) WHERE avg(a) > 1", "PATTERN SEQ(A+ a[]) WHERE avg(a[].price) > 1"),
    Mistake(
        "PATTERN SEQ(A a, B b) WHERE a.price > 1 OR b.price > 2",
        "PATTERN SEQ(A a, B b) WHERE a.price > 1 AND b.price > 2",
    ),
    Mistake(
        "PATTERN SEQ(A a, ~B b, ~C c, D d) WHERE b.price > c.price WITHIN 5 minutes",
        "PATTERN SEQ(A a, ~B b, ~C c, D d) WHERE b.price > a.price WITHIN 5 minutes",
    ),
    Mistake(
        "PATTERN SEQ(A a, B b) WHERE skip_till_some_match(a, b) { [card] }",
        "PATTERN SEQ(A a, B b) WHERE skip_till_next_match(a, b) { [card] }",
    ),
    Mistake(
        "PATTERN SEQ(A a, B b) WHERE skip_till_next_match AND [card]",
        "PATTERN SEQ(A a, B b) WHERE skip_till_next_match(a, b) { [card] }",
    ),
    Mistake(
        "PATTERN SEQ(A a, ~B b, C c) RETURN b.price", "PATTERN SEQ(A a, ~B b, C c) RETURN a.price"
    ),
    Mistake("PATTERN SEQ(A+ a[]) RETURN a[i].price", "PATTERN SEQ(A+ a[]) RETURN a[1].price"),
    Mistake(
        "PATTERN SEQ(A a) RETURN a.price AS R(x, y)", "PATTERN SEQ(A a) RETURN a.price AS R(x)"
    ),
    Mistake(
        "PATTERN SEQ(A a) RETURN a.price, a.volume AS R(x, x)",
        "PATTERN SEQ(A a) RETURN a.price, a.volume AS R(x, y)",
    ),
    Mistake(
        "PATTERN SEQ(A a) RETURN a.price AS R(start)", "PATTERN SEQ(A a) RETURN a.price AS R(x)"
    ),
    Mistake(
        "PATTERN SEQ(A a) RETURN a.price; PATTERN SEQ(B b) RETURN b.price",
        "PATTERN SEQ(A a) RETURN a.price UNION PATTERN SEQ(B b) RETURN b.price",
    ),
    Mistake(
        "PATTERN SEQ(A a) RETURN a.price UNION PATTERN SEQ(B b) RETURN b.price, b.volume",
        "PATTERN SEQ(A a) RETURN a.price UNION PATTERN SEQ(B b) RETURN b.price",
    ),
    Mistake(
        "FROM t PATTERN SEQ(A a) RETURN a.price IN STREAM s\n"
        "FROM s PATTERN SEQ(A a) RETURN a.price IN STREAM t",
        "FROM t PATTERN SEQ(A a) RETURN a.price IN STREAM s",
    ),
    Mistake(
        "PATTERN SEQ(A a, B b) WHERE skip_till_next_match(a, b) { a.price > 1 } "
        "AND skip_till_any_match(a, b) { b.price > 1 }",
        "PATTERN SEQ(A a, B b) WHERE skip_till_next_match(a, b) { a.price > 1 }",
    ),
    Mistake("PATTERN SEQ(A a, B b) HAVING [name]", "PATTERN SEQ(A a, B b) WHERE [name]"),
    Mistake(
        "PATTERN SEQ(A a) RETURN a.price AS R(p) IN STREAM s "
        "UNION PATTERN SEQ(B b) RETURN b.price AS R(p) IN STREAM t",
        "PATTERN SEQ(A a) RETURN a.price AS R(p) UNION PATTERN SEQ(B b) RETURN b.price AS R(p)",
    ),
    Mistake(
        "PATTERN SEQ(A a) RETURN a.price AS R(type)", "PATTERN SEQ(A a) RETURN a.price AS R(price)"
    ),
    Mistake(
        "PATTERN SEQ(A a, ~B b) WITHIN 5 minutes AFTER MATCH SKIP PAST LAST EVENT",
        "PATTERN SEQ(A a, B b) WITHIN 5 minutes AFTER MATCH SKIP PAST LAST EVENT",
    ),
    Mistake(
        "PATTERN SEQ(A a) RETURN a.price AS R(p) UNION PATTERN SEQ(B b) RETURN b.name AS R(p)",
        "PATTERN SEQ(A a) RETURN a.price AS R(p) UNION PATTERN SEQ(B b) RETURN b.price AS R(p)",
    ),
    Mistake(
        "PATTERN SEQ(A a, B b) WHERE skip_till_next_match(a!, b) { a.price > 1 }",
        "PATTERN SEQ(A+ a[], B b) WHERE skip_till_next_match(a[]!, b) { a[i].price > 1 }",
    ),
    Mistake(
        "PATTERN SEQ(A+ a[], B b) "
        "WHERE partition_contiguity(a[], b) { partition(sum(a[].price) = b.price) }",
        "PATTERN SEQ(A+ a[], B b) "
        "WHERE partition_contiguity(a[], b) { partition(a[i].name = a[i-1].name) }",
    ),
    Mistake(
        "PATTERN SEQ(A a) RETURN a.price AS R(p) IN STREAM s "
        "PATTERN SEQ(B b) RETURN b.price AS R(p) IN STREAM s",
        "PATTERN SEQ(A a) RETURN a.price AS R(p) IN STREAM s "
        "UNION PATTERN SEQ(B b) RETURN b.price AS R(p)",
    ),
    Mistake(
        "PATTERN SEQ(A a, B b) RETURN a.price AS R(name)",
        "PATTERN SEQ(A a, B b) RETURN a.price AS R(price)",
        stream=cereus.Stream(time="ts", keys=["name"]),
    ),
]
