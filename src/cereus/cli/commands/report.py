"""`cereus report`: a run as one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cereus.cli import options as opt
from cereus.cli.groups import (
    ColumnOptions,
    LanguageOptions,
    ReadOptions,
    events_of,
    expanded,
    query_of,
)
from cereus.cli.view import out
from cereus.report import report as made
from cereus.writing.target import need_directory


@expanded
def report(
    query: opt.QueryText,
    events: opt.Inputs,
    *,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Write the page to this file.")
    ] = Path("report.html"),
    title: Annotated[str | None, typer.Option(help="The title of the page.")] = None,
    columns: ColumnOptions,
    language: LanguageOptions,
    reading: ReadOptions,
    sort: opt.Sort = False,
) -> None:
    """Run a query and write a page about it: words, automaton, timeline, matches, why no more."""
    need_directory(output)
    read = events_of(events, reading, columns, sort=sort)
    compiled = query_of(query, columns, language, read.schema)
    output.write_text(made(compiled, read, title=title), encoding="utf-8")
    out.print(f"written to {output}", highlight=False)
