"""What the library says in Python is said in flags here, and in keys where a pipeline was run."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import cereus
from cereus.cli.wording import FLAGS, KEYS
from cereus.language.wording import reworded

from .conftest import Run

SOURCE = Path(cereus.__file__).parent
PYTHON = re.compile(r"\w+\([^)]*=|\w=(True|False)\b|\b\w+=['\"]|q\.run|\w=…")
"""An argument by name, or a call with one."""

FROM_THE_COMMAND_LINE = (
    "plan",
    "engine",
    "languages",
    "sources",
    "syntax",
    "expr",
    "language",
    "stream.py",
)
CALLED_ONLY = ("recognizer(", "partition(")
"""What the commands never call, and a clause of SASE+."""

Write = Callable[..., Path]


@pytest.mark.parametrize(
    ("said", "flags", "keys"),
    [
        ('Stream(time="…")', "--time COLUMN", 'time = "…" in its stream'),
        (
            'Stream(time="my time", unit="ms")',
            "--time 'my time' --unit ms",
            'time = "my time", unit = "ms" in its stream',
        ),
        ("raise Limits(nodes=…)", "raise --limit nodes=N", "raise limits = { nodes = … }"),
        ("say output='Out'", "say --set output=Out", 'say options = { output = "Out" }'),
        ("values=True", "--set values", "options = { values = true }"),
        ("optimise=False", "--set optimise=no", "options = { optimise = false }"),
        ("sort first, or run with sort=True", "sort first, or run with --sort", "sort first"),
        ("say dialect='sase'", "say --dialect sase", 'say dialect = "sase"'),
        ("other=True", "other=True", "other=True"),
        (
            'read it as one type: types={"n": "string"}',
            "read it as one type: --types n=string",
            'read it as one type: types = { n = "string" } in its source',
        ),
        (
            'say delimiter=";"',
            "say --delimiter ';'",
            'say delimiter = ";" in its source',
        ),
        (
            'let it stand for NULL: nulls=["-"]',
            "let it stand for NULL: --null -",
            'let it stand for NULL: nulls = ["-"] in its source',
        ),
        (
            "say Files(…, multiline=True)",
            "say --multiline",
            "say multiline = true in its source",
        ),
        (
            'give it: params={"low": …}',
            "give it: --param low=VALUE",
            "give it: params = { low = … }",
        ),
        (
            'go on, or drop the state: match(…, on_change="restart")',
            "go on",
            'go on, or drop the state: on_change = "restart" in the query',
        ),
        ("count the rows, or write len(q.run(…))", "count the rows", "count the rows"),
        ("less, or go on: Limits(shed=True)", "less", "less"),
    ],
)
def test_arguments_are_flags_or_keys(said: str, flags: str, keys: str) -> None:
    assert reworded(said, FLAGS) == flags
    assert reworded(said, KEYS) == keys


def hints() -> Iterator[tuple[str, str]]:
    """Every text given as a `hint`, with its place; what is put into it is an x."""
    for stage in FROM_THE_COMMAND_LINE:
        place = SOURCE / stage
        for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.keyword) and node.arg == "hint":
                    text = constant(node.value).replace("Limits(x=", "Limits(nodes=")
                    yield f"{path.name}:{node.value.lineno}", text


def constant(node: ast.expr) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(constant(part) for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else "x"


def test_no_hint_speaks_python_on_the_command_line() -> None:
    found = [(place, hint) for place, hint in hints() if not any(c in hint for c in CALLED_ONLY)]
    assert any(PYTHON.search(hint) for _, hint in found), "nothing to reword: is it still there?"
    left = [(place, reworded(hint, FLAGS)) for place, hint in found]
    assert [each for each in left if PYTHON.search(each[1])] == []


WITHIN = "SELECT * FROM S WHERE SELL ; BUY WITHIN 10 seconds"


def test_a_missing_time_column_is_a_flag(cli: Run, write: Write) -> None:
    failed = cli("run", WITHIN, write(), "--engine", "local")
    assert "hint: say which one it is: --time ts\n" in failed.stderr
    warned = cli("check", WITHIN)
    assert "needs a time column: --time COLUMN\n" in warned.stderr


def test_a_unit_is_a_flag(cli: Run, write: Write) -> None:
    failed = cli("run", WITHIN, write(ts=[1, 2, 3, 4, 5]), "--engine", "local", "--time", "ts")
    assert "hint: say --time ts --unit ms, or write WITHIN n [ts]\n" in failed.stderr


def test_time_going_backwards_is_sorted_by_a_flag(cli: Run, write: Write) -> None:
    path = write(ts=[5, 4, 3, 2, 1])
    failed = cli("run", WITHIN, path, "--engine", "local", "--time", "ts", "--unit", "s")
    assert "or run with --sort\n" in failed.stderr
    failed = cli("run", WITHIN, path, "--engine", "local", "--sort")
    assert "error: sorting needs a time column\nhint: say --time COLUMN\n" in failed.stderr


def test_a_column_with_one_text_among_numbers_leads_to_its_cure(cli: Run) -> None:
    Path("r.csv").write_text("t,celsius\n1,20\n2,-\n3,90\n")
    run = ("run", "SELECT * WHERE EVENT AS e FILTER e[celsius > 80]", "r.csv", "--type", "none")
    assert "or read the column as a number: --types celsius=double\n" in cli(*run).stderr
    typed = (*run, "--types", "celsius=double")
    assert "or let it stand for NULL: --null -\n" in cli(*typed).stderr
    assert "1 match" in cli(*typed, "--null", "-").stdout


def test_a_time_that_is_text_leads_to_how_it_is_written(cli: Run) -> None:
    Path("r.csv").write_text("t,type\n03.04.2025 10:00:00,A\n")
    run = ("run", "SELECT * WHERE A WITHIN 1 minute", "r.csv", "--time", "t")
    advice = "--types t=timestamp, with --time-format '%d.%m.%Y %H:%M' if it is not as in ISO 8601"
    assert advice in cli(*run).stderr
    typed = cli(*run, "--types", "t=timestamp")
    assert "or say how times are written: --time-format '%d.%m.%Y %H:%M:%S'\n" in typed.stderr
    assert "1 match" in cli(*run, "--time-format", "%d.%m.%Y %H:%M:%S").stdout


@pytest.mark.parametrize(
    ("text", "likely"),
    [
        ("30/03/2025 01:00", "--time-format '%d/%m/%Y %H:%M'"),
        ("03/04/2025 1:05 PM", "--time-format '%d/%m/%Y %I:%M %p', or --time-format '%m/%d/%Y"),
        ("30/Mar/2025:01:00:00 +0200", "--time-format '%d/%b/%Y:%H:%M:%S %z'"),
        ("half past nine", "--time-format '%d.%m.%Y %H:%M:%S'"),
    ],
)
def test_a_time_in_another_format_leads_to_its_format(cli: Run, text: str, likely: str) -> None:
    Path("r.csv").write_text(f"t,type\n{text},A\n")
    run = ("run", "SELECT * WHERE A", "r.csv", "--time", "t", "--types", "t=timestamp")
    failed = cli(*run).stderr
    assert f"say how times are written: {likely}" in failed


def test_a_format_in_which_nothing_is_written_leads_to_the_right_one(cli: Run) -> None:
    Path("r.csv").write_text("t,type\n30/03/2025 01:00,A\n")
    run = ("run", "SELECT * WHERE A", "r.csv", "--time", "t", "--time-format")
    failed = cli(*run, "%d/%m/%y %H:%M").stderr
    assert "no column has times that are written as '%d/%m/%y %H:%M'" in failed
    assert "hint: say --time-format '%d/%m/%Y %H:%M'\n" in failed
    assert "1 match" in cli(*run, "%d/%m/%Y %H:%M").stdout


def test_commas_between_thousands_lead_to_a_query_without_them(cli: Run) -> None:
    Path("r.csv").write_text('type,x\nA,"1,234.50"\nA,7\n')
    failed = cli("run", "SELECT * WHERE A AS a FILTER a[x > 9]", "r.csv", "--types", "x=double")
    cast = "CAST(replace(x, ',', '') AS double)"
    assert f"take the commas out in the query: {cast}\n" in failed.stderr
    assert "1 match" in cli("run", f"SELECT * WHERE A AS a FILTER a[{cast} > 9]", "r.csv").stdout


def test_an_empty_text_in_double_quotes_leads_to_single_ones(cli: Run) -> None:
    failed = cli("check", "SELECT * WHERE A AS a FILTER a[replace(x, ',', \"\") = 'y']")
    assert "hint: texts stand in single quotes: ''\n" in failed.stderr


def test_columns_in_one_lead_to_their_delimiter(cli: Run) -> None:
    Path("r.csv").write_text("t;type\n1;A\n")
    failed = cli("run", "SELECT * WHERE A", "r.csv")
    assert "the events have no column 'type', but one 't;type'" in failed.stderr
    assert "unless you say --delimiter ';'\n" in failed.stderr


def test_a_limit_that_was_reached_can_be_raised(cli: Run, write: Write) -> None:
    run = ("run", "SELECT * FROM S WHERE (SELL OR BUY)+", write(), "--engine", "local")
    failed = cli(*run, "--limit", "matches_per_event=3")
    assert failed.exit_code == 1 and "more than 3 " in failed.stderr
    assert "raise --limit matches_per_event=N\n" in failed.stderr
    assert "31 matches" in cli(*run, "--limit", "matches_per_event=300").stdout
    assert "did you mean 'nodes'?" in cli(*run, "--limit", "node=3").stderr
    assert "is not a whole number" in cli(*run, "--limit", "nodes=many").stderr


def test_a_pipeline_is_told_its_keys(cli: Run, write: Write) -> None:
    write(ts=[1, 2, 3, 4, 5])
    Path("p.toml").write_text(
        f"""
        mode = "batch"
        [sources.s]
        format = "parquet"
        path = "events.parquet"
        [streams.S]
        source = "s"
        time = "ts"
        [queries.q]
        from = "S"
        text = "{WITHIN}"
        [sinks.out]
        from = "q"
        format = "console"
        """
    )
    failed = cli("run", "p.toml", "--dry-run")
    assert failed.exit_code == 1
    assert 'time = "ts", unit = "ms" in its stream' in failed.stderr, failed.output
