"""`cereus bench`: how fast queries run on this machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import pyarrow as pa
import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from cereus.bench import page
from cereus.bench.charts import bars
from cereus.bench.measuring import measured
from cereus.bench.queries import built_in
from cereus.cli import options as opt
from cereus.cli.groups import (
    ColumnOptions,
    LanguageOptions,
    ReadOptions,
    expanded,
    query_and_events,
)
from cereus.cli.view import err, out
from cereus.demo import STOCK_EVENTS
from cereus.errors import CereusError
from cereus.query import Query

TITLE = "How fast queries run here"
SECTION = "Queries"
TEXT = (
    "CPU time on one core, from Arrow to Arrow, the best of several runs. The floor is a pass over "
    "the same events that only reads and tests them; its runs take turns with those of the query. "
    "Where a language has no tests apart from its matching, there is none."
)
Case = tuple[str, Query, pa.Table]


@expanded
def bench(
    query: Annotated[
        str | None,
        typer.Argument(
            metavar="QUERY", help="A query, or a file with it, as of run.", show_default=False
        ),
    ] = None,
    events: Annotated[
        list[str] | None,
        typer.Argument(metavar="INPUT…", help=opt.INPUTS, show_default=False),
    ] = None,
    *,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where the results go.")
    ] = Path("bench-results"),
    against: Annotated[
        Path | None,
        typer.Option(
            metavar="RESULTS",
            help="Earlier results, to compare with: a results.json, or its folder.",
            show_default=False,
        ),
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, help="How often each query runs.")] = 5,
    generated: Annotated[
        int, typer.Option("--events", min=1, help="How many events to make, without an INPUT.")
    ] = STOCK_EVENTS,
    columns: ColumnOptions,
    language: LanguageOptions,
    reading: ReadOptions,
    sort: opt.Sort = False,
) -> None:
    """Measure a query over your events, or queries of all languages over generated ones."""
    before = None if against is None else page.read_results(against).get(SECTION, [])
    cases = (
        built_in(generated)
        if query is None
        else _yours(query, events or [], columns, language, reading, sort)
    )
    rows: Sequence[page.Row] = list(_rows(cases, rounds))
    if before is not None:
        rows = page.against(rows, before)
    _print(rows)
    pictures = find_spec("altair") is not None and find_spec("vl_convert") is not None
    chart = {"floor.svg": bars(rows, "query", "× floor", "× floor")} if pictures else {}
    written = page.write(output, TITLE, [page.ResultSection(SECTION, TEXT, rows, chart)])
    out.print(f"written to {written} and {output / page.JSON}", highlight=False)


def _yours(
    query: str,
    events: list[str],
    columns: ColumnOptions,
    language: LanguageOptions,
    reading: ReadOptions,
    sort: bool,
) -> Iterator[Case]:
    if not events:
        raise CereusError("there are no events to measure over", hint="name files after the query")
    compiled, read = query_and_events(query, events, columns, language, reading, sort=sort)
    needed = compiled.columns(read.schema)
    table = pa.Table.from_batches(
        read.batches(needed), read.schema.empty_table().select(needed).schema
    )
    yield Path(query).stem if Path(query).is_file() else "yours", compiled, table


def _rows(cases: Iterator[Case], rounds: int) -> Iterator[page.Row]:
    with err.status("measuring") as status:
        for name, query, table in cases:
            status.update(f"measuring: {name}")
            yield measured(name, query, table, rounds)


def _print(rows: Sequence[page.Row]) -> None:
    table = Table(box=SIMPLE_HEAD, title=f"{page.number_text(rows[0]['events'])} events, one core")
    names = [name for name in rows[0] if name != "events"]
    for name in names:
        words = isinstance(rows[0][name], str)
        table.add_column(name, justify="left" if words else "right")
    for row in rows:
        table.add_row(*(page.number_text(row[name]) for name in names))
    out.print(table)
