"""CEQL: texts and the queries they stand for."""

from __future__ import annotations

import pytest

from cereus.clauses.tree import (
    AttributeWindow,
    Consume,
    EventWindow,
    Output,
    Strategy,
    TimeWindow,
    Window,
)
from cereus.clauses.tree import ParsedQuery as Query
from cereus.expr.tree import (
    Aggregate,
    Arithmetic,
    Attribute,
    Call,
    Comparison,
    Expression,
    Like,
    Literal,
    Regexp,
)
from cereus.expr.tree import Not as NotTrue
from cereus.expr.tree import Or as Either
from cereus.languages.ceql.text import parse, to_text
from cereus.languages.ceql.tree import (
    All,
    AllOf,
    And,
    AnyOf,
    As,
    ContiguousIteration,
    ContiguousSequence,
    Filter,
    Formula,
    Holds,
    Iteration,
    Not,
    Or,
    Predicate,
    Project,
    Select,
    Sequence,
    Start,
    Type,
    Unless,
)

A, B, C, D = Type("A"), Type("B"), Type("C"), Type("D")


def formula(text: str) -> Formula:
    return parse(f"SELECT * FROM S WHERE {text}").formula


FORMULAS: dict[str, Formula] = {
    "A": A,
    "*": Type("*"),
    "S>A": Type("A", "S"),
    "S>*": Type("*", "S"),
    '"odd type"': Type("odd type"),
    "`next`": Type("next"),
    "A AS a": As(A, "a"),
    "A+": Iteration(A),
    "A:+": ContiguousIteration(A),
    # postfix operators, in any mix, bind tightest
    "(A OR B)+ as a": As(Iteration(Or((A, B))), "a"),
    "A as a + as b": As(Iteration(As(A, "a")), "b"),
    "A :+ : B": ContiguousSequence(ContiguousIteration(A), B),
    "A ; B+": Sequence(A, Iteration(B)),
    "A ; B AS b": Sequence(A, As(B, "b")),
    # one level, to the left
    "A ; B : C": ContiguousSequence(Sequence(A, B), C),
    "A : B ; C": Sequence(ContiguousSequence(A, B), C),
    "A ; (B ; C)": Sequence(A, Sequence(B, C)),
    "A AND B ALL C": All(And(A, B), C),
    # then AND ALL, OR, UNLESS
    "A ; B AND C ; D": And(Sequence(A, B), Sequence(C, D)),
    "A OR B AND C": Or((A, And(B, C))),
    "A UNLESS B OR C": Unless(A, Or((B, C))),
    "A UNLESS B UNLESS C": Unless(Unless(A, B), C),
    # operators in front of parentheses, in any case; the words stay free as types
    "START(A)": Start(A),
    "NOT (A):+ ; B": Sequence(ContiguousIteration(Not(A)), B),
    "next(A ; B)": Select(Strategy.NEXT, Sequence(A, B)),
    "MAX(STRICT(A))": Select(Strategy.MAX, Select(Strategy.STRICT, A)),
    "LAST(A) ; ANY(B)": Sequence(Select(Strategy.LAST, A), Select(Strategy.ANY, B)),
    "PROJECT[a, B](A as a ; B)": Project(frozenset({"a", "B"}), Sequence(As(A, "a"), B)),
    "START ; NEXT ; LIMIT": Sequence(Sequence(Type("START"), Type("NEXT")), Type("LIMIT")),
}


@pytest.mark.parametrize("text", FORMULAS)
def test_formula(text: str) -> None:
    assert formula(text) == FORMULAS[text]


def test_filter_is_loosest() -> None:
    tree = formula("A UNLESS B FILTER A[x > 1] FILTER A[y > 1]")
    assert tree == Filter(Filter(Unless(A, B), above("A", "x")), above("A", "y"))


def test_filter_in_parentheses_stays_there() -> None:
    assert formula("(A FILTER A[x > 1]) ; B") == Sequence(Filter(A, above("A", "x")), B)


def test_not_takes_a_filtered_event() -> None:
    assert formula("NOT(A AS a FILTER a[x > 1])") == Not(Filter(As(A, "a"), above("a", "x")))


# ---------------------------------------------------------------- predicates


def of(variable: str, *path: str) -> Attribute:
    return Attribute(path, variable)


def greater(left: Expression, right: float) -> Expression:
    return Comparison(">", left, Literal(right))


def above(variable: str, attribute: str, value: int = 1) -> Holds:
    return Holds(greater(of(variable, attribute), value))


def less(left: Expression, right: Expression) -> Expression:
    return Comparison("<", left, right)


NOT_X = Holds(NotTrue(greater(of("a", "x"), 1)))
NOT_Y = Holds(NotTrue(greater(of("b", "y"), 2)))
MOVE = Arithmetic(
    "/",
    Call("abs", (Arithmetic("-", of("a", "price"), of("b", "price")),)),
    of("a", "price"),
)
PREDICATES: dict[str, Predicate] = {
    "a[x > 1]": above("a", "x"),
    "a.x > 1": above("a", "x"),
    "a.place.city > 1": Holds(greater(of("a", "place", "city"), 1)),
    "a[place.city > 1]": Holds(greater(of("a", "place", "city"), 1)),
    "S>A[x > 1]": above("S>A", "x"),
    '"S" > "A" [x > 1]': above("S>A", "x"),
    "a.price < b.price": Holds(less(of("a", "price"), of("b", "price"))),
    "sum(b.volume) > 1000": Holds(greater(Aggregate("sum", "b", ("volume",)), 1000)),
    "count(b) > 1": Holds(greater(Aggregate("count", "b", None), 1)),
    "abs(a.price - b.price)/a.price > 0.02": Holds(greater(MOVE, 0.02)),
    # AND and OR of filters; OR inside brackets is decided event by event
    "a[x > 1] AND b[y > 2]": AllOf((above("a", "x"), above("b", "y", 2))),
    "a.x > 1 OR b.y > 2": AnyOf((above("a", "x"), above("b", "y", 2))),
    "(a[x > 1] OR b[y > 2]) AND a[z > 1]": AllOf(
        (AnyOf((above("a", "x"), above("b", "y", 2))), above("a", "z"))
    ),
    "a[x > 1 or y > 1]": Holds(Either((greater(of("a", "x"), 1), greater(of("a", "y"), 1)))),
    # NOT goes inwards
    "NOT a[x > 1]": NOT_X,
    "NOT NOT a[x > 1]": above("a", "x"),
    "NOT (a[x > 1] AND b[y > 2])": AnyOf((NOT_X, NOT_Y)),
    "NOT (a[x > 1] OR NOT b.y > 2)": AllOf((NOT_X, above("b", "y", 2))),
    "NOT S>A[x > 1]": Holds(NotTrue(greater(of("S>A", "x"), 1))),
    # LIKE is SQL's, whatever signs it has
    "a[name LIKE 'MS%']": Holds(Like(of("a", "name"), "MS%")),
    "a[name LIKE 'MSFT']": Holds(Like(of("a", "name"), "MSFT")),
    "a[name LIKE 'MS.*']": Holds(Like(of("a", "name"), "MS.*")),
    "a.name LIKE '[(%'": Holds(Like(of("a", "name"), "[(%")),
    "a[name REGEXP 'MS.*']": Holds(Regexp(of("a", "name"), "MS.*")),
}


@pytest.mark.parametrize("text", PREDICATES)
def test_predicate(text: str) -> None:
    tree = formula(f"A AS a ; B AS b FILTER {text}")
    assert isinstance(tree, Filter)
    assert tree.predicate == PREDICATES[text]


def test_filter_sees_events_of_any_stream_that_a_type_without_one_may_match() -> None:
    text = "SELECT * FROM S1, S2 WHERE BUY FILTER S1>BUY[x > 1] AND S2>BUY[x > 1]"
    tree = parse(text).formula
    assert tree == Filter(Type("BUY"), AllOf((above("S1>BUY", "x"), above("S2>BUY", "x"))))


# ---------------------------------------------------------------- the query around the formula


def test_everything_at_once() -> None:
    text = """
        select next a, S>A, B[price, place.city]  -- what
        from S, "other stream"
        where A as a ; B
        limit 3 consume by partition within 100 events partition by [k, place.city]
    """
    assert parse(text) == Query(
        Sequence(As(A, "a"), B),
        select=(Output("a"), Output("S>A"), Output("B", (("price",), ("place", "city")))),
        strategy=Strategy.NEXT,
        streams=("S", "other stream"),
        partition_by=(("k",), ("place", "city")),
        window=EventWindow(100),
        consume=Consume.PARTITION,
        limit=3,
    )


def test_the_least_query() -> None:
    assert parse("SELECT * WHERE A") == Query(A)


def test_the_text_is_kept() -> None:
    assert parse("SELECT * WHERE A").text == "SELECT * WHERE A"


def test_partition_without_brackets() -> None:
    assert parse("SELECT * WHERE A PARTITION BY k, l").partition_by == (("k",), ("l",))


def test_count() -> None:
    assert parse("SELECT COUNT(*) WHERE A") == Query(A, count=True)


def test_a_variable_may_be_called_like_a_strategy() -> None:
    query = parse("SELECT last FROM S WHERE A AS last")
    assert (query.strategy, query.select) == (Strategy.ALL, (Output("last"),))


@pytest.mark.parametrize("strategy", Strategy)
def test_strategies(strategy: Strategy) -> None:
    assert parse(f"SELECT {strategy} * WHERE A").strategy is strategy


SECOND = 1_000_000
WINDOWS: dict[str, Window] = {
    "10 seconds": TimeWindow(10 * SECOND),
    "1 SECOND": TimeWindow(SECOND),
    "10s": TimeWindow(10 * SECOND),
    "0 sec": TimeWindow(0),
    "5 min": TimeWindow(300 * SECOND),
    "1 hour 30 minutes": TimeWindow(5400 * SECOND),
    "1.5 hours": TimeWindow(5400 * SECOND),
    "2 days": TimeWindow(172_800 * SECOND),
    "1 week": TimeWindow(604_800 * SECOND),
    "1.5 ms": TimeWindow(1500),
    "7 us": TimeWindow(7),
    "1 event": EventWindow(1),
    "100 EVENTS": EventWindow(100),
    "5000 [ts]": AttributeWindow(5000, ("ts",)),
    "0.5 [place.x]": AttributeWindow(0.5, ("place", "x")),
}


@pytest.mark.parametrize("text", WINDOWS)
def test_window(text: str) -> None:
    assert parse(f"SELECT * WHERE A WITHIN {text}").window == WINDOWS[text]


def test_printed_query_reads_well() -> None:
    text = """\
SELECT NEXT a, b[price]
FROM Stock
WHERE (SELL AS a ; BUY+ AS b) UNLESS HALT FILTER a[name = 'MSFT'] AND a.price < b.price
PARTITION BY name
WITHIN 90 minutes
CONSUME BY ANY
LIMIT 5"""
    assert to_text(parse(text)) == text.replace("(SELL AS a ; BUY+ AS b)", "SELL AS a ; BUY+ AS b")


def test_long_sequences_print() -> None:
    query = parse("SELECT * WHERE " + " ; ".join(["A"] * 300))
    assert parse(to_text(query)) == query
