"""Hints: the language that a text is in, the nearest name, the keyword that was meant."""

from __future__ import annotations

import pyarrow as pa
import pytest

import cereus
from cereus.errors import CereusError, did_you_mean, distance


def hint(text: str, dialect: str | None = None) -> str:
    with pytest.raises(CereusError) as raised:
        cereus.compile(text, dialect=dialect)
    return str(raised.value.hint)


CLAUSE = "MATCH_RECOGNIZE ( ORDER BY ts PATTERN (A B) DEFINE A AS x > 3 )"


@pytest.mark.parametrize(
    ("text", "tried", "dialect"),
    [
        ("PATTERN SEQ(A a, B b) WITHIN 5 minutes", None, "sase"),
        ("FROM s PATTERN SEQ(A a", "ceql", "sase"),
        (f"SELECT * FROM t {CLAUSE}", None, "match_recognize"),
        (CLAUSE, "sremo", "match_recognize"),
        ("SELECT * WHERE A ; B", "sase", "ceql"),
    ],
)
def test_a_text_of_another_language_names_the_dialect(
    text: str, tried: str | None, dialect: str
) -> None:
    assert f"say dialect={dialect!r}" in hint(text, tried)


def test_a_text_of_its_language_keeps_its_hint() -> None:
    assert "dialect" not in hint("PATTERN SEQ(A a", "sase")
    assert "dialect" not in hint("SELECT * WHERE A B")


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        ("PATTERN SEQ(A a, B+ b[]) WHERE b[1].from = 3", "sase"),
        ("SELECT * WHERE A AS a ; B FILTER a.from = 2", "ceql"),
    ],
)
def test_an_attribute_that_is_a_keyword_is_to_be_quoted(text: str, dialect: str) -> None:
    assert hint(text, dialect) == 'from is a keyword; write "from" to use it as a name'


def test_events_have_no_numbers_in_ceql() -> None:
    assert "have no numbers" in hint("SELECT * WHERE A ; B+ AS b FILTER b[1].price = 3")


def test_a_slip_in_a_keyword_is_named() -> None:
    assert hint("SELECT * form S WHERE A") == "did you mean FROM?"
    assert hint("SELECT * FROM S WEHRE A") == "did you mean WHERE?"


def test_months_are_not_taken_for_minutes() -> None:
    assert hint("SELECT * WHERE A ; B WITHIN 1 month") == "months differ in length: write 30 days"
    assert hint("SELECT * WHERE A ; B WITHIN 5 mintues") == "did you mean 'minutes'?"


@pytest.mark.parametrize(
    ("typed", "known", "meant"),
    [
        ("form", ["format", "from", "path"], "from"),
        ("month", ["minutes", "days"], None),
        ("SALE", ["BUY", "SELL"], "SELL"),
        ("volum", ["value", "volume"], "volume"),
        ("vol", ["price", "volume"], "volume"),
        ("Price", ["prices", "price"], "price"),
        ("x", ["y", "zz"], None),
        ("ts", ["stock_time"], None),
    ],
)
def test_the_nearest_name_is_a_slip_away(typed: str, known: list[str], meant: str | None) -> None:
    expected = (
        f"known here: {', '.join(sorted(known))}" if meant is None else f"did you mean {meant!r}?"
    )
    assert did_you_mean(typed, known) == expected


def test_distances_count_swapped_letters_once() -> None:
    assert distance("form", "from") == 1
    assert distance("", "abc") == 3
    assert distance("kitten", "sitting") == 3
    assert distance("same", "same") == 0


@pytest.mark.parametrize(
    "pattern", ["amount > 5", "A AND amount > -5", "amount = 5", "name = 'x'", "A AND price < 3"]
)
def test_a_condition_for_a_pattern_is_sent_to_filter(pattern: str) -> None:
    assert "conditions stand after it" in hint(f"SELECT * WHERE {pattern}")


def test_a_selected_column_is_sent_to_its_variable() -> None:
    assert "a[card], or after RETURN, a.card" in hint("SELECT card WHERE PAY AS a")
    assert hint("SELECT PYA WHERE PAY") == "did you mean 'PAY'?"


def test_brackets_that_read_another_event_are_told_what_to_write() -> None:
    text = "SELECT * WHERE A AS a ; B AS b FILTER b[x > 3 AND x = a.x]"
    events = pa.table({"type": ["A", "B"], "x": [4, 4]})
    with pytest.raises(CereusError) as raised:
        cereus.compile(text).run(events)
    assert str(raised.value.hint).endswith("without brackets: FILTER b.x = a.x")
    right = text.replace("AND x = a.x]", "] AND b.x = a.x")
    assert cereus.compile(right).count(events) == 1


def test_a_struct_column_with_the_name_of_a_variable_is_read_in_brackets() -> None:
    events = pa.table({"type": ["A", "B"], "x": [4, 4], "a": [{"x": 1}, {"x": 4}]})
    assert cereus.compile("SELECT * WHERE A AS a ; B AS b FILTER b[x = a.x]").count(events) == 1


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("SELECT * WHERE A ; B WITHIN 5 minutes;", "drop it here"),
        ("SELECT * WHERE A AS a ; B FILTER a.x > 3;", "drop it here"),
        ("SELECT * WHERE A ; B FILTER A.x > 3 ; PARTITION BY k", "drop it here"),
        ("SELECT * WHERE A ; B ORDER BY ts", 'order="time" sorts them'),
        ("SELECT * WHERE A ; B WITHIN 5 s LIMIT 5 ORDER BY ts", 'order="time" sorts them'),
        ("SELECT * WHERE A ; B HAVING count(b) > 3", "stand after FILTER"),
        ("SELECT * WHERE A ; B WITHIN 5 s FILTER A.x > 3", "right after the pattern"),
        ("SELECT * WHERE A ; B NOT C", "WITHOUT C for none in between"),
        ("SELECT * WHERE 3 A ; B", "A{3}"),
        ("SELECT * WHERE ADD TO CART ; PAY", '"ADD TO"'),
        ("SELECT * WHERE A ; B PARTITION BY user id", '"user id"'),
        ("SELECT * WHERE A FILTER A[order id = 3]", '"order id"'),
        ("SELECT * WHERE A ; B PARTITION BY 'user'", 'write "user" for a name'),
        ("SELECT * WHERE A ; B WITHIN '10 minutes'", "leave out the quotes: WITHIN 10 minutes"),
        ("SELECT * WHERE A ; B WITHIN 10 rows", "WITHIN 10 EVENTS"),
        ("SELECT a.price WHERE A AS a", "RETURN a.price"),
        ("SELECT * WHERE A RETURN *", "name the values"),
        ("SELECT * WHERE A RETURN A.*", "name the values"),
        ("SELECT * WHERE A RETURN A.x A.y", "a comma between two values"),
        ("SELECT * WHERE A RETURN count(*)", "count(b)"),
        ("SELECT * WHERE A+ FILTER count(A.*) > 3", "count(b)"),
        ("SELECT * WHERE A ; B # later", "a comment begins with --"),
        ("SELECT * WHERE A ; B // later", "a comment begins with --"),
    ],
)
def test_what_people_of_sql_and_python_write_in_a_query(query: str, said: str) -> None:
    assert said in hint(query)


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("name = ‘INTC’", "straight quotes"),
        ("name IN ['a', 'b']", "IN ('a', 'b')"),
        ("ok IS TRUE", "write = TRUE"),
        ("price > 1,5", "1.5"),
        ("price > 1_000", "write 1000"),
        ("price > 1, price < 5", "write AND"),
        ("name CONTAINS 'x'", "contains(name, 'text')"),
        ("name =~ 'x'", "name REGEXP"),
        ("name ~ 'x'", "name REGEXP"),
        ("name.contains('x')", "a function stands before"),
        ("price > $1", ":name"),
        ("price > {limit}", 'params={"limit": …}'),
        ("price > %(limit)s", 'params={"limit": …}'),
        ("price > ?", ":name"),
    ],
)
def test_what_people_of_sql_and_python_write_in_a_condition(condition: str, said: str) -> None:
    assert said in hint(f"SELECT * WHERE A FILTER A[{condition}]")


def test_arithmetic_is_not_taken_for_a_selection() -> None:
    with pytest.raises(CereusError, match="expected an arithmetic operator, ']', AND or OR"):
        cereus.compile("SELECT * WHERE A FILTER A[x = 3 & y = 4]")


def test_a_string_in_double_quotes_between_events_is_to_be_quoted_singly() -> None:
    assert "single quotes: 'INTC'" in hint('SELECT * WHERE A AS a FILTER a.name = "INTC"')


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("mean(A.x) > 3", "avg(b.x)"),
        ("median(A.x) > 3", "percentile(b.x, 0.5)"),
        ("len(A.name) > 3", "length(x)"),
        ("datediff(A.ts, A.ts) > 3", "b.ts - a.ts"),
        ("A.ts > 1735689600", "epoch(t)"),
        ("A.ts - A.ts > 5", "5 seconds"),
        ("A.ok = 1", "a condition by itself"),
    ],
)
def test_what_other_systems_call_or_compare_otherwise(condition: str, said: str) -> None:
    schema = {"type": "string", "x": "double", "name": "string", "ts": "timestamp", "ok": "bool"}
    with pytest.raises(CereusError) as raised:
        cereus.compile(f"SELECT * WHERE A FILTER {condition}", schema=schema)
    assert said in str(raised.value.hint)


def test_a_key_is_a_column_and_not_an_attribute() -> None:
    schema = {"type": "string", "user id": "int"}
    with pytest.raises(CereusError, match='write the column alone: PARTITION BY "user id"'):
        cereus.compile('SELECT * WHERE A AS a PARTITION BY a."user id"', schema=schema)


def test_columns_given_to_compile_belong_to_a_stream() -> None:
    with pytest.raises(CereusError, match=r"stream=cereus\.Stream\(time='ts'\)"):
        cereus.compile("SELECT * WHERE A", time="ts")  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("text", "dialect", "said"),
    [
        ("SELECT * WHERE A ⊕", "ceql", "A:+"),
        ("SELECT * WHERE ¬A", "ceql", "write NOT"),
        ("SELECT * WHERE A ; B | C", "ceql", "write OR"),
        ("SELECT * WHERE A FILTER A[x > 3 ∧ y > 4]", "ceql", "write AND"),
        ("{A:} . ⊤* . {B:}", "sremo", "skip"),
        ("{A:} · {B:}", "sremo", "write . for"),
        ("{A: -> r} . {B:}", "sremo", "after the braces"),
    ],
)
def test_the_signs_of_the_papers_are_told_how_to_write(text: str, dialect: str, said: str) -> None:
    assert said in hint(text, dialect)


@pytest.mark.parametrize("more", ["AS b", "FILTER B[x = 1]", "OR C"])
def test_an_unfollowed_event_with_more_than_a_type_stands_in_parentheses(more: str) -> None:
    text = f"SELECT * WHERE A AS a NOT FOLLOWED BY B {more} WITHIN 5 minutes"
    assert hint(text).startswith("put an event with a name or a condition in parentheses")


def test_a_sequence_of_eql_is_told_from_a_slip() -> None:
    assert hint('sequence by host [process where name == "x"] [file where true]').startswith(
        "this is EQL: "
    )
    assert hint("sequence").startswith("a query starts with SELECT")


NESTED = pa.schema(
    {
        "event": pa.struct({"category": pa.string(), "at": pa.timestamp("s")}),
        "host": pa.struct({"name": pa.string()}),
        "user": pa.struct({"name": pa.string()}),
    }
)


@pytest.mark.parametrize(
    ("condition", "meant"),
    [
        ("event.categroy = 'x'", "did you mean 'event.category'?"),
        ("category = 'x'", "did you mean 'event.category'?"),
        ("name = 'x'", "did you mean 'host.name' or 'user.name'?"),
        ("hots.name = 'x'", "did you mean 'host'?"),
        ("event.town = 'x'", "known here: at, category"),
    ],
)
def test_a_field_is_named_with_its_column(condition: str, meant: str) -> None:
    stream = cereus.Stream(type=None)
    with pytest.raises(CereusError) as raised:
        cereus.compile(f"SELECT * WHERE * AS a FILTER a[{condition}]", stream=stream, schema=NESTED)
    assert raised.value.hint == meant


@pytest.mark.parametrize(
    ("columns", "advice"),
    [
        ({"type": "event.category"}, "* AS a FILTER a[event.category = '…']"),
        ({"type": None, "keys": "host.name"}, "write PARTITION BY host.name in the query"),
        ({"type": None, "time": "event.at"}, "copy it to a column"),
        ({"type": "event.categroy"}, "did you mean 'event'?"),
    ],
)
def test_a_field_that_is_given_as_a_column_is_told_so(
    columns: dict[str, str | None], advice: str
) -> None:
    stream = cereus.Stream(**columns)  # type: ignore[arg-type]
    with pytest.raises(CereusError) as raised:
        cereus.compile("SELECT * WHERE A", stream=stream, schema=NESTED)
    assert advice in str(raised.value.hint)


def test_a_clause_may_end_as_statements_do() -> None:
    text = CLAUSE.replace("PATTERN", "ALL ROWS PER MATCH PATTERN") + ";"
    assert cereus.compile(text, dialect="match_recognize").text == text


@pytest.mark.parametrize(
    ("text", "dialect", "meant"),
    [
        ("PATTERN SEQ(A a; B b)", "sase", "commas separate the components"),
        ("PATTERN SEQ(A a -> B b)", "sase", "commas separate the components"),
        ("PATTERN SEQ(A a, B b) RETURN (a.x, b.x)", "sase", "RETURN has no parentheses"),
        ("(A ; B)[5s]", "algebra", "a time restriction follows an underscore: (A ; B)_5s"),
        ("loop (A ; B)[x]", "par", "write repeat (a ; b)"),
        ("C (A ; B)[x]", "par", "parentheses after an event type hold a condition"),
    ],
)
def test_signs_of_other_languages(text: str, dialect: str, meant: str) -> None:
    assert hint(text, dialect).startswith(meant)


def test_a_notebook_shows_an_explanation_in_its_lines() -> None:
    text = cereus.compile("SELECT * WHERE A FILTER A[x < 3]").explain()
    assert isinstance(text, str) and text.startswith("query\n")
    assert text._repr_html_().startswith("<pre>query\n") and "x &lt; 3" in text._repr_html_()
