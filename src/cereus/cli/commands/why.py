"""`cereus why`: how far partial matches came, and which rule excludes an expected match."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer
from rich.text import Text

from cereus.cli import inputs
from cereus.cli import options as opt
from cereus.cli.view import out
from cereus.errors import CereusError
from cereus.why.why import MOST_SHOWN


def why(
    query: opt.QueryText,
    events: Annotated[
        list[str],
        typer.Argument(
            metavar="INPUT…", help="Files or directories of events.", show_default=False
        ),
    ],
    match: Annotated[
        str | None,
        typer.Option(
            metavar="ROWS",
            help="Rows of the input that should be a match, numbered from 0: 3,17,20. Says which "
            "rules exclude it.",
            show_default=False,
        ),
    ] = None,
    most: Annotated[int, typer.Option(min=0, help="How many near misses to show.")] = MOST_SHOWN,
    as_json: opt.AsJson = False,
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
    """Say why a query has few matches: what each step takes, what ends the rest, near misses."""
    read = inputs.events_of(events, inputs.ordered_by(time), sort=sort)
    compiled = inputs.query_of(
        query, read.schema, type, time, key, stream, unit, dialect, settings, param, limit
    )
    if match is None:
        answer: Any = compiled.why(read, most=most)
    else:
        answer = compiled.why_not(read, rows_of(match))
    if as_json:
        typer.echo(json.dumps(answer.to_dict(), default=str, indent=2, ensure_ascii=False))
    else:
        out.print(Text(str(answer)), soft_wrap=True)


def rows_of(text: str) -> list[int]:
    """`3,17,20`"""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() for part in parts):
        raise CereusError(f"--match {text} does not list rows", hint="write --match 3,17,20")
    return [int(part) for part in parts]
