"""What people stumble over in their first hour, and what they miss: one test for each, by its name.

Each is tried as a user would. The suites beside have the laws, the random cases and Spark.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import cereus
from cereus import Stream, ceql
from cereus.cli import main
from cereus.errors import CereusError, DataError
from cereus.spark.pipeline import Pipeline

Cli = Callable[..., Any]
BEGIN = datetime(2025, 3, 3, 9, 30)


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Cli:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setattr(main, "compiled_notice", lambda: None)
    return lambda *arguments: CliRunner().invoke(main.app, [str(each) for each in arguments])


def table(types: str, **columns: Any) -> pa.Table:
    """Events of these types, one letter each, a second apart."""
    ts = [BEGIN + timedelta(seconds=n) for n in range(len(types))]
    return pa.table({"type": list(types), "ts": ts, **columns})


def found(text: str, events: pa.Table, **options: Any) -> list[list[int]]:
    stream = options.pop("stream", Stream(time="ts"))
    query = cereus.compile(text, stream=stream, **options)
    return sorted(row["positions"] for row in query.run(events))


# ---------------------------------------------------------------- wrong or misleading


def test_keys_whose_values_multiply_beyond_64_bits_stay_apart() -> None:
    size = 1 << 16
    many = {
        f"k{n}": np.append(np.arange(size), [1 if n == 0 else 7, 2 if n == 0 else 7])
        for n in range(5)
    }
    events = pa.table({"type": ["X"] * size + ["A", "B"], **many})
    text = "SELECT * WHERE (A OR X) ; B PARTITION BY k0, k1, k2, k3, k4"
    assert found(text, events, stream=Stream()) == []


@pytest.mark.parametrize("dialect", ["ceql", "sremo", "sase"])
def test_decimals_between_events_are_compared_exactly(dialect: str) -> None:
    texts = {
        "ceql": "SELECT * WHERE A AS a ; B AS b FILTER a.amount = b.amount",
        "sremo": "any({A:} -> a, {B: amount = a.amount})",
        "sase": "PATTERN SEQ(A a, B b) WHERE skip_till_any_match(a, b) { a.amount = b.amount }",
    }
    numbers = [Decimal(12345678901234567), Decimal(12345678901234568)]
    events = table("AB", amount=pa.array(numbers, pa.decimal128(19, 0)))
    assert found(texts[dialect], events, dialect=dialect) == []
    same = table("AB", amount=pa.array([numbers[1]] * 2, pa.decimal128(19, 0)))
    assert found(texts[dialect], same, dialect=dialect) == [[0, 1]]


def test_decimals_are_compared_exactly_with_each_other_and_with_literals() -> None:
    amounts = [Decimal("100000000000000.01"), Decimal("100000000000000.02")]
    events = table("AB", amount=pa.array(amounts, pa.decimal128(19, 2)))
    assert found("SELECT * WHERE A AS a ; B AS b FILTER a.amount < b.amount", events) == [[0, 1]]
    cards = table("A", card=pa.array([Decimal(12345678901234568)], pa.decimal128(19, 0)))
    assert found("SELECT * WHERE A FILTER A[card = 12345678901234568]", cards) == [[0]]
    assert found("SELECT * WHERE A FILTER A[card = 12345678901234567]", cards) == []


def test_unsigned_numbers_from_two_to_the_63_are_not_equal_in_sase() -> None:
    events = table("AB", n=pa.array([2**63, 2**63 + 1], pa.uint64()))
    text = "PATTERN SEQ(A a, B b) WHERE skip_till_any_match(a, b) { a.n = b.n }"
    try:
        assert found(text, events, dialect="sase") == []
    except CereusError as error:  # or it is refused by name
        assert "2**63" in str(error)


def test_types_without_support_are_named() -> None:
    layout = pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([1]), pa.array(["x"])])
    with pytest.raises(CereusError, match="'u'"):
        found("SELECT * WHERE A FILTER A[u = 1]", table("A", u=layout))


def test_the_schema_of_a_pipelines_csv_goes_by_name(cli: Cli) -> None:
    Path("e.csv").write_text("ts,type,volume,price\n2025-03-03 09:30:00,A,1000,2\n")
    schema = 'schema = { ts = "timestamp", type = "string", price = "double", volume = "long" }'
    Path("p.toml").write_text(
        f'mode = "batch"\nengine = "local"\n[sources.s]\nformat = "csv"\npath = "e.csv"\n{schema}\n'
        '[streams.S]\nsource = "s"\ntime = "ts"\n[queries.q]\nfrom = "S"\n'
        'text = "SELECT a WHERE A AS a FILTER a[price < 3 AND volume > 999]"\n'
        '[sinks.out]\nfrom = "q"\nformat = "json"\npath = "out"\n'
    )
    (metrics,) = Pipeline.load("p.toml").run()
    assert metrics.matches == 1
    Path("e.csv").write_text("ts,type,volume\n2025-03-03 09:30:00,A,1000\n")
    with pytest.raises(CereusError, match="price"):
        Pipeline.load("p.toml").run()


@pytest.mark.parametrize(
    ("text", "instead"),
    [
        ("SELECT * WHERE A ; C UNLESS B WITHIN 9 EVENTS", "WITHOUT B"),
        ("SELECT * WHERE A ; NOT(B) ; C WITHIN 9 EVENTS", "write A ; C WITHOUT B"),
    ],
)
def test_absence_that_is_misread_has_a_warning_that_says_what_to_write(
    text: str, instead: str
) -> None:
    query = cereus.compile(text)
    assert any(instead in each for each in query.warnings)
    assert instead in query.explain()


def test_like_is_that_of_sql() -> None:
    events = table("AAA", name=["a.exe", "aXexe", "["])
    like = "SELECT * WHERE A FILTER A[name LIKE '{}']"
    assert found(like.format("%.exe"), events) == [[0]]
    assert found(like.format("["), events) == [[2]]
    assert found("SELECT * WHERE A FILTER A[name ILIKE 'A.E%']", events) == [[0]]
    assert found("SELECT * WHERE A FILTER A[name LIKE '!%' ESCAPE '!']", events) == []
    assert found("SELECT * WHERE A FILTER A[name REGEXP '^a.exe$']", events) == [[0], [1]]


def test_types_of_csv_come_from_the_whole_file_or_are_given(tmp_path: Path) -> None:
    rows = "".join(f"{n},A,{n}\n" for n in range(200_000)) + "200000,A,0.5\n"
    path = tmp_path / "e.csv"
    path.write_text("t,type,x\n" + rows)
    query = cereus.compile("SELECT * WHERE A FILTER A[x = 0.5]")
    assert [row["start"] for row in query.run(path)] == [200_000]
    texts = cereus.compile("SELECT * WHERE A FILTER A[x = '0.5']")
    assert len(texts.run(cereus.Files(path, types={"x": "string"}))) == 1


@pytest.mark.parametrize(
    "use",
    [
        lambda query, path: query.run([path / "1.parquet", path / "2.parquet"]),
        lambda query, path: query.run(pd.DataFrame([[1, 2]], columns=["type", "type"])),
        lambda query, path: query.recognizer().push({"type": ["A"], "x": "one"}),
        lambda query, path: query.recognizer().push(3),
    ],
)
def test_what_goes_wrong_is_an_error_of_cereus(use: Any, tmp_path: Path) -> None:
    pq.write_table(pa.table({"type": ["A"], "x": [1]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"type": ["A"], "x": ["one"]}), tmp_path / "2.parquet")
    with pytest.raises(CereusError) as raised:
        use(cereus.compile("SELECT * WHERE A"), tmp_path)
    assert len(str(raised.value)) < 500


def test_one_event_is_pushed_as_a_dict() -> None:
    recognizer = cereus.compile("SELECT * WHERE A").recognizer()
    assert len(recognizer.push({"type": "A", "x": 1})) == 1


def test_equalities_over_all_variables_are_keys() -> None:
    pattern = "PAY+ AS small ; PAY AS large FILTER small.card = large.card"
    text = f"SELECT * WHERE {pattern} WITHIN 9 seconds"
    query = cereus.compile(text, stream=Stream(time="ts"))
    assert "card" in query.explain()
    steps = cereus.Limits(steps_per_event=2_000)
    events = pa.table(
        {
            "type": ["PAY"] * 3_000,
            "card": [n % 500 for n in range(3_000)],
            "ts": [BEGIN + timedelta(milliseconds=4 * n) for n in range(3_000)],
        }
    )
    bounded = cereus.compile(text, stream=Stream(time="ts"), limits=steps)
    keyed = cereus.compile(
        "SELECT * WHERE PAY+ ; PAY PARTITION BY card WITHIN 9 seconds", stream=Stream(time="ts")
    )
    assert len(bounded.run(events)) == len(keyed.run(events)) > 0


def test_the_examples_of_the_readme_have_keys() -> None:
    readme = (Path(__file__).parent.parent / "README.md").read_text()
    code = [part.split("```")[0] for part in readme.split("```python")[1:]]
    queries = [block for block in code if "WHERE" in block]
    assert len(queries) == 2
    for query in queries:
        assert "PARTITION BY" in query and "PAY+" not in query


def test_python_says_what_the_command_line_says() -> None:
    query = cereus.compile("SELECT * WHERE A ; Q")
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always", cereus.CereusWarning)
        matches = query.run(table("AB"))
        query.run(table("AB"))
    assert len(seen) == 2, "each of them once"
    for warning in matches.warnings:
        assert warning in repr(matches)
    assert [w for w in matches.warnings if "no WITHIN" in w and w in matches._repr_html_()]


def test_a_count_shows_the_sum_of_its_counts() -> None:
    counts = cereus.compile("SELECT COUNT(*) WHERE A ; B+ WITHIN 9 EVENTS").run(table("ABBB"))
    assert repr(counts).startswith("7 matches counted in 3 rows")


def test_what_fits_this_process_runs_here_and_says_so(cli: Cli) -> None:
    pq.write_table(table("AB"), "e.parquet")
    done = cli("run", "SELECT * WHERE A ; B WITHIN 9 seconds", "e.parquet", "--time", "ts")
    assert done.exit_code == 0
    assert re.match(
        r"running in this process: .* of events \(on Spark with --engine spark\)", done.stderr
    )


def test_as_many_matches_are_shown_as_are_asked_for(cli: Cli) -> None:
    pq.write_table(table("AAAAAAAA"), "e.parquet")
    shown = cli("run", "SELECT * WHERE A", "e.parquet", "--limit-shown", 5).stdout
    assert "5 of the matches" in shown and len(re.findall(r"^ +\d ", shown, re.MULTILINE)) == 5


def test_small_numbers_are_not_zero_in_tables(cli: Cli) -> None:
    pq.write_table(table("A", x=[0.00002]), "e.parquet")
    assert "0.00002" in cli("run", "SELECT * WHERE A", "e.parquet").stdout


def test_show_has_the_register_conditions_of_sremo(cli: Cli) -> None:
    shown = cli("show", "{A:} -> r . {B: x > r.x}", "--dialect", "sremo").stdout
    assert "r.x" in shown


def test_timelines_have_unit_key_and_the_order_of_the_pattern() -> None:
    from cereus import show

    events = table("CAB", k=[1, 1, 1], t=[0, 1, 2])
    text = "SELECT c, a, b WHERE C AS c ; A AS a ; B AS b PARTITION BY k WITHIN 9 seconds"
    matches = cereus.compile(text, stream=Stream(time="t", unit="s")).run(events)
    chart = json.dumps(show.timeline(matches, time="t", aligned=True).to_dict())
    for shown in ('["c", "a", "b"]', "match \\u00b7 k", "s since the first event"):
        assert shown in chart


def test_equivalent_has_an_exit_code_of_its_own_for_errors(cli: Cli) -> None:
    assert cli("equivalent", "(", "A", "--dialect", "algebra").exit_code == 3


@pytest.mark.parametrize(
    "arguments",
    [
        ("demo", "--engine", "foo"),
        ("run", "SELECT * WHERE A", "e.parquet", "--time", "ts", "--tie", "typo"),
    ],
)
def test_slips_in_options_are_refused(cli: Cli, arguments: tuple[str, ...]) -> None:
    pq.write_table(table("A"), "e.parquet")
    assert cli(*arguments).exit_code != 0


def test_trailing_absence_under_keys_is_emitted_by_later_events_of_any_type() -> None:
    text = "PATTERN SEQ(A a, ~B b) WITHIN 2 seconds"
    stream = Stream(time="ts", keys="k")
    recognizer = cereus.compile(text, dialect="sase", stream=stream).recognizer()
    assert len(recognizer.push(table("AXXXX", k=[1] * 5))) == 1


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("MATCH_RECOGNIZE (ORDER BY ts PATTERN (A) DEFINE A AS x > 1)", "match_recognize"),
        ("PATTERN SEQ(A a, B b)", "sase"),
        ("SELECT * WHERE A WITHIN 1 month", "months differ in length"),
        ("SELECT * form S WHERE A", "did you mean FROM?"),
    ],
)
def test_hints_name_what_was_meant(text: str, hint: str) -> None:
    with pytest.raises(CereusError) as raised:
        cereus.compile(text)
    assert hint in str(raised.value.hint)


@pytest.mark.parametrize(
    ("text", "events", "rows"),
    [
        (
            "PATTERN SEQ(C+ a[], A+ b[]) WHERE skip_till_any_match(b[]) { a[1].y < b[i].g }",
            [("C", 2, 0, None), ("A", 2, None, 1), ("A", 6, None, 1)],
            [[0, 1], [0, 1, 2], [0, 2]],
        ),
        (
            "PATTERN SEQ(C+ a[], B b, ~(C+ c[])) WHERE skip_till_any_match(b) { [g] } "
            "WITHIN 5 EVENTS",
            [("C", 1, 0, 1), ("B", 2, 0, 1), ("B", 3, 0, 1)],
            [[0, 1], [0, 2]],
        ),
    ],
)
def test_a_match_of_sase_is_emitted_once_where_strategies_are_mixed(
    text: str, events: list[tuple[Any, ...]], rows: list[list[int]]
) -> None:
    columns = {name: [row[n] for row in events] for n, name in enumerate(("type", "ts", "y", "g"))}
    stream = Stream(time="ts", unit="s")
    assert found(text, pa.table(columns), dialect="sase", stream=stream) == rows


# ---------------------------------------------------------------- missing


def test_absence_as_people_mean_it() -> None:
    events = table("ACABCACXXXXXXX")
    assert found("SELECT * WHERE A : C WITHOUT B", events) == [[0, 1], [5, 6]]
    text = "SELECT * WHERE A ; C WITHOUT B NOT FOLLOWED BY B WITHIN 3 seconds"
    query = cereus.compile(text, stream=Stream(time="ts"))
    rows = {tuple(row["positions"]): row["deadline"] for row in query.run(events)}
    assert rows == {(5, 6): BEGIN + timedelta(seconds=9)}


@pytest.mark.parametrize(
    ("pattern", "rows"),
    [
        ("A{3}", [[0, 1, 2]]),
        ("A{2,} : B", [[0, 1, 2, 3], [0, 2, 3], [1, 2, 3]]),
        ("A:{2,5} : B", [[0, 1, 2, 3], [1, 2, 3]]),
        ("A? : B", [[2, 3], [3]]),
        ("A+ UNTIL B : B", [[0, 1, 2, 3], [0, 2, 3], [1, 2, 3], [2, 3]]),
        ("A ;[1 second] B", [[2, 3]]),
        ("A ;[2 seconds..3 seconds] B", [[0, 3], [1, 3]]),
        ("A{2}[1 second]", [[0, 1], [1, 2]]),
        ("(A ; A) WITHIN 1 second ; B", [[0, 1, 3], [1, 2, 3]]),
    ],
)
def test_counts_options_and_gaps(pattern: str, rows: list[list[int]]) -> None:
    assert found(f"SELECT * WHERE {pattern}", table("AAAB")) == rows


def test_computed_output_flat_columns_and_the_order_of_time() -> None:
    events = table("ABBC", card=[7] * 4, price=[1.0, 2.0, 4.0, 8.0])
    text = """
        SELECT MAX * WHERE A AS a ; B+ AS b ; C AS c WITHIN 9 seconds
        RETURN a.card, count(b) AS n, avg(b.price) AS mean, c.ts - a.ts AS took
    """
    (row,) = cereus.compile(text, stream=Stream(time="ts")).run(events)
    assert (row["card"], row["n"], row["mean"], row["took"]) == (7, 2, 3.0, timedelta(seconds=3))
    flat = cereus.compile("SELECT a WHERE A AS a", stream=Stream(time="ts"))
    (row,) = flat.run(events, flat=True, order="time")
    assert row["a_price"] == 1.0


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        ("SELECT * WHERE A ; B AFTER MATCH SKIP PAST LAST EVENT", "ceql"),
        (
            "PATTERN SEQ(A a, B b) WHERE skip_till_any_match(a, b) { a.ts <= b.ts } "
            "AFTER MATCH SKIP PAST LAST EVENT",
            "sase",
        ),
    ],
)
def test_skip_modes_as_in_sql(text: str, dialect: str) -> None:
    assert found(text, table("AABBAB"), dialect=dialect) == [[0, 2], [4, 5]]


def test_funnels_in_python_and_on_the_command_line(cli: Cli) -> None:
    events = table("ABAC", user=[1, 1, 2, 2])
    pq.write_table(events, "e.parquet")
    funnel = cereus.funnel(events, ["A", "B"], key="user", time="ts", within="1 hour")
    assert funnel.steps["keys"].to_pylist() == [2, 1]
    shown = cli("funnel", "e.parquet", "-s", "A", "-s", "B", "--key", "user", "--time", "ts")
    assert "50.0%" in shown.stdout


def test_a_builder_prints_as_text_and_languages_mix() -> None:
    built = ceql.event("A").where("x != :home").named("a") >> ceql.event("B").times(2)
    assert str(built.within("5 minutes").by("k")) == (
        "SELECT *\nWHERE (A AS a FILTER a[x != :home]) ; B{2}\nPARTITION BY k\nWITHIN 5 minutes"
    )
    mixed = {"built": ceql.event("A"), "sase": ("PATTERN SEQ(A a, B b)", "sase")}
    counts = {name: len(m) for name, m in cereus.compile_many(mixed).run(table("AB")).items()}
    assert counts == {"built": 1, "sase": 1}


def test_standard_input_and_output_compression_and_other_delimiters(cli: Cli) -> None:
    import gzip

    with gzip.open("e.tsv.gz", "wt") as file:
        file.write("type\tx\nA\t1\nB\t2\nP\t3\n")
    query = "SELECT * WHERE A ; B WITHIN 9 EVENTS"
    zipped = cli("run", query, "e.tsv.gz", "-o", "-")
    assert json.loads(zipped.stdout.splitlines()[0])["events"][0]["x"] == 1
    typed = CliRunner().invoke(
        main.app, ["run", query, "-", "--format", "csv", "-o", "m.csv.gz"], input="type\nA\nB\n"
    )
    assert typed.exit_code == 0 and Path("m.csv.gz").read_bytes()[:2] == b"\x1f\x8b"
    Path("f.csv").write_text("type;x\nA;1\nP;2\nB;3\n")
    strict = ("run", "SELECT * WHERE A : B", "[ef].csv", "--delimiter", ";")
    assert "1 match" in cli(*strict, "--where", "type != 'P'").stdout
    assert "0 matches" in cli(*strict).stdout


def test_the_command_line_speaks_json_and_has_documented_exit_codes(cli: Cli) -> None:
    checked = json.loads(cli("check", "SELECT * WHERE A WITHIN 1 EVENTS", "--json").stdout)
    assert checked["ok"] and checked["dialect"] == "ceql"
    failed = cli("explain", "SELECT", "--json")
    assert failed.exit_code == 1 and json.loads(failed.stdout)["ok"] is False
    assert "--sort <bool>" not in cli("run", "--help").stdout


@pytest.mark.parametrize(
    ("condition", "rows"),
    [
        ("a[name ILIKE 'X%']", [[0]]),
        ("a[cidr_match(ip, '10.0.0.0/8')]", [[0]]),
        ("stddev(a.x) IS NULL", [[0]]),
        ("percentile(a.x, 0.5) = 1", [[0]]),
        ("a[ts - TIMESTAMP '2025-03-03 09:29' < 5 minutes]", [[0]]),
    ],
)
def test_functions_that_were_missing(condition: str, rows: list[list[int]]) -> None:
    events = table("A", name=["xyz"], ip=["10.1.2.3"], x=[1])
    assert found(f"SELECT * WHERE A AS a FILTER {condition}", events) == rows


def test_windows_are_written_as_in_sql() -> None:
    assert found("SELECT * WHERE A ; B WITHIN INTERVAL '5' MINUTE", table("AB")) == [[0, 1]]


def test_a_text_time_is_found_before_anything_runs() -> None:
    query = cereus.compile("SELECT * WHERE A", stream=Stream(time="ts"))
    with pytest.raises(DataError, match="which is no time"):
        query.run(pa.table({"type": ["A"], "ts": ["03/03/2025"]}))
