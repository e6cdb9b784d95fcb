"""`cereus run`: a query over files."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import pyarrow as pa
import typer

from cereus.cli import inputs
from cereus.cli import options as opt
from cereus.cli.local import Outcome, run_local
from cereus.cli.output import make_room
from cereus.cli.view import columns_to_show, count_text, matches_table, out, rate_text, show_warning
from cereus.errors import CereusError
from cereus.query import Query

Compiler = Callable[[pa.Schema], Query]
"""Makes the query once the columns of the events are known."""


class Engine(StrEnum):
    SPARK = "spark"
    LOCAL = "local"


def run(
    query: opt.QueryText,
    events: Annotated[
        list[str],
        typer.Argument(
            metavar="INPUT…",
            help="Files or directories of events: Parquet, CSV, JSON lines, Arrow.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Write all matches to this file: .parquet, .csv, .json or .arrow.",
            show_default=False,
        ),
    ] = None,
    type: opt.TypeColumn = None,
    time: opt.TimeColumn = None,
    key: opt.KeyColumns = None,
    stream: opt.StreamColumn = None,
    unit: opt.Unit = None,
    dialect: opt.Dialect = "ceql",
    settings: opt.Settings = None,
    engine: Annotated[
        Engine | None,
        typer.Option(
            help="Where to run: on Spark (if it is installed), or in this process.",
            show_default=False,
        ),
    ] = None,
    master: Annotated[
        str | None, typer.Option(metavar="URL", help="The Spark master; local[*] if not said.")
    ] = None,
    sort: Annotated[
        bool,
        typer.Option("--sort", help="Put the events in order of time first (in memory)."),
    ] = False,
    tie: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="On Spark, what orders events of one time (files keep their own order).",
            show_default=False,
        ),
    ] = None,
    limit_shown: Annotated[
        int, typer.Option(min=0, help="How many matches to show when none are written.")
    ] = 5,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the output if it exists.")
    ] = False,
) -> None:
    """Find all matches of a query in files of events."""
    text = inputs.query_text(query)

    def compiler(schema: pa.Schema) -> Query:
        described = inputs.stream_of(
            type=type, time=time, keys=key or (), stream=stream, unit=unit, schema=schema
        )
        found = inputs.compiled(text, dialect, described, schema, settings)
        for warning in found.warnings:
            show_warning(warning)
        if output is not None:
            make_room(output, events, overwrite=overwrite)
        return found

    shown = limit_shown if output is None else 0
    if _chosen(engine, master) is Engine.LOCAL:
        outcome, compiled = _run_local(compiler, events, output, shown, time, sort=sort)
    else:
        from cereus.cli.on_spark import run_on_spark

        outcome, compiled = run_on_spark(
            compiler, events, output, shown, master=master or "local[*]", tie=tie or ()
        )
    report(outcome, compiled, output)


def _chosen(engine: Engine | None, master: str | None) -> Engine:
    if engine is Engine.LOCAL and master is not None:
        raise CereusError("--master is for Spark", hint="leave out --engine local")
    if engine is None:
        return Engine.SPARK if master is not None or find_spec("pyspark") else Engine.LOCAL
    return engine


def _run_local(
    compiler: Compiler,
    paths: list[str],
    output: Path | None,
    shown: int,
    time: str | None,
    *,
    sort: bool,
) -> tuple[Outcome, Query]:
    events = inputs.events_of(paths, inputs.stream_of(time=time), sort=sort)
    query = compiler(events.schema)
    return run_local(query, events, output, shown), query


def report(outcome: Outcome, query: Query, output: Path | None) -> None:
    """Some matches as a table, how many there are, and how fast that was."""
    if outcome.first:
        more = len(outcome.first) < outcome.matches
        title = f"{len(outcome.first)} of the matches" if more else "all matches"
        out.print(matches_table(outcome.first, main_columns(query, outcome.columns), title))
    where = f" written to {output}" if output is not None else ""
    out.print(
        f"[bold]{count_text(outcome.matches)}[/bold]{where} · "
        f"{rate_text(outcome.events, outcome.seconds)}",
        highlight=False,
        soft_wrap=True,
    )


def main_columns(query: Query, names: list[str]) -> list[str]:
    """Time, type and keys, then the rest."""
    first = [query.stream.time, query.stream.type, *(path[0] for path in query.keys)]
    return columns_to_show(names, [name for name in first if name is not None])
