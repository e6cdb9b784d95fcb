"""`cereus why`: how far partial matches came, and which rule excludes an expected match."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.text import Text

from cereus.cli import options as opt
from cereus.cli.as_json import errors_as_json, write_json
from cereus.cli.groups import (
    ColumnOptions,
    LanguageOptions,
    ReadOptions,
    expanded,
    query_and_events,
)
from cereus.cli.view import out
from cereus.errors import CereusError
from cereus.query import NEAREST_MISSES


@expanded
def why(
    query: opt.QueryText,
    events: opt.Inputs,
    *,
    match: Annotated[
        str | None,
        typer.Option(
            metavar="ROWS",
            help="Rows of the input that should be a match, numbered from 0: 3,17,20. Says which "
            "rules exclude it.",
            show_default=False,
        ),
    ] = None,
    most: Annotated[
        int, typer.Option(min=0, help="How many near misses to show.")
    ] = NEAREST_MISSES,
    as_json: opt.AsJson = False,
    columns: ColumnOptions,
    language: LanguageOptions,
    reading: ReadOptions,
    sort: opt.Sort = False,
) -> None:
    """Say why a query has few matches: what each step takes, what ends the rest, near misses."""
    with errors_as_json(as_json):
        compiled, read = query_and_events(query, events, columns, language, reading, sort=sort)
        if match is None:
            answer: Any = compiled.why(read, most=most)
        else:
            answer = compiled.why_not(read, rows_of(match))
    if as_json:
        write_json(ok=True, **answer.to_dict())
    else:
        out.print(Text(str(answer)), soft_wrap=True)


def rows_of(text: str) -> list[int]:
    """The numbers of rows in a text: `3,17,20`."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() for part in parts):
        raise CereusError(f"--match {text} does not list rows", hint="write --match 3,17,20")
    return [int(part) for part in parts]
