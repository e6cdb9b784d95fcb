"""`cereus report`: a run as one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cereus.cli import inputs
from cereus.cli import options as opt
from cereus.cli.view import out
from cereus.report import report as made
from cereus.writing.target import need_directory


def report(
    query: opt.QueryText,
    events: Annotated[
        list[str],
        typer.Argument(metavar="INPUT…", help="Files of events, or directories with them."),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Write the page to this file.")
    ] = Path("report.html"),
    title: Annotated[str | None, typer.Option(help="The title of the page.")] = None,
    type: opt.TypeColumn = None,
    time: opt.TimeColumn = None,
    key: opt.KeyColumns = None,
    stream: opt.StreamColumn = None,
    unit: opt.Unit = None,
    dialect: opt.Dialect = None,
    settings: opt.Settings = None,
    param: opt.Params = None,
    limit: opt.Limits = None,
    sort: opt.Sort = False,
) -> None:
    """Run a query and write a page about it: words, automaton, timeline, matches, why no more."""
    need_directory(output)
    read = inputs.events_of(events, inputs.ordered_by(time), sort=sort)
    compiled = inputs.query_of(
        query, read.schema, type, time, key, stream, unit, dialect, settings, param, limit
    )
    output.write_text(made(compiled, read, title=title), encoding="utf-8")
    out.print(f"written to {output}", highlight=False)
