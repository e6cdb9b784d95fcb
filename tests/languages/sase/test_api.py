"""SASE+ as people use it: compile, run, push, save, show; and what they are told when a text is
wrong."""

from __future__ import annotations

import math
import pickle
import runpy
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import cereus
from cereus.cli.main import app
from cereus.errors import CereusError, DataError, QueryError, SnapshotError
from cereus.show.diagram import diagram

from .paper_queries import QUERIES, QUERY_1, QUERY_2, QUERY_3, QUERY_4, QUERY_5
from .test_paper import DAY, HOUR, Permutations, couriers, stock

PAPER = cereus.Stream(type="kind", time="time", unit="us")
STREAM = cereus.Stream(time="t", unit="s")
LETTERS = pa.table(
    {
        "type": list("ABABCA"),
        "t": [0, 1, 2, 3, 4, 100],
        "x": [1, 2, 3, 4, 5, 6],
        "k": list("uvuvuu"),
    }
)


def compiled(text: str, stream: cereus.Stream = STREAM, **options: Any) -> cereus.Query:
    return cereus.compile(text, dialect="sase", stream=stream, **options)


def rows(text: str, events: pa.Table = LETTERS, **options: Any) -> list[dict[str, Any]]:
    found = list(compiled(text, **options).run(events))
    return sorted(found, key=lambda row: (row["end"], row["start"]))


def values(text: str, events: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """The positions and the returned values of a query of the paper."""
    found = rows(text, pa.Table.from_pylist(events), stream=PAPER)
    spans = ("start", "end", "start_time", "end_time")
    return [tuple(value for name, value in row.items() if name not in spans) for row in found]


# ---------------------------------------------------------------- the paper's queries


def test_query_1() -> None:
    news = {**stock(0, 0, 0, ""), "kind": "NEWS", "type": "bad"}
    trades = [stock(1, 1, 100), stock(2, 1, 50, "MSFT"), stock(3, 1, 7), stock(4 * HOUR + 1, 1, 9)]
    assert values(QUERY_1, [news, *trades]) == [([0, 1, 3], 107)]


def test_query_2() -> None:
    prices = [10, 12, 11, 15, 20, 25, 20]
    events = [stock(time, price) for time, price in enumerate(prices)]
    assert values(QUERY_2, events) == [([0, 1, 3, 4], "GOOG", 10)]


def test_query_3() -> None:
    traded = [(10.0, 1001), (11.0, 1100), (10.6, 870), (12.0, 690)]
    events = [stock(time, price, volume) for time, (price, volume) in enumerate(traded)]
    plunge = {"price": 10.6, "volume": 870}
    assert values(QUERY_3, events) == [
        ([0, 1, 2], "GOOG", {"price": 10.0, "volume": 1001}, plunge),
        ([1, 2], "GOOG", {"price": 11.0, "volume": 1100}, plunge),
    ]


def test_queries_4_and_5_say_the_rows_of_the_input() -> None:
    events = pa.Table.from_pylist(couriers(10, 9))
    found = compiled(QUERY_4 + QUERY_5, PAPER).run(events)
    (match,) = found
    assert match["courier_id"] == "ann"
    assert match["object_id"] == [f"ann{number}" for number in range(10)]
    assert (match["start_time"], match["end_time"]) == (0, 9 * DAY // 2)
    assert match["positions"] == [
        row for row in range(events.num_rows) if events["courier_id"][row].as_py() == "ann"
    ]
    assert set(found.events()["courier_id"].to_pylist()) == {"ann"}
    anomalies = compiled(QUERY_4 + QUERY_5, PAPER, output="Q4-OUTPUT").run(events)
    assert len(anomalies) == 19
    assert len(compiled(QUERY_5 + QUERY_4, PAPER).run(events)) == 1


# ---------------------------------------------------------------- what comes out


def test_every_shape_of_return_has_its_type() -> None:
    text = """PATTERN SEQ(A+ a[], B b) WHERE skip_till_next_match(a[], b) { b.x > 3 }
    RETURN b.x, a[].x, b.(x, k), a[].(x, k), sum(a[].x), avg(a[].x), highest(a[].x, 1), max(a[].k),
      a.LEN * 2, b.x / 8, upper(b.k)
    AS R(one, many, pair, pairs, total, mean, top, letter, twice, part, said)"""
    query = compiled(text, schema=LETTERS.schema)
    table = query.run(LETTERS).table
    assert [str(field.type) for field in table.schema][5:] == [
        "int64",
        "list<item: int64>",
        "struct<x: int64, k: string>",
        "list<item: struct<x: int64, k: string>>",
        "int64",
        "double",
        "list<item: int64>",
        "string",
        "int64",
        "double",
        "string",
    ]
    (match,) = [row for row in table.to_pylist() if row["positions"] == [0, 2, 3]]
    assert [match[name] for name in table.column_names[5:]] == [
        4,
        [1, 3],
        {"x": 4, "k": "v"},
        [{"x": 1, "k": "u"}, {"x": 3, "k": "u"}],
        4,
        2.0,
        [3],
        "u",
        4,
        0.5,
        "V",
    ]


def test_without_return_variables_hold_positions() -> None:
    query = compiled("PATTERN SEQ(A a, B+ b[]) WITHIN 10 seconds")
    assert query.variables == ("a", "b")
    found = sorted((m["a"], m["b"], m["positions"]) for m in query.run(LETTERS))
    assert found == [([0], [1, 3], [0, 1, 3]), ([2], [3], [2, 3])]
    assert "variables" in query.run(LETTERS).events().column_names


def test_nulls_and_aggregates() -> None:
    events = LETTERS.set_column(2, "x", pa.array([None, 2, 3, 4, 5, None], pa.int64()))
    text = """PATTERN SEQ(A+ a[]) WHERE a[1].t = 0 WITHIN 200 seconds
    HAVING NOT highest(a[].x, 2) > 3 RETURN sum(a[].x), count(a[].x), a.LEN, first(a[].x)"""
    (row,) = rows(text, events)
    assert list(row.values())[5:] == [3, 1, 3, None]
    (alone,) = rows("PATTERN SEQ(A a, C c) WHERE a.t = 0 RETURN c.x - a.x, c.x", events)
    assert list(alone.values())[5:] == [None, 5]


def test_nan_has_no_rank() -> None:
    events = pa.table({"type": ["A"] * 4, "t": [1, 2, 3, 4], "x": [1.0, math.nan, None, 2.0]})
    text = "PATTERN SEQ(A+ a[]) WHERE a[1].x = 1 RETURN highest(a[].x, 2), lowest(a[].x, 1)"
    (row,) = compiled(text).run(events)
    assert (row["highest_x"], row["lowest_x"]) == ([2.0, 1.0], [1.0])
    either = "PATTERN SEQ(A+ a[]) WHERE a[1].x = 1 ^ a[i].x > highest(a[..i-1].x, 1) RETURN a[].x"
    (row,) = compiled(either).run(events)
    assert row["x"] == [1.0, 2.0]


def test_sums_do_not_wrap_around() -> None:
    events = LETTERS.set_column(2, "x", pa.array([2**62, 2**62, 2**62, 1, 1, 1], pa.int64()))
    text = "PATTERN SEQ(A+ a[]) WHERE a[1].t = {} RETURN sum(a[].x), max(a[].x)"
    (row,) = rows(text.format(0), events)
    assert (row["sum_x"], row["max_x"]) == (None, 2**62)  # 2**63 + 1 has no place in 64 bits
    (row,) = rows(text.format(2), events)
    assert row["sum_x"] == 2**62 + 1


def test_a_users_aggregate() -> None:
    word = ["23451", "21345", "51234", "12345"]
    events = pa.table({"type": ["P"] * 4, "t": range(4), "pi": word})
    text = """PATTERN SEQ(P+ a[]) WHERE strict_contiguity(a[]) { a[1].t = 0 ∧ a[a.LEN].t < 3 }
    HAVING substr(product(a[].pi), 1, 1) = '1' RETURN product(a[].pi), a.LEN"""
    (row,) = rows(text, events, aggregates={"product": Permutations()})
    assert (row["product_pi"], row["count_a"]) == ("13452", 2)


class Joined:
    identity = ""

    @staticmethod
    def combine(left: str, right: object) -> str:
        return f"{left}{right}"


def test_a_users_aggregate_has_the_type_of_what_it_combines() -> None:
    query = compiled("PATTERN SEQ(A+ a[]) RETURN cat(a[].x)", aggregates={"cat": Joined()})
    with pytest.raises(DataError, match="not of the type int64"):
        query.run(LETTERS)


class Failing:
    identity = 0

    @staticmethod
    def combine(left: int, right: int) -> int:
        return left // (right - right)


@pytest.mark.parametrize(
    "text",
    [
        "PATTERN SEQ(A+ a[]) RETURN bad(a[].x)",
        "PATTERN SEQ(A+ a[]) WHERE a[i].x > bad(a[..i-1].x)",
        "PATTERN SEQ(A+ a[]) HAVING bad(a[].x) > 2",
    ],
)
def test_what_fails_in_a_users_aggregate_is_said_with_its_place(text: str) -> None:
    query = compiled(text, aggregates={"bad": Failing()})
    with pytest.raises(QueryError, match="'bad' failed: ZeroDivisionError") as raised:
        query.run(LETTERS)
    assert isinstance(raised.value.__cause__, ZeroDivisionError)
    line, carets = raised.value.message.splitlines()[1:]
    assert line[carets.index("^") :].startswith("bad(") and "called with 0 and" in str(raised.value)


def test_a_key_that_is_returned_stands_there_once() -> None:
    keyed = cereus.Stream(time="t", unit="s", keys="k")
    text = "PATTERN SEQ(A a, ANY(B, C) b) WITHIN 10 seconds RETURN a.x{}"
    assert [next(iter(row)) for row in rows(text.format(""), stream=keyed)] == ["k", "k"]
    found = rows(text.format(", b.k"), stream=keyed)
    assert [list(row)[-2:] for row in found] == [["x", "k"]] * 2
    assert {row["k"] for row in found} == {"u"}
    with pytest.raises(QueryError, match="'k' is a key"):
        compiled(text.format(" AS R(k)"), keyed)


def test_several_ends_ask_for_a_choice() -> None:
    text = "PATTERN SEQ(A a) RETURN a.x; PATTERN SEQ(B b) RETURN b.x IN STREAM s"
    with pytest.raises(QueryError, match="output='s'"):
        compiled(text)
    assert [row["x"] for row in rows(text, output="s")] == [2, 4]
    assert [row["x"] for row in rows(text, output=1)] == [1, 3, 6]
    with pytest.raises(QueryError, match="the queries are 1, 's'"):
        compiled(text, output="t")


def test_rows_put_in_order_keep_their_numbers() -> None:
    text = """PATTERN SEQ(A a, B b) RETURN a.x AS R(x) IN STREAM s
    FROM s PATTERN SEQ(R+ r[]) WITHIN 1 minute RETURN r[].x"""
    shuffled = LETTERS.take([3, 1, 0, 2])
    found = compiled(text).run(shuffled, sort=True)
    assert [(row["positions"], row["x"]) for row in found if row["start"] == 2] == [
        ([2, 1, 3, 0], [1, 3])
    ]


def test_streams_named_by_a_column() -> None:
    stream = cereus.Stream(time="t", unit="s", stream="venue")
    parts = {"north": LETTERS.slice(0, 3), "south": LETTERS.slice(3)}
    text = "FROM {} PATTERN SEQ(ANY(A, B) a) RETURN a.x"
    for name, expected in (("north", [1, 2, 3]), ("south", [4, 6])):
        found = compiled(text.format(name), stream).run(parts)
        assert sorted(row["x"] for row in found) == expected


def test_compiled_texts_can_be_sent_elsewhere() -> None:
    query = pickle.loads(pickle.dumps(compiled(QUERY_4 + QUERY_5, PAPER)))
    assert len(query.run(pa.Table.from_pylist(couriers(10, 9)))) == 1


def test_several_texts_in_one_pass() -> None:
    texts = {"a": "PATTERN SEQ(A a, B b) RETURN a.x", "b": "PATTERN SEQ(B b) RETURN b.x"}
    found = cereus.compile_many(texts, dialect="sase", stream=STREAM).run(LETTERS)
    assert {name: len(matches) for name, matches in found.items()} == {"a": 2, "b": 2}


# ---------------------------------------------------------------- as events come

ALONE = "PATTERN SEQ(A a, ~B b) WITHIN 5 seconds RETURN a.x AS R(x) IN STREAM s"
COUNTED = "FROM s PATTERN SEQ(R+ r[]) WITHIN 200 seconds RETURN r[].x"


def test_a_trailing_negation_is_told_when_time_has_passed_never_earlier() -> None:
    recognizer = compiled(ALONE).recognizer()
    assert len(recognizer.push(LETTERS.slice(2, 1))) == 0
    assert len(recognizer.advance(7)) == 0
    assert [row["x"] for row in recognizer.advance(8)] == [3]
    assert len(recognizer.finish()) == 0


def test_what_goes_between_queries_is_held_back_until_it_is_in_order() -> None:
    text = """PATTERN SEQ(A a, ~C c) WITHIN 50 seconds RETURN a.x AS R(x) IN STREAM s
    UNION PATTERN SEQ(B b) RETURN b.x
    FROM s PATTERN SEQ(R first, R second) WHERE strict_contiguity(first, second) { }
    RETURN first.x, second.x AS T(x, y)"""
    events = LETTERS.filter(pa.array([letter != "C" for letter in "ABABCA"]))
    recognizer = compiled(text).recognizer(keep_events=True)
    # A waits for its window, so that B, which is known at once, has to wait for A
    assert [len(recognizer.push(events.slice(at, 1))) for at in range(4)] == [0, 0, 0, 0]
    found = recognizer.push(events.slice(4))
    assert [(row["x"], row["y"]) for row in found] == [(1, 2), (2, 3), (3, 4)]
    assert found.events()["x"].to_pylist() == [1, 2, 2, 3, 3, 4]
    assert [(row["x"], row["y"]) for row in recognizer.finish()] == [(4, 6)]


def test_with_keys_the_next_query_waits_for_advance() -> None:
    keyed = cereus.Stream(time="t", unit="s", keys="k")
    recognizer = compiled(ALONE + "\n" + COUNTED, keyed).recognizer()
    assert len(recognizer.push(LETTERS)) == 0
    assert len(recognizer.advance(90)) == 0
    with pytest.raises(DataError, match="before what advance"):
        recognizer.push(LETTERS.slice(0, 1))
    assert sorted(row["x"] for row in recognizer.finish()) == [[1, 3, 6], [3, 6], [6]]


def test_what_was_told_of_a_promise_is_not_contradicted() -> None:
    recognizer = compiled("PATTERN SEQ(A a, ~B b) WITHIN 10 seconds").recognizer()
    events = pa.table({"type": ["A", "B"], "t": [8, 10]})
    assert len(recognizer.push(events.slice(0, 1))) == 0
    assert len(recognizer.advance(50)) == 1
    with pytest.raises(DataError, match="before what advance"):
        recognizer.push(events.slice(1))


def test_a_snapshot_belongs_to_its_text() -> None:
    recognizer = compiled(ALONE + "\n" + COUNTED).recognizer()
    recognizer.push(LETTERS.slice(0, 3))
    snapshot = recognizer.snapshot()
    again = compiled(ALONE + "\n" + COUNTED).restore(snapshot)
    again.push(LETTERS.slice(3))
    assert sorted(row["x"] for row in again.finish()) == [[6]]
    with pytest.raises(SnapshotError, match="another query fingerprint"):
        compiled(ALONE + "\n" + COUNTED.replace("200", "201")).restore(snapshot)


def test_a_batch_that_one_of_two_blocks_has_read_is_the_last() -> None:
    blocks = [f"PATTERN SEQ({t} a, {t} b) WITHIN 9 seconds RETURN a.t" for t in "AB"]
    keyed = cereus.Stream(time="t", unit="s", keys="k")
    recognizer = compiled(" UNION ".join(blocks), keyed).recognizer()
    recognizer.push([{"type": "B", "t": 8, "k": "p"}])
    with pytest.raises(DataError, match="goes backwards"):
        recognizer.push([{"type": "A", "t": 9, "k": "p"}, {"type": "B", "t": 3, "k": "p"}])
    for go_on in (lambda: recognizer.push([{"type": "A", "t": 9, "k": "p"}]), recognizer.snapshot):
        with pytest.raises(CereusError, match="after some queries of this text had read it"):
            go_on()


def test_a_batch_that_is_refused_leaves_no_trace() -> None:
    recognizer = compiled(ALONE + "\n" + COUNTED).recognizer()
    recognizer.push(LETTERS.slice(0, 3))
    with pytest.raises(DataError, match="goes backwards at row 4"):
        recognizer.push(LETTERS.take([5, 0]))
    recognizer.push(LETTERS.slice(3))
    assert [row["x"] for row in recognizer.finish()] == [[6]]


# ---------------------------------------------------------------- what people are told

WRONG = [
    ("PATTERN SEQ(A a, B b) WHERE a.x > 1 OR b.x > 2 RETURN a.x", "decided at b", "a.x > 1"),
    ("PATTERN SEQ(A a, ~B b) RETURN a.x", "nothing bounds it", "~B b"),
    ("PATTERN SEQ(A a) WHERE b.x > 1 RETURN a.x", "variable 'b'", "b.x"),
    ("PATTERN SEQ(A a) WHERE a[i].x > 1 RETURN a.x", "holds one event", "a[i].x"),
    ("PATTERN SEQ(A a) WHERE a.y > 1 RETURN a.x", "unknown attribute 'y'", "a.y"),
    ("PATTERN SEQ(A a) RETURN a.(x, y)", "unknown attribute 'y'", "a.(x, y)"),
    ("PATTERN SEQ(A a) WHERE a.k > 1 RETURN a.x", "compare a string with a number", "a.k > 1"),
    ("PATTERN SEQ(A a) RETURN a.x AS R(start)", "two columns 'start'", "a.x"),
    (
        "FROM t PATTERN SEQ(A a) RETURN a.x IN STREAM s\n"
        "FROM s PATTERN SEQ(A a) RETURN a.x IN STREAM t",
        "feed themselves: s → t → s",
        "FROM t PATTERN",
    ),
]


@pytest.mark.parametrize(("text", "said", "marked"), WRONG)
def test_errors_point_at_their_place(text: str, said: str, marked: str) -> None:
    with pytest.raises(QueryError) as raised:
        compiled(text, schema=LETTERS.schema)
    assert said in str(raised.value)
    assert raised.value.hint
    line, caret = str(raised.value).splitlines()[1:3]
    assert line[caret.index("^") :].startswith(marked)


def test_aggregates_that_are_none() -> None:
    for wrong, said in ((3, "in a dict"), ({"f": 3}, "combine"), ({"sum": Joined()}, "already")):
        with pytest.raises(CereusError, match=said):
            compiled("PATTERN SEQ(A a) RETURN a.x", aggregates=wrong)


def test_warnings_say_what_never_ends() -> None:
    (grows,) = compiled("PATTERN SEQ(A a, B b) RETURN a.x").warnings
    assert "no WITHIN" in grows
    assert not compiled("PATTERN SEQ(A a, B b) WITHIN 5 seconds RETURN a.x").warnings
    held = compiled(
        "PATTERN SEQ(A+ a[]) WITHIN 9 EVENTS RETURN a.LEN AS R(x) IN STREAM s\n" + COUNTED
    ).warnings
    assert any("at the end of the input only" in each for each in held)


def test_keys_that_need_not_be_said() -> None:
    """Spark spreads a text over what all its queries keep apart."""

    def spread(text: str) -> tuple[str, ...]:
        query = compiled(text, PAPER).compiled
        events = pa.Table.from_pylist(couriers(1, 1))
        return query.spread(events.schema).stream.keys  # type: ignore[attr-defined, no-any-return]

    both = QUERY_4.replace("[object_id]", "[object_id, courier_id]")
    assert spread(QUERY_4) == ("object_id",)
    assert spread(QUERY_4 + QUERY_5) == ()
    assert spread(both + QUERY_5) == ("courier_id",)
    assert spread(both.replace("c.courier_id", "c.location") + QUERY_5) == ()
    assert spread(QUERY_4.replace("partition_", "strict_")) == ()


def test_the_picture_has_every_query_and_every_stream() -> None:
    dot = diagram(compiled(QUERY_4 + QUERY_5, PAPER)).dot
    assert 'label="Q4-OUTPUT", ltail=cluster_q0b0, lhead=cluster_q1b0' in dot
    for said in ("begin\\nSCAN\\na.location = 'New York'", "no SCAN+ b[]", "take\\nANOMALY"):
        assert said in dot
    for text in QUERIES:
        assert diagram(compiled(text, PAPER)).dot.count("doublecircle") == 1


def test_on_the_command_line(tmp_path: Path) -> None:
    pq.write_table(pa.Table.from_pylist(couriers(10, 9)), tmp_path / "scans.parquet")
    (tmp_path / "couriers.sase").write_text(QUERY_4 + QUERY_5, encoding="utf-8")
    command = ["run", str(tmp_path / "couriers.sase"), str(tmp_path / "scans.parquet")]
    options = ["--dialect", "sase", "--type", "kind", "--time", "time", "--unit", "us"]
    local = [*command, *options, "--engine", "local"]
    shown = CliRunner().invoke(app, local, env={"COLUMNS": "120"})
    assert shown.exit_code == 0, shown.output
    assert "ann0; ann1" in shown.output and "1 match" in shown.output
    anomalies = CliRunner().invoke(app, [*local, "--set", "output=Q4-OUTPUT"])
    assert "19 matches" in anomalies.output
    wrong = CliRunner().invoke(app, [*local, "--set", "output=Q4"])
    assert wrong.exit_code == 1 and "Q4-OUTPUT" in wrong.output


def test_the_example_of_the_couriers(capsys: pytest.CaptureFixture[str]) -> None:
    example = Path(__file__).parents[3] / "examples" / "couriers" / "couriers.py"
    runpy.run_path(str(example))["main"]([])
    assert capsys.readouterr().out.startswith("dora: 23 anomalies in one week")


def test_explain_says_how_queries_hang_together_and_what_comes_out() -> None:
    scans = pa.Table.from_pylist(couriers(1, 1)).schema
    said = compiled(QUERY_4 + QUERY_5, PAPER).explain(scans)
    assert "Q4-OUTPUT → query 2" in said
    assert "object_id  list<item: string>" in said
    assert "── query 1, Q4-OUTPUT ──" in said and "t0  ANOMALY" in said
    alone = compiled(ALONE).explain(LETTERS.schema)
    assert alone.startswith("query\n") and "never earlier" in alone and "──" not in alone
