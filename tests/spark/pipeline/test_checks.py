"""A pipeline is refused whole before Spark starts: file, line, key, and what to do."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console

from cereus.cli import main
from cereus.cli.pipeline import live_table
from cereus.errors import CereusError
from cereus.spark.pipeline import Metrics, Pipeline, PipelineError
from cereus.spark.pipeline.document import parsed

from .conftest import MARKET, Write, changed

EXAMPLE = Path(__file__).parents[3] / "examples" / "market"
LIVE = ('mode = "batch"', 'mode = "live"')


def line_of(text: str, piece: str) -> int:
    return text[: text.index(piece)].count("\n") + 1


def refused(file: Path) -> PipelineError:
    with pytest.raises(PipelineError) as raised:
        Pipeline.load(file)
    return raised.value


WRONG = {
    "unknown key at the top": (('watermark = "5', 'watermrk = "5'), "watermrk", "'watermark'"),
    "unknown key": (('source = "orders"', 'sorce = "orders"'), "streams.market.sorce", "'source'"),
    "unknown table": (("[sinks.alerts]", "[sink.alerts]"), "sink", "'sinks'"),
    "word": (('mode = "batch"', 'mode = "stream"'), 'mode: "stream"', '"batch" or "live"'),
    "type of a value": (('time = "ts"', "time = 3"), "streams.market.time: a text", None),
    "list of numbers": (('from = "pair"', "from = [1]"), "queries.again.from: a text or", None),
    "format": (('format = "parquet"\npath = "orders"', 'format = "parket"'), "'parket'", "parquet"),
    "unknown source": (('source = "orders"', 'source = "order"'), "no source 'order'", "'orders'"),
    "unknown stream": (('from = "pair"', 'from = "pear"'), "no stream 'pear'", "'pair'"),
    "sink of nothing": (('from = "again"', 'from = "agian"'), "no stream 'agian'", "'again'"),
    "missing files": (('path = "orders"', 'path = "order"'), "order'", "check the path"),
    "column": (('time = "ts"', 'time = "tz"'), "streams.market.time: the events have no", "'ts'"),
    "cycle": (('from = "market"', 'from = "again"'), "in a circle: pair → again → pair", None),
    "no such unit": (('"5 seconds"', '"5 secnds"'), "unknown unit of time 'secnds'", None),
    "not a duration": (('"5 seconds"', '"soon"'), "'soon' is not a length of time", "10 seconds"),
    "dialect": (("[queries.pair]", '[queries.pair]\ndialect = "ceq"'), "dialect 'ceq'", "'ceql'"),
    "option": (
        ("[queries.pair]", "[queries.pair]\noptions = { values = true }"),
        "queries.pair.options: ceql has no option 'values'",
        None,
    ),
    "limit": (
        ("[queries.pair]", "[queries.pair]\nlimits = { node = 3 }"),
        "no limit 'node'",
        "'nodes'",
    ),
    "limit of another language": (
        (
            '"SELECT a, b WHERE SELL AS a ; BUY AS b PARTITION BY name WITHIN 10 seconds"',
            '"SELL[sold]"\ndialect = "par"\nlimits = { nodes = 3 }',
        ),
        "queries.pair.limits: there is no limit 'nodes'",
        "states",
    ),
    "stream of two": (
        ("[queries.pair]", '[streams.again]\nsource = "orders"\n[queries.pair]'),
        "streams.again: the query 'again' writes this stream",
        None,
    ),
    "query file": (
        ("[queries.pair]", '[queries.other]\nfrom = "market"\nfile = "o.ceql"\n[queries.pair]'),
        "queries.other.file: cannot read",
        "check the path",
    ),
    "text and file": (
        ("[queries.pair]", '[queries.pair]\nfile = "o.ceql"'),
        "the keys 'text' and 'file' are both there",
        "one of the two",
    ),
    "no files": (
        ('path = "orders"', 'path = "orders"\nmax_files = 0'),
        "sources.orders.max_files: at least 1 is needed, not 0",
        None,
    ),
    "no rows": (
        ("[streams", '[sources.more]\nformat = "rate"\nrows_per_second = -1\n\n[streams'),
        "sources.more.rows_per_second: at least 1 is needed, not -1",
        None,
    ),
    "a settings table": (("[sources", "[spark]\nconf = 3\n[sources"), "spark.conf: a table", None),
    "a type of a column": (
        ('path = "orders"', 'path = "orders"\nschema = { price = "dubble" }'),
        "sources.orders.schema: the column 'price' has the unknown type 'dubble'",
        "'double'",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_errors_name_file_line_and_key(name: str, write: Write) -> None:
    change, said, hint = WRONG[name]
    error = refused(write(changed(MARKET, change)))
    (problem,) = error.problems
    assert said in problem.message
    assert (hint or "") in (problem.hint or "")
    assert f"market.toml, line {problem.line}" in error.message


def test_the_line_is_that_of_the_key(write: Write) -> None:
    text = changed(MARKET, ('time = "ts"', "time = 3"), ('from = "pair"', 'from = "pear"'))
    lines = [each.line for each in refused(write(text)).problems]
    assert lines == [line_of(text, "time = 3")]  # names are looked up once all tables are right
    text = changed(MARKET, ('source = "orders"', 'source = "x"'), ('from = "pair"', 'from = "y"'))
    lines = [each.line for each in refused(write(text)).problems]
    assert lines == [line_of(text, 'source = "x"'), line_of(text, 'from = "y"')]


def test_faults_are_not_said_twice(write: Write) -> None:
    """A query is looked at when what it reads is right, whatever else is wrong."""
    broken = ("SELL AS a ; BUY", "SELL AS a ; ; BUY")
    error = refused(write(changed(MARKET, broken, ('from = "again"', 'from = "agian"'))))
    assert [each.key for each in error.problems] == [
        ("queries", "pair", "text"),
        ("sinks", "alerts", "from"),
    ]
    error = refused(write(changed(MARKET, broken, ('time = "ts"', 'time = "tz"'))))
    assert [each.key for each in error.problems] == [("streams", "market", "time")]


def test_a_query_is_underlined_where_it_stands(write: Write) -> None:
    text = changed(
        MARKET,
        ('"SELECT a, b WHERE SELL', '"""\n  SELECT a, b\n  WHERE SELL'),
        ("AS a ; BUY AS b", "AS a ; ; BUY AS b"),
        ('name WITHIN 10 seconds"', 'name WITHIN 10 seconds"""'),
    )
    (problem,) = refused(write(text)).problems
    _, shown, caret = problem.message.splitlines()
    assert shown.startswith(f"{problem.line} |   WHERE SELL AS a ; ; BUY AS b")
    assert shown[caret.index("^")] == ";"
    assert problem.line == line_of(text, "WHERE SELL AS a ; ;")


def test_a_source_with_a_key_of_a_stream_is_told_where_it_belongs(write: Write) -> None:
    change = ("[sources.orders]", '[sources.orders]\ntime = "ts"')
    (problem,) = refused(write(changed(MARKET, change))).problems
    assert "sources.orders.time" in problem.message
    assert '[streams.some_name], source = "orders"' in str(problem.hint)


@pytest.mark.parametrize(
    ("change", "hint"),
    [
        (('mode = "batch"', 'mode = "batch"\nmax_files = 2'), "it belongs to [sources.some_name]"),
        (
            ("[queries.pair]", '[queries.pair]\nkey = "x"\ntrigger = "1 second"'),
            "it belongs to the top of the file",
        ),
        (('mode = "batch"', 'mode = "batch"\nmaster = "local"'), "it belongs to [spark]"),
        (('mode = "batch"', 'mode = "batch"\nwatermarks = "x"'), "did you mean 'watermark'?"),
    ],
)
def test_a_key_of_another_table_is_sent_there(
    write: Write, change: tuple[str, str], hint: str
) -> None:
    hints = [each.hint for each in refused(write(changed(MARKET, change))).problems]
    assert hint in hints


def test_names_in_queries_are_checked_against_the_files(write: Write) -> None:
    change = ("AS b PARTITION", "AS b FILTER b[prize > 3] PARTITION")
    (problem,) = refused(write(changed(MARKET, change))).problems
    assert "queries.pair.text: unknown attribute 'prize'" in problem.message
    assert problem.hint == "did you mean 'price'?"


def test_what_is_live_needs_more(write: Write) -> None:
    text = changed(
        MARKET, LIVE, ('checkpoint = "checkpoint"\n', ""), ('watermark = "5 seconds"\n', "")
    )
    said = "\n".join(each.message for each in refused(write(text)).problems)
    assert "needs the key 'checkpoint'" in said
    assert "streams.market: how late may events come?" in said
    text = changed(MARKET, LIVE, ('"parquet"\npath = "orders"', '"csv"\npath = "orders"'))
    (problem,) = refused(write(text)).problems
    assert "live csv needs the key 'schema'" in problem.message
    (problem,) = refused(write(changed(MARKET, LIVE, ('time = "ts"\n', "")))).problems
    assert "streams.market: live events need a time column" in problem.message


@pytest.mark.parametrize("place", ["market.toml", "market.toml/inside"])
def test_a_checkpoint_is_a_directory(place: str, write: Write) -> None:
    """Before this was checked, the run ended in a FileExistsError."""
    text = changed(MARKET, ('checkpoint = "checkpoint"', f'checkpoint = "{place}"'))
    Pipeline.load(write(text))  # a batch run has none
    (problem,) = refused(write(changed(text, LIVE))).problems
    assert problem.key == ("checkpoint",)
    assert "market.toml' is a file" in problem.message


def test_live_files_that_do_not_fit_together_are_named(write: Write, tmp_path: Path) -> None:
    """Before, they were said not to be there yet."""
    file = write(changed(MARKET, LIVE))
    (tmp_path / "orders" / "broken.parquet").write_bytes(b"no parquet")
    (problem,) = refused(file).problems
    assert "sources.orders.path: the files do not say the columns: cannot read" in problem.message
    assert "broken.parquet" in problem.message
    other = pa.table({"price": ["10"]})
    pq.write_table(other, tmp_path / "orders" / "broken.parquet")
    (problem,) = refused(file).problems
    assert "the column 'price' of" in problem.message


def test_a_checkpoint_can_be_written(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda path, mode: False)
    (problem,) = refused(write(changed(MARKET, LIVE))).problems
    assert problem.key == ("checkpoint",)
    assert "cannot write to the directory" in problem.message


def test_a_sink_does_not_overwrite_unasked(write: Write, tmp_path: Path) -> None:
    (tmp_path / "alerts").mkdir()
    (problem,) = refused(write(MARKET)).problems
    assert "exists" in problem.message
    assert "overwrite" in str(problem.hint)
    (problem,) = refused(write(changed(MARKET, ('"alerts"', '"orders"')))).problems
    assert "a source reads this path" in problem.message
    Pipeline.load(write(MARKET + 'write = "append"\n'))


def test_a_sink_replaces_nothing_but_results(write: Write, tmp_path: Path) -> None:
    asked = MARKET + 'write = "overwrite"\n'
    (tmp_path / "alerts" / "name=INTC").mkdir(parents=True)
    for result in (
        "_SUCCESS",
        "._SUCCESS.crc",
        "part-00000.parquet",
        "name=INTC/part-0.snappy.parquet",
    ):
        (tmp_path / "alerts" / result).touch()
    Pipeline.load(write(asked))
    (tmp_path / "alerts" / "thesis.odt").touch()
    (problem,) = refused(write(asked)).problems
    assert "'alerts' is not replaced" in problem.message.replace(f"{tmp_path}/", "")
    assert "thesis.odt" in problem.message
    (problem,) = refused(
        write(changed(asked, ('path = "alerts"', 'path = "market.toml"')))
    ).problems
    assert "it is no folder of results" in problem.message


def test_functions_are_found_beside_the_file(write: Write, tmp_path: Path) -> None:
    sink = '\n[sinks.mine]\nfrom = "pair"\nformat = "foreach"\nfunction = "{}"\n'
    (tmp_path / "pipeline_functions.py").write_text("def keep(frame, batch): ...\nnumber = 3\n")
    try:
        Pipeline.load(write(MARKET + sink.format("pipeline_functions:keep")))
        for name, said in {
            "pipeline_functions:number": "has no function 'number'",
            "nowhere_at_all:keep": "cannot be imported",
            "keep": "names no function",
        }.items():
            (problem,) = refused(write(MARKET + sink.format(name))).problems
            assert "sinks.mine.function" in problem.message
            assert said in problem.message
    finally:
        sys.path.remove(str(tmp_path))
        sys.modules.pop("pipeline_functions", None)


def test_what_is_no_toml_is_shown(write: Write) -> None:
    error = refused(write(changed(MARKET, ('time = "ts"', "time = ts"))))
    assert f"line {line_of(MARKET, 'time = ')}: this is not TOML" in error.message
    assert "time = ts" in error.message
    with pytest.raises(CereusError, match="there is no pipeline file"):
        Pipeline.load("nowhere.toml")


def test_keys_are_found_whatever_their_form() -> None:
    text = (
        "# a comment\n"
        'a.b = 1\n"c d" = """\n[x]\ny = 1\n"""\n'
        "[t.u]\nlist = [\n  1,\n  2,\n]\n"
        "inline = { p = 1, q = { r = 2 } }\n[t.v]\n"
    )
    document = parsed(text, Path("x.toml"))
    lines = {key: document.line(key) for key in document.spans}
    assert lines == {
        ("a",): 2,
        ("a", "b"): 2,
        ("c d",): 3,
        ("t",): 7,
        ("t", "u"): 7,
        ("t", "u", "list"): 8,
        ("t", "u", "inline"): 12,
        ("t", "u", "inline", "p"): 12,
        ("t", "u", "inline", "q"): 12,
        ("t", "u", "inline", "q", "r"): 12,
        ("t", "v"): 13,
    }
    assert document.line(("t", "v", "missing")) == 13


def test_a_dry_run_shows_the_plan(write: Write) -> None:
    shown = run_cli("run", write(MARKET), "--dry-run")
    assert shown.exit_code == 0, shown.output
    text = shown.stdout
    titles = [line for line in text.splitlines() if line and not line.startswith(" ")]
    assert titles == ["pipeline", "sources", "streams", "queries", "sinks"]
    assert "market  orders → type: type, time: ts" in text
    assert "pair  market → pair (ceql)" in text
    assert text.index("pair  market → pair") < text.index("again  pair → again")
    assert "WHERE SELL AS a ; BUY AS b" in text
    assert "follows the window" in text
    live = run_cli("run", write(changed(MARKET, LIVE)), "--dry-run").stdout
    assert "watermark 5 seconds" in live
    assert "trigger    available now" in live


def test_warnings_are_part_of_the_plan(write: Write) -> None:
    more = '\n[queries.lone]\nfrom = "market"\ntext = "SELECT * WHERE SELL ; BUY"\n'
    text = Pipeline.load(write(MARKET + more)).describe()
    assert "nothing reads the stream 'lone'" in text
    assert "lone: " in text.partition("warnings")[2]  # no window


def test_errors_of_the_command_line(write: Write) -> None:
    failed = run_cli("run", write(changed(MARKET, ('time = "ts"', 'time = "tz"'))))
    assert failed.exit_code == 1
    assert failed.stderr.startswith("error: ")
    assert "hint: did you mean 'ts'?" in failed.stderr
    for more in (["more.parquet"], ["--time", "ts"], ["--dialect", "sase"], ["--sort"]):
        assert "a pipeline says" in run_cli("run", write(MARKET), *more).stderr
    assert run_cli("run", "SELECT * WHERE A", "x.parquet", "--dry-run").exit_code == 1


def run_cli(*arguments: object) -> Any:
    from typer.testing import CliRunner

    return CliRunner().invoke(main.app, [str(each) for each in arguments])


def test_the_example_is_right(tmp_path: Path) -> None:
    """But for its events, which are made by a script of its own."""
    example = shutil.copytree(EXAMPLE, tmp_path / "market")
    (example / "orders").mkdir(exist_ok=True)
    try:
        pipeline = Pipeline.load(example / "pipeline.toml")
    finally:
        sys.path.remove(str(example))
        sys.modules.pop("alerts", None)
    assert pipeline.warnings == []
    assert "repeated  absorbed → repeated (ceql)" in pipeline.describe()


def test_the_suffix_of_a_file_names_its_language(write: Write) -> None:
    (first, *_) = (line for line in MARKET.splitlines() if line.startswith("text ="))
    file = write(changed(MARKET, (first, 'file = "pair.sase"')))
    sase = "PATTERN SEQ(SELL a, BUY b) WHERE [name] WITHIN 10 seconds RETURN a.price"
    (file.parent / "pair.sase").write_text(sase)
    assert "pair  market → pair (sase)" in Pipeline.load(file).describe()
    file = write(changed(MARKET, (first, 'file = "pair.sase"\ndialect = "ceql"')))
    assert "expected SELECT" in refused(file).message


def test_the_lines_of_a_live_run() -> None:
    """One per query, with what is not known left open."""
    table = live_table(
        [
            Metrics("pair", "", "out", total_events=1200, events_per_second=5100.4, late=0),
            Metrics("again", "", "out", total_matches=3, state_bytes=3 << 20, lag_seconds=90.0),
        ]
    )
    console = Console(width=100)
    with console.capture() as shown:
        console.print(table)
    lines = [line.split() for line in shown.get().splitlines()]
    assert ["pair", "5,100", "1,200", "–", "–", "–", "–"] in lines
    assert ["again", "–", "–", "–", "3", "3.0", "MB", "1.5", "min"] in lines


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ('format = "parquet"\npath = "orders"', 'format = []\npath = "orders"', "no known format"),
        ('format = "parquet"\npath = "orders"', 'format = {}\npath = "orders"', "no known format"),
        ('from = "market"', "from = []", "the name of a stream"),
        ('time = "ts"', 'time = ""', "the name of a column"),
        ('path = "alerts"', f'path = "{"x" * 300}"', "no file can have this name"),
        ('path = "alerts"', 'path = "a\\u0000"', "no file can have this name"),
        ('path = "alerts"', "path = []", "a path is needed"),
        ('path = "orders"', f'path = "{"x" * 300}"', "no file can have this name"),
        ('mode = "batch"', 'mode = "batch"\nlog = []', "a path is needed"),
        ('mode = "batch"', 'mode = "batch"\nmetrics = {}', "a path is needed"),
        ('mode = "batch"', f'mode = "batch"\nlog = "{"x" * 300}"', "no file can have this name"),
    ],
)
def test_values_of_other_kinds_are_refused(
    before: str, after: str, message: str, write: Write
) -> None:
    assert message in str(refused(write(changed(MARKET, (before, after)))))


def test_a_file_may_begin_with_a_byte_order_mark() -> None:
    assert parsed("\ufeffmode = 1", Path("x.toml")).values == {"mode": 1}


@pytest.mark.parametrize("value", ["a" * 300_000, "a " * 150_000, "' " * 150_000])
def test_a_long_value_is_read_in_one_pass(value: str) -> None:
    assert parsed(f'text = "{value}"', Path("x.toml")).values == {"text": value}
