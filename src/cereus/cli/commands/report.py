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
    expanded,
    query_and_events,
)
from cereus.cli.view import out
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
    from cereus.report import report as made

    need_directory(output)
    compiled, read = query_and_events(query, events, columns, language, reading, sort=sort)
    output.write_text(made(compiled, read, title=title), encoding="utf-8")
    out.print(f"written to {output}", highlight=False)
