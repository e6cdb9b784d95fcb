"""`cereus explain`, `cereus check` and `cereus show`: about a query, without running it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from cereus.cli import inputs
from cereus.cli import options as opt
from cereus.cli.output import need_directory
from cereus.cli.view import out, show_warning
from cereus.errors import CereusError
from cereus.show.diagram import diagram
from cereus.translate.translate import INTO, translated

SchemaFile = Annotated[
    str | None,
    typer.Option(
        "--schema",
        metavar="FILE",
        help="Events, or a list of their columns: JSON, or one `name: type` per line.",
        show_default=False,
    ),
]
Into = Annotated[
    str | None,
    typer.Option(
        "--as",
        metavar="DIALECT",
        help=f"Write the query in another language instead: {' or '.join(INTO)}.",
        show_default=False,
    ),
]


def explain(
    query: opt.QueryText,
    schema: SchemaFile = None,
    type: opt.TypeColumn = None,
    time: opt.TimeColumn = None,
    key: opt.KeyColumns = None,
    stream: opt.StreamColumn = None,
    unit: opt.Unit = None,
    dialect: opt.Dialect = None,
    settings: opt.Settings = None,
    param: opt.Params = None,
    into: Into = None,
    words: Annotated[
        bool, typer.Option("--words", help="Say in plain English what the query asks, instead.")
    ] = False,
) -> None:
    """Say how a query will be run: stages, tests, automaton, memory, warnings."""
    known = None if schema is None else inputs.schema_of(schema)
    described = inputs.stream_of(type, time, key, stream, unit, schema=known)
    params = inputs.params_of(param or ())
    compiled = inputs.compiled(
        inputs.written(query), dialect, described, known, settings, params=params
    )
    if into is not None:
        out.print(Text(translated(compiled.compiled, into)), soft_wrap=True)
        return
    text = compiled.words() if words else compiled.explain(known)
    out.print(Text(text), soft_wrap=True)


def check(
    query: opt.QueryText,
    schema: SchemaFile = None,
    type: opt.TypeColumn = None,
    time: opt.TimeColumn = None,
    key: opt.KeyColumns = None,
    stream: opt.StreamColumn = None,
    unit: opt.Unit = None,
    dialect: opt.Dialect = None,
    settings: opt.Settings = None,
    param: opt.Params = None,
) -> None:
    """Check a query, against the columns of the events if they are given. Exit code 1 if wrong."""
    known = None if schema is None else inputs.schema_of(schema)
    described = inputs.stream_of(type, time, key, stream, unit, schema=known)
    params = inputs.params_of(param or ())
    compiled = inputs.compiled(
        inputs.written(query), dialect, described, known, settings, params=params
    )
    for warning in compiled.warnings:
        show_warning(warning)
    out.print(
        "[green]ok[/green]"
        if known is not None
        else "[green]ok[/green] (no --schema: names and types unchecked)"
    )


def show(
    query: opt.QueryText,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write to this file: .svg (needs graphviz) or .dot."),
    ] = None,
    type: opt.TypeColumn = None,
    time: opt.TimeColumn = None,
    key: opt.KeyColumns = None,
    stream: opt.StreamColumn = None,
    unit: opt.Unit = None,
    dialect: opt.Dialect = None,
    settings: opt.Settings = None,
    param: opt.Params = None,
) -> None:
    """Draw the automaton of a query: DOT text, or a picture."""
    described = inputs.stream_of(type, time, key, stream, unit)
    params = inputs.params_of(param or ())
    picture = diagram(
        inputs.compiled(inputs.written(query), dialect, described, None, settings, params=params)
    )
    if output is None:
        out.print(Text(picture.dot), soft_wrap=True)
        return
    suffix = output.suffix.lower()
    if suffix not in (".svg", ".dot"):
        raise CereusError(f"cannot draw to {str(output)!r}", hint="end the name in .svg or .dot")
    need_directory(output)
    output.write_text(picture.svg() if suffix == ".svg" else picture.dot, encoding="utf-8")
    out.print(f"written to {output}", highlight=False)
