"""Law: `parse(to_text(q)) == q` for every query that a text can say."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from operator import or_

from hypothesis import given, settings
from hypothesis import strategies as st

from cereus.clauses.tree import (
    AttributeWindow,
    Consume,
    EventWindow,
    Output,
    ParsedQuery,
    Strategy,
    TimeWindow,
)
from cereus.expr import tree as ex
from cereus.expr.print import condition_text
from cereus.expr.text import parse_condition
from cereus.languages.ceql import tree as cel
from cereus.languages.ceql.scope import bound
from cereus.languages.ceql.text import parse, to_text
from tests.volume import volume

WORDS = ["a", "b", "price", "SELL", "end", "limit", "next", "Count", "select", "NOT", "it's", 'q"`']
names = st.sampled_from([*WORDS, "odd name", "größe", "1st", "%"])
paths = st.lists(names, min_size=1, max_size=2).map(tuple)
numbers = st.integers(-(2**62), 2**62) | st.floats(allow_nan=False, allow_infinity=False)
intervals = st.timedeltas(timedelta(days=-9999), timedelta(days=9999))
times = st.datetimes(datetime(1900, 1, 1)) | st.datetimes(
    datetime(1900, 1, 1), timezones=st.just(UTC)
)
literals = st.builds(
    ex.Literal, numbers | st.text(max_size=5) | st.booleans() | st.none() | times | intervals
)
PLAIN_PATTERNS = st.text("ab%_ '", max_size=5)
REGEXES = st.sampled_from(["a.*", "[a-z]+", "^x$", "it''s|b", "\\d{2}"])


def negation(operand: ex.Expression) -> ex.Expression:
    """The parser reads the minus of an unsigned literal as part of it."""
    value = operand.value if isinstance(operand, ex.Literal) else None
    signed = isinstance(value, int | float | timedelta) and not isinstance(value, bool)
    return ex.Not(operand) if signed else ex.Negate(operand)


def compound(inner: st.SearchStrategy[ex.Expression]) -> st.SearchStrategy[ex.Expression]:
    several = st.lists(inner, min_size=2, max_size=3).map(tuple)
    branches = st.lists(st.tuples(inner, inner), min_size=1, max_size=2).map(tuple)
    return st.one_of(
        st.builds(ex.Arithmetic, st.sampled_from("+-*/%"), inner, inner),
        st.builds(ex.Comparison, st.sampled_from(["=", "!=", "<", "<=", ">", ">="]), inner, inner),
        st.builds(ex.And, several),
        st.builds(ex.Or, several),
        st.builds(ex.Not, inner),
        inner.map(negation),
        st.builds(ex.In, inner, st.lists(literals, min_size=1, max_size=3).map(tuple)),
        st.builds(ex.Between, inner, inner, inner | st.none()),
        st.builds(ex.Between, inner, st.none(), inner),
        st.builds(ex.Like, inner, PLAIN_PATTERNS),
        st.builds(ex.Regexp, inner, REGEXES),
        st.builds(ex.IsNull, inner),
        st.builds(ex.Case, branches, inner | st.none()),
        st.builds(ex.Call, st.sampled_from(["abs", "coalesce", "now"]), several | st.just(())),
    )


def expressions(leaf: st.SearchStrategy[ex.Expression]) -> st.SearchStrategy[ex.Expression]:
    return st.recursive(leaf | literals, compound, max_leaves=8)


conditions = expressions(st.builds(ex.Attribute, paths))


@settings(max_examples=volume(30, 100), deadline=None)
@given(conditions)
def test_conditions(condition: ex.Expression) -> None:
    assert parse_condition(condition_text(condition)) == condition


# ---------------------------------------------------------------- predicates


def attribute_of(variable: str) -> st.SearchStrategy[ex.Expression]:
    return st.builds(ex.Attribute, paths, st.just(variable))


@st.composite
def about_one(draw: st.DrawFn, variables: list[str]) -> cel.Predicate:
    """`A[…]`: anything pointwise."""
    leaf = attribute_of(draw(st.sampled_from(variables)))
    rest = draw(expressions(leaf))
    test = draw(st.builds(ex.Regexp, leaf, REGEXES) | leaf.map(ex.IsNull))
    return cel.Holds(draw(st.sampled_from([test, ex.Not(test), ex.Or((test, rest))])))


@st.composite
def about_several(draw: st.DrawFn, variables: list[str]) -> cel.Predicate:
    """A comparison between variables or of aggregates; its logic is the predicate's own."""
    variable = draw(st.sampled_from(variables))
    aggregate = st.builds(ex.Aggregate, st.sampled_from(["sum", "max"]), st.just(variable), paths)
    left = draw(aggregate | st.just(ex.Aggregate("count", variable, None)))
    right = draw(attribute_of(draw(st.sampled_from(variables))) | literals)
    comparison = ex.Comparison(draw(st.sampled_from(["=", "<", ">"])), left, right)
    return cel.Holds(draw(st.sampled_from([comparison, ex.Not(comparison)])))


def predicates(variables: list[str]) -> st.SearchStrategy[cel.Predicate]:
    return st.recursive(
        about_one(variables) | about_several(variables),
        lambda inner: st.builds(
            lambda kind, operands: kind(tuple(operands)),
            st.sampled_from([cel.AllOf, cel.AnyOf]),
            st.lists(inner, min_size=2, max_size=3),
        ),
        max_leaves=3,
    )


# ---------------------------------------------------------------- formulas and queries

STREAMS = ("S1", "my stream")
types = st.builds(cel.Type, names | st.just("*"), st.none() | st.sampled_from(STREAMS))
BINARIES = [cel.Sequence, cel.ContiguousSequence, or_, cel.And, cel.All, cel.Unless]
STRATEGIES = [each for each in Strategy if each is not Strategy.ALL]


@st.composite
def filtered(draw: st.DrawFn, inner: st.SearchStrategy[cel.Formula]) -> cel.Formula:
    body = draw(inner)
    variables = sorted(bound(body))
    return cel.Filter(body, draw(predicates(variables))) if variables else body


@st.composite
def projected(draw: st.DrawFn, inner: st.SearchStrategy[cel.Formula]) -> cel.Formula:
    body = draw(inner)
    plain = sorted(name for name in bound(body) if ">" not in name)
    kept = draw(st.sets(st.sampled_from(plain), min_size=1)) if plain else set()
    return cel.Project(frozenset(kept), body) if kept else body


def grown(inner: st.SearchStrategy[cel.Formula]) -> st.SearchStrategy[cel.Formula]:
    return st.one_of(
        st.builds(cel.As, inner, names),
        st.builds(cel.Iteration, inner),
        st.builds(cel.ContiguousIteration, inner),
        st.builds(cel.Start, inner),
        st.builds(cel.Select, st.sampled_from(STRATEGIES), inner),
        st.builds(cel.Not, filtered(st.builds(cel.As, types, names))),
        st.builds(lambda kind, a, b: kind(a, b), st.sampled_from(BINARIES), inner, inner),
        filtered(inner),
        projected(inner),
    )


formulas = st.recursive(types, grown, max_leaves=6)
windows = st.one_of(
    st.builds(EventWindow, st.integers(1, 10**9)),
    st.builds(TimeWindow, st.integers(0, 10**15)),
    st.builds(AttributeWindow, st.integers(0, 10**9) | st.floats(0, 1e9), paths),
)


@st.composite
def queries(draw: st.DrawFn) -> ParsedQuery:
    formula = draw(formulas)
    variables = sorted(bound(formula))
    outputs = st.none()
    if variables:
        output = st.builds(
            Output, st.sampled_from(variables), st.lists(paths, max_size=2).map(tuple)
        )
        outputs |= st.lists(output, min_size=1, max_size=2).map(tuple)
    select = draw(outputs)
    return ParsedQuery(
        formula,
        select=select,
        strategy=draw(st.sampled_from(Strategy)),
        streams=draw(st.sampled_from([(), STREAMS])),
        partition_by=draw(st.lists(paths, max_size=2).map(tuple)),
        window=draw(st.none() | windows),
        consume=draw(st.sampled_from(Consume)),
        limit=draw(st.none() | st.integers(0, 9)),
        count=select is None and draw(st.booleans()),
    )


@settings(max_examples=volume(15, 50), deadline=None)
@given(queries())
def test_queries(query: ParsedQuery) -> None:
    assert parse(to_text(query)) == query


def test_alternatives_of_several_variables_keep_their_brackets_in_an_and() -> None:
    """`p AND q OR r` would be read as `(p AND q) OR r`."""
    x, y = ex.Attribute(("x",), "A"), ex.Attribute(("y",), "a")
    alternatives = ex.Or((ex.Comparison("=", x, y), ex.Comparison(">", x, y)))
    both = cel.AllOf((cel.Holds(ex.Comparison("<", x, y)), cel.Holds(alternatives)))
    text = to_text(ParsedQuery(cel.Filter(cel.As(cel.Type("A"), "a"), both)))
    assert text.endswith("FILTER A.x < a.y AND (A.x = a.y OR A.x > a.y)")
