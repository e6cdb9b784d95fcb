"""`cereus` and named queries in SQL find what the local engine finds, and say their columns
before anything runs."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import cereus
from cereus import spark as cs
from cereus.errors import CereusError

from .market import ROWS, STREAM, comparable, locally, multisets, random_events

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
SEQUENCE = "SELECT * WHERE A ; B+ ; C WITHIN 6 seconds"
KEYED = "SELECT NEXT a[price], b WHERE A AS a ; B AS b PARTITION BY k WITHIN 20 seconds"
ARRANGED = "TABLE(market) PARTITION BY k ORDER BY (ts, id)"
WHOLE = "TABLE(market) WITH SINGLE PARTITION ORDER BY (ts, id)"


@pytest.fixture(scope="module")
def events() -> pa.Table:
    return random_events(5)


@pytest.fixture(scope="module")
def sql(spark: SparkSession, events: pa.Table) -> Iterator[SparkSession]:
    shuffled = events.take(pa.array(random.Random(2).sample(range(ROWS), ROWS)))
    spark.createDataFrame(shuffled).repartition(3).createOrReplaceTempView("market")
    cs.register(spark)
    yield spark
    spark.catalog.dropTempView("market")


def call(table: str, text: str, **options: str) -> str:
    named = "".join(f", {name} => {value}" for name, value in options.items())
    return f"SELECT * FROM cereus({table}, '{text}'{named})"


def found(spark: SparkSession, text: str, query: cereus.Query) -> Counter[Any]:
    return multisets(comparable(spark.sql(text), query).toArrow()).get(0, Counter())


# ---------------------------------------------------------------- the same answers


@pytest.mark.parametrize(
    ("table", "text", "dialect"),
    [
        (WHOLE, SEQUENCE, "ceql"),
        (WHOLE, KEYED, "ceql"),
        (ARRANGED, KEYED, "ceql"),
        ("TABLE(market) PARTITION BY pmod(hash(k), 3) ORDER BY (k, ts, id)", KEYED, "ceql"),
        (WHOLE, "any({A:} -> r, {B: seq > r.seq + 3}) WITHIN 5 seconds", "sremo"),
    ],
)
def test_the_function_finds_what_the_local_engine_finds(
    sql: SparkSession, events: pa.Table, table: str, text: str, dialect: str
) -> None:
    query = cereus.compile(text, dialect=dialect, stream=STREAM)
    expected = locally(events, query)
    named = {"stream": "'venue'", "columns": "array('id')", "dialect": f"'{dialect}'"}
    assert expected
    assert found(sql, call(table, text, **named), query) == expected


def test_parameters_are_values_of_the_query(sql: SparkSession, events: pa.Table) -> None:
    """`params` is a struct of any values, or a map of values of one type."""
    text = """SELECT * WHERE A AS a ; B AS b FILTER a[price > :low] AND b[side = :side]
    WITHIN :size seconds LIMIT :most"""
    given = {"low": 40.5, "side": "x", "size": 8, "most": 2}
    query = cereus.compile(text, stream=STREAM, params=given)
    expected = locally(events, query)
    assert expected
    struct = "named_struct('low', 40.5D, 'side', 'x', 'size', 8, 'most', 2)"
    named = {"stream": "'venue'", "columns": "array('id')", "params": struct}
    assert found(sql, call(WHOLE, text, **named), query) == expected
    one = "SELECT * WHERE A AS a FILTER a[side = :side]"
    alike = cereus.compile(one, stream=STREAM, params={"side": "y"})
    named["params"] = "map('side', 'y')"
    assert found(sql, call(WHOLE, one, **named), alike) == locally(events, alike)


def test_a_parameter_without_a_value_is_an_error_before_anything_runs(sql: SparkSession) -> None:
    text = "SELECT * WHERE A AS a FILTER a[side = :side]"
    with pytest.raises(Exception, match=":side"):
        sql.sql(call(WHOLE, text))


def test_events_that_do_not_pass_a_condition_are_not_there(
    sql: SparkSession, events: pa.Table
) -> None:
    text, where = "SELECT * WHERE A : B WITHIN 9 seconds", "type != 'C' AND price > 20"
    query = cereus.compile(text, stream=replace(STREAM, where=where))
    expected = locally(events, query)
    assert expected and expected != locally(events, cereus.compile(text, stream=STREAM))
    named = {"stream": "'venue'", "columns": "array('id')", "where": f'"{where}"'}
    assert found(sql, call(WHOLE, text, **named), query) == expected


@pytest.mark.parametrize(
    ("text", "dialect", "shown", "numbers"),
    [
        ("repeat (A ; try B[x] unless C | D[y])", "par", "event", "position"),
        ("(A ; B)_{9 s} - C", "algebra", "events", "constituents"),
    ],
)
def test_programs_and_event_expressions(
    sql: SparkSession, events: pa.Table, text: str, dialect: str, shown: str, numbers: str
) -> None:
    options = {"merge_ties": "true", "values": "true"} if dialect == "algebra" else {}
    arguments: dict[str, Any] = dict.fromkeys(options, True)
    stream = cereus.Stream(time="ts", keys="k")
    query = cereus.compile(text, dialect=dialect, stream=stream, **arguments)
    expected = Counter(map(repr, query.run(events)))
    rows = sql.sql(call(ARRANGED, text, dialect=f"'{dialect}'", key="'k'", **options))
    renamed = []
    for row in rows.toArrow().to_pylist():
        ids = row[shown]["id"] if dialect == "par" else [each["id"] for each in row[shown]]
        names = {numbers if name == shown else name: row[name] for name in row}
        renamed.append({**names, numbers: ids})
    assert Counter(map(repr, renamed)) == expected and expected


def test_each_partition_of_the_table_is_a_stream_of_its_own(
    sql: SparkSession, events: pa.Table
) -> None:
    """What one partition leaves behind must not reach into the next."""
    query = cereus.compile("SELECT * WHERE START(A ; B)", stream=STREAM)
    keyed = cereus.compile("SELECT * WHERE START(A ; B) PARTITION BY k", stream=STREAM)
    ids = lambda matches: Counter(ids for *_, ids, _held in matches.elements())  # noqa: E731
    text = call(ARRANGED, query.text, columns="array('id')")
    assert ids(found(sql, text, query)) == ids(locally(events, keyed))


def test_a_query_can_be_a_function_of_its_own(sql: SparkSession, events: pa.Table) -> None:
    query = cereus.compile(KEYED, stream=STREAM)
    cs.register(sql, pairs=query, schema="market")
    shown = sql.sql(f"SELECT * FROM pairs({ARRANGED})")
    assert shown.columns == ["k", "start_time", "end_time", "a", "b", "events"]
    held = "transform(b, e -> struct(e.id)) AS b"
    whole = f"SELECT * EXCEPT (b), {held} FROM pairs({ARRANGED})"
    assert found(sql, whole, query) == locally(events, query)


# ---------------------------------------------------------------- before anything runs


def test_columns_are_known_when_the_statement_is_analysed(sql: SparkSession) -> None:
    counted = call(ARRANGED, "SELECT COUNT(*) WHERE A ; B PARTITION BY k WITHIN 1 hour")
    assert sql.sql(counted).schema.simpleString() == (
        "struct<k:string,end_time:timestamp,count:double,exact:boolean>"
    )
    chosen = call(ARRANGED, KEYED, columns="array('id', 'price')", events="false")
    assert sql.sql(chosen).schema.simpleString() == (
        "struct<k:string,start_time:timestamp,end_time:timestamp,"
        "a:array<struct<price:double>>,b:array<struct<id:bigint,price:double>>>"
    )


def test_only_what_is_needed_travels(sql: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    sql.sql(call(ARRANGED, SEQUENCE, columns="array('id')")).explain()
    (made,) = [line for line in capsys.readouterr().out.splitlines() if "named_struct" in line]
    assert "price" not in made and "id" in made


MISTAKES = [
    (call(ARRANGED, "SELECT * WHERE A FILTER A[prize > 3]"), "did you mean 'price'?"),
    (call(ARRANGED, SEQUENCE, tiem="'ts'"), "did you mean 'time'?"),
    (call(ARRANGED, SEQUENCE, time="'tss'"), "'tss'"),
    (call(ARRANGED, SEQUENCE, dialect="'ceqll'"), "did you mean 'ceql'?"),
    (call(ARRANGED, SEQUENCE, columns="array('idd')"), "did you mean 'id'?"),
    (call("TABLE(SELECT id, ts FROM market) PARTITION BY (id)", SEQUENCE), "type => NULL"),
    (call("TABLE(SELECT *, ts AS t2 FROM market) PARTITION BY (id)", SEQUENCE), "ts, t2?"),
    ("SELECT * FROM cereus('SELECT * WHERE A')", "needs one table"),
    (f"SELECT * FROM cereus({ARRANGED})", "which query?"),
    (f"SELECT * FROM cereus({ARRANGED}, concat('SELECT', rand()))", "not a constant"),
]


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        (call(ARRANGED, "SELECT * WHERE A ;; B"), "1 | SELECT * WHERE A ;; B\n"),
        # every analysis is a process of its own
        *[pytest.param(*each, marks=pytest.mark.long) for each in MISTAKES],
    ],
)
def test_mistakes_are_errors_of_the_analysis(
    sql: SparkSession, statement: str, message: str
) -> None:
    from pyspark.errors import AnalysisException

    with pytest.raises(AnalysisException) as raised:
        sql.sql(statement)
    assert message in str(raised.value)
    assert "given(" not in str(raised.value), "the way to the mistake is not the user's business"


@pytest.mark.long
def test_rows_that_are_dealt_out_as_they_lie_are_refused(sql: SparkSession) -> None:
    from pyspark.errors import PythonException

    cs.register(sql, triples=cereus.compile(SEQUENCE, stream=STREAM), schema="market")
    sorted_rows = "TABLE(SELECT * FROM market SORT BY ts, id)"
    for statement in (call(sorted_rows, SEQUENCE), f"SELECT * FROM triples({sorted_rows})"):
        with pytest.raises(PythonException, match="WITH SINGLE PARTITION"):
            sql.sql(statement).count()


def test_what_is_registered_is_a_query_for_known_columns(sql: SparkSession) -> None:
    with pytest.raises(CereusError, match="what are the columns"):
        cs.register(sql, pairs=cereus.compile(KEYED, stream=STREAM))
    with pytest.raises(CereusError, match="compiled query"):
        cs.register(sql, pairs=KEYED, schema="market")  # type: ignore[arg-type]
