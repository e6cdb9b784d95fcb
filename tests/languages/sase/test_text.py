"""Reading SASE+ texts: spellings, what is refused and how it is said, and columns."""

from __future__ import annotations

import pyarrow as pa
import pytest

from cereus.errors import (
    CereusError,
    ConditionTypeError,
    QueryError,
    QuerySyntaxError,
    RefusedError,
    UnknownNameError,
)
from cereus.languages.sase import tree as sase
from cereus.languages.sase.output import output_names
from cereus.languages.sase.schema import checked
from cereus.languages.sase.text import parse, to_text

from .paper_queries import QUERY_3, QUERY_4, QUERY_5

REFUSED: list[tuple[str, type[CereusError], str, str]] = [
    # text, error, what is underlined, a piece of the message
    ("SEQ(A a, B+ b[]) WHERE a.x > 1 OR b[i].x > 2", RefusedError, "a.x > 1", "last component"),
    ("SEQ(A a, ~B b)", RefusedError, "~B b", "WITHIN"),
    ("SEQ(~B b, A a)", RefusedError, "~B b", "WITHIN"),
    ("SEQ(~B b) WITHIN 1 hour", RefusedError, "SEQ(~B b)", "not negated"),
    ("SEQ(A a, B b) WHERE c.x > 1", UnknownNameError, "c.x", "variable 'c'"),
    ("SEQ(A a) WHERE x > 1", UnknownNameError, "x", "a.x"),
    ("SEQ(A a) WHERE a[i].x > 1", RefusedError, "a[i].x", "holds one event"),
    ("SEQ(A+ a[]) WHERE a.x > 1", RefusedError, "a.x", "array"),
    (
        "SEQ(A a) WHERE skip_till_nxt_match(a) { a.x > 1 }",
        UnknownNameError,
        "skip_till_nxt_match",
        "skip_till_next_match",
    ),
    ("SEQ(A a) WHERE strict_contiguity(b) { }", UnknownNameError, "b", "variable 'b'"),
    ("SEQ(A a) WHERE strict_contiguity(a!) { }", RefusedError, "a!", "Kleene"),
    ("SEQ(A+ a)", QuerySyntaxError, "A+ a", "A+ a[]"),
    ("SEQ(A a[])", QuerySyntaxError, "A a[]", "without +"),
    ("SEQ(A a, B a)", RefusedError, "B a", "twice"),
    ("SEQ(A+ a[]) WHERE a[2].x > 1", QuerySyntaxError, "2", "index"),
    ("SEQ(A+ a[]) WHERE a[..i-1].x > 1", QuerySyntaxError, "a[..i-1].x", "aggregate"),
    ("SEQ(A+ a[]) WHERE a[].x > 1", RefusedError, "a[].x", "sequence"),
    ("SEQ(A+ a[], B b) WHERE b.x > a[i].x", RefusedError, "a[i].x", "max(a[].x)"),
    ("SEQ(A+ a[]) WHERE median(a[].x) > 1", UnknownNameError, "median(a[].x)", "aggregate"),
    ("SEQ(A+ a[]) WHERE highest(a[].x) > 1", QuerySyntaxError, "highest(a[].x)", "3"),
    ("SEQ(A a, ~B b, ~C c, D d) WHERE b.x > c.x", RefusedError, "b.x > c.x", "negated"),
    ("SEQ(A+ a[]) WHERE partition(a[i].x > max(a[..i-1].x))", RefusedError, "max", "partition"),
    ("SEQ(A a) WHERE 1 = 1", RefusedError, "1 = 1", "no event"),
    ("SEQ(A a) WHERE [x] OR a.x = 1", RefusedError, "[x]", "clause of its own"),
    ("SEQ(A a) WITHIN 5", QuerySyntaxError, "5", "unit"),
    ("SEQ(A a, NOT B b, C c)", QuerySyntaxError, "NOT", "~B b"),
    ("SEQ(A a, !B b, C c)", QuerySyntaxError, "!", "'~'"),
    (
        "SEQ(A a, B+ b[]) WHERE skip_till_any_match { a.x > 1 }",
        QuerySyntaxError,
        "{",
        "skip_till_any_match(a, b[]) { conditions }",
    ),
    (
        "SEQ(A a, B+ b[]) WHERE skip_till_any_match WITHIN 1 hour",
        RefusedError,
        "skip_till_any_match",
        "skip_till_any_match(a, b[]) { conditions }",
    ),
    ("SEQ(A a, ~SEQ(B b, C c), D d)", QuerySyntaxError, "(B b", "one component"),
]


@pytest.mark.parametrize(("text", "kind", "place", "said"), REFUSED)
def test_refused(text: str, kind: type[QueryError], place: str, said: str) -> None:
    whole = f"PATTERN {text}\nRETURN 1"
    with pytest.raises(kind) as error:
        parse(whole)
    assert said in str(error.value)
    assert isinstance(error.value, QueryError) and error.value.span is not None
    start, _ = error.value.span
    assert whole[start:].startswith(place)
    assert error.value.hint


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        ("a[i].x", "WHERE only"),
        ("n.x", "negated"),
        ("a[]", "count(a[])"),
        ("a[].x + 1", "sequence"),
        ("a[1].x AS X(y, z)", "2 names for 1"),
        ("a[1].x, a[1].y AS X(y, y)", "twice"),
        ("a[1].x WITHIN 5 seconds", "order"),
    ],
)
def test_refused_output(returned: str, said: str) -> None:
    with pytest.raises(QueryError) as error:
        parse(f"PATTERN SEQ(A+ a[], ~N n, B b) RETURN {returned}")
    assert said in str(error.value)


def test_streams_that_feed_themselves_are_refused() -> None:
    one = "FROM {} PATTERN SEQ(A a) RETURN a.x IN STREAM {}\n"
    with pytest.raises(RefusedError, match="t → s → t"):
        parse(one.format("s", "t") + one.format("t", "s"))
    with pytest.raises(RefusedError, match="s → s"):
        parse(one.format("s", "s"))
    with pytest.raises(RefusedError, match="UNION"):
        parse(one.format("r", "s") + one.format("r", "s"))
    assert len(parse(one.format("r", "s") + one.format("s", "t")).queries) == 2


def test_spellings_of_the_paper_and_of_keyboards() -> None:
    texts = [
        "a[i].x <= a[i-1].x AND b.y < 0.8 * a[a.LEN].y",
        "a[ i ].x ≤ a[i - 1].x ∧ b.y < 80% * a[a.len].y",
        "a[i].x ≤ a[i-1].x ^ b.y < 80 % * a[a.LEN].y",
    ]
    whole = "PATTERN SEQ(A+ a[], B b) WHERE skip_till_any_match(a[], b) {{ {} }} RETURN b.x"
    first, *others = (parse(whole.format(text)) for text in texts)
    assert all(other == first for other in others)
    assert parse(whole.replace("till", "til").format(texts[0])) == first
    assert parse("PATTERN SEQ(A a) WHERE a.x % 3 = 1 ^ a.y > 5% RETURN a.x")


def test_nested_sequences_unions_and_types_are_kept() -> None:
    text = """FROM "my stream" PATTERN SEQ(A a, SEQ(ANY(B, C)+ b[], ~D d), E e)
    WHERE strict_contiguity(a, b[]!) { [x, y] ∧ partition(b[i].x = b[i-1].x) } AND
      skip_till_any_match(e) { NOT e.x = 1 ∧ (e.x > 2 OR e.x < b[1].x) }
    WITHIN 5000 [ts] HAVING b.LEN > 2 RETURN a.x, b[].(x, y), lowest(b[].x, 2)
    UNION PATTERN SEQ(A a) RETURN a.x, a.y, a.z AS R(p, q, r) IN STREAM out-1;"""
    program = parse(text)
    assert parse(to_text(program)) == program
    block = program.queries[0].blocks[0]
    assert [part.variable for part in block.parts] == ["a", "b", "d", "e"]
    assert block.strategy("e") is sase.Strategy.ANY and block.strategy("d") is sase.Strategy.NEXT
    assert program.queries[0].stream == "out-1"


def test_values_without_names_are_called_after_what_they_are() -> None:
    (union,) = parse(QUERY_3).queries
    assert output_names(union) == ("symbol", "a", "b")
    (clash,) = parse(
        "PATTERN SEQ(A a, B+ b[]) RETURN a.x, b[].x, sum(b[].x), b.LEN, a.x + 1, a.time"
    ).queries
    names = ("a_x", "b_x", "sum_x", "count_b", "value", "a_time")
    assert output_names(clash, ["time"]) == names


SCANS = pa.schema(
    [
        ("type", pa.string()),
        ("time", pa.timestamp("us")),
        ("object_id", pa.string()),
        ("courier_id", pa.int32()),
        ("location", pa.string()),
        ("next", pa.string()),
    ]
)


def test_the_columns_of_one_query_are_known_to_the_next() -> None:
    _, (anomalies, couriers) = checked(parse(QUERY_4 + QUERY_5), SCANS)
    assert anomalies.field("courier_id").type == pa.int32()
    assert couriers.field("object_id").type == pa.list_(pa.string())
    assert couriers.field("time").type == pa.timestamp("us")


def test_columns_that_are_not_there_or_do_not_fit() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'location'"):
        checked(parse(QUERY_4.replace("c.location =", "c.locatio =")), SCANS)
    with pytest.raises(UnknownNameError, match="object_idd"):
        checked(parse(QUERY_4.replace("[object_id]", "[object_idd]")), SCANS)
    with pytest.raises(ConditionTypeError, match="compare a string with a number"):
        checked(parse(QUERY_4.replace("'Amherst'", "5")), SCANS)
    with pytest.raises(UnknownNameError, match="location"):
        checked(parse(QUERY_4 + QUERY_5.replace("a[].object_id", "a[].location")), SCANS)


def test_the_types_of_output() -> None:
    text = """PATTERN SEQ(A+ a[]) WHERE a[1].time > '2024-01-31'
    RETURN sum(a[].courier_id), avg(a[].courier_id), a[].(location, next), highest(a[].time, 2),
      a.LEN / 2, a.LEN * 2, max(a[].location)"""
    program, (schema,) = checked(parse(text), SCANS)
    assert [str(field.type) for field in schema][2:] == [
        "int64",
        "double",
        "list<item: struct<location: string, next: string>>",
        "list<item: timestamp[us]>",
        "double",
        "int64",
        "string",
    ]
    assert "TIMESTAMP" in to_text(program)
