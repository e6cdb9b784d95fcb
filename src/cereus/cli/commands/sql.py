"""`cereus sql`: a statement of SQL with MATCH_RECOGNIZE clauses in it, over files."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import pyarrow as pa
import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from cereus.cli import inputs
from cereus.cli import options as opt
from cereus.cli.groups import ReadOptions, expanded
from cereus.cli.view import RIGHT, out, print_table, value_text
from cereus.errors import CereusError
from cereus.sources.formats import suffixes_of
from cereus.statements import run_statement
from cereus.writing.expressible import shown_rows
from cereus.writing.target import check_room, target_of
from cereus.writing.writers import write_table

NAMED = re.compile(r"(?P<name>[^\W\d]\w*)=(?P<path>.+)", re.DOTALL)


@expanded
def sql(
    statement: Annotated[
        str,
        typer.Argument(
            metavar="STATEMENT",
            help="The statement, or a file with it: a path that ends in .sql, or @FILE.",
            show_default=False,
        ),
    ],
    tables: Annotated[
        list[str],
        typer.Argument(
            metavar="[NAME=]INPUT…",
            help="The tables that the statement reads: trades=day.parquet. Without a name, the "
            "table has that of the file.",
            show_default=False,
        ),
    ],
    *,
    param: opt.Params = None,
    limit: opt.Limits = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write all rows to this file (.parquet, .csv, .json, .arrow), or to standard "
            "output (-).",
            show_default=False,
        ),
    ] = None,
    output_format: opt.OutputFormat = None,
    overwrite: opt.Overwrite = False,
    limit_shown: Annotated[
        int, typer.Option(min=0, help="How many rows to show when none are written.")
    ] = 20,
    reading: ReadOptions,
) -> None:
    """Run a SQL statement with MATCH_RECOGNIZE clauses over files.

    Cereus runs the clauses, and DuckDB the rest of the statement."""
    paths = dict(map(named, tables))
    target = None if output is None else target_of(output, output_format)
    if target is not None:
        check_room(target, paths.values(), overwrite=overwrite)
    if len(paths) < len(tables):
        raise CereusError("two tables have one name", hint="give names: a=x.csv b=y.csv")
    result = run_statement(
        inputs.written(statement).text,
        {name: reading.files([path]) for name, path in paths.items()},
        None,
        {"params": inputs.params_of(param or ()), "limits": inputs.limits_of(limit or ())},
    )
    if target is None:
        show_rows(result, limit_shown)
        return
    write_table(target, result)
    if not target.standard_output:
        out.print(f"written to {target}", highlight=False, soft_wrap=True)


def named(text: str) -> tuple[str, str]:
    """`trades=day.parquet` as a name and a path; without a name, that of the file."""
    given = NAMED.fullmatch(text)
    if given is not None:
        return given["name"], given["path"]
    base = Path(text).name
    name = base[: len(base) - len("".join(suffixes_of(base)))]
    if not name.isidentifier():
        raise CereusError(
            f"{text!r} does not say what the table is called", hint=f"write trades={text}"
        )
    return name, text


def show_rows(rows: pa.Table, most: int) -> None:
    """Print the first rows as a table, and how many there are."""
    shown = shown_rows(rows.slice(0, most))
    table = Table(box=SIMPLE_HEAD)
    for name in rows.column_names:
        numeric = any(isinstance(row[name], RIGHT) for row in shown)
        table.add_column(Text(name), justify="right" if numeric else "left")
    for row in shown:
        table.add_row(*(Text(value_text(value)) for value in row.values()))
    if shown:
        print_table(table)
    count = f"{rows.num_rows:,} row{'' if rows.num_rows == 1 else 's'}"
    more = f", of which {most:,} are shown" if 0 < most < rows.num_rows else ""
    out.print(f"{count}{more}", highlight=False)
