"""`cereus play`: a page on this machine to write, run and look at queries."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Annotated

import typer

from cereus.cli import inputs
from cereus.cli import options as opt
from cereus.cli.groups import ColumnOptions, ReadOptions, expanded
from cereus.errors import CereusError
from cereus.play.data import GivenFiles
from cereus.play.process import PlayLimits

NEEDED = ("starlette", "uvicorn", "altair", "igraph", "vl_convert")


@expanded
def play(
    events: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[INPUT…]",
            help="Files of events, or directories with them; without any there are samples.",
            show_default=False,
        ),
    ] = None,
    query: Annotated[
        str | None,
        typer.Option(
            "--query",
            "-q",
            metavar="QUERY",
            help="The query to begin with, or a file with it.",
            show_default=False,
        ),
    ] = None,
    *,
    columns: ColumnOptions,
    dialect: opt.Dialect = None,
    reading: ReadOptions,
    sort: opt.Sort = False,
    port: Annotated[int, typer.Option(help="The port; 0 is any that is free.")] = 0,
    browser: Annotated[
        bool, typer.Option(" /--no-browser", help="Only print the address.", show_default=False)
    ] = True,
    seconds: Annotated[
        float, typer.Option(min=0.1, help="How long one answer may take.")
    ] = PlayLimits.seconds,
    memory: Annotated[
        int, typer.Option(min=100, metavar="MB", help="The memory that a query may use.")
    ] = PlayLimits.megabytes,
    rows: Annotated[
        int, typer.Option(min=1, help="How many events are read of the input.")
    ] = PlayLimits.rows,
) -> None:
    """Open a page to write queries, run them and look at the matches; for this machine only."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise CereusError(f"{missing[0]} is not installed", hint="pip install 'cereus[play]'")
    from cereus.play.data import PlayData
    from cereus.play.serving import serve

    given = GivenFiles(
        tuple(events or ()),
        type=None if columns.type is None else inputs.column_or_none(columns.type) or "",
        time=columns.time,
        keys=tuple(columns.key or ()),
        stream=columns.stream,
        unit=columns.unit,
        where=columns.where,
        sort=sort,
        reading=reading.arguments,
    )
    if given.paths:
        PlayData(given, 1).of("given")  # a file that cannot be read is an error here
    first = {}
    if query is not None:
        text = inputs.written(query)
        first = {"text": text.text, "dialect": text.dialect(dialect)}
    elif dialect is not None:
        first = {"dialect": dialect}
    serve(given, PlayLimits(seconds, memory, rows), first, port=port, browser=browser)
