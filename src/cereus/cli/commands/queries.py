"""`cereus explain`, `cereus check` and `cereus show`: about a query, without running it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import pyarrow as pa
import typer
from rich.text import Text

from cereus.cli import options as opt
from cereus.cli.as_json import errors_as_json, query_fields, sections, write_json
from cereus.cli.groups import ColumnOptions, LanguageOptions, ReadOptions, expanded, query_of
from cereus.cli.view import out, show_warning
from cereus.cli.wording import FLAGS
from cereus.errors import CereusError
from cereus.explain.document import section_text
from cereus.language.wording import reworded
from cereus.show.diagram import diagram
from cereus.sources.schema_files import schema_of
from cereus.translate.translate import INTO, translated
from cereus.writing.target import need_directory

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


@expanded
def explain(
    query: opt.QueryText,
    *,
    schema: SchemaFile = None,
    json: opt.AsJson = False,
    columns: ColumnOptions,
    language: LanguageOptions,
    reading: ReadOptions,
    into: Into = None,
    words: Annotated[
        bool, typer.Option("--words", help="Say in plain English what the query asks, instead.")
    ] = False,
    stage: Annotated[
        str | None,
        typer.Option(metavar="TITLE", help="Only one part: stages, tests, automaton, memory …"),
    ] = None,
) -> None:
    """Say how a query will be run: stages, tests, automaton, memory, warnings."""
    with errors_as_json(json):
        known = _columns_of(schema, reading)
        compiled = query_of(query, columns, language, known)
        if into is not None:
            text = translated(compiled.compiled, into)
            if json:
                write_json(ok=True, dialect=into, query=text)
            else:
                out.print(Text(text), soft_wrap=True)
            return
        explanation = in_flags(compiled.explain(known))
        if json:
            more = compiled.explained(known)
            parts = {"sections": sections(explanation), "diagram": more["diagram"]}
            write_json(ok=True, **query_fields(compiled), words=more["words"], **parts)
            return
        text = compiled.words() if words else explanation
        out.print(Text(text if stage is None else section_text(text, stage)), soft_wrap=True)


def _columns_of(schema: str | None, reading: ReadOptions) -> pa.Schema | None:
    return None if schema is None else schema_of(schema, reading.files([schema]))


def in_flags(explanation: str) -> str:
    """The explanation with flags in its warnings instead of Python arguments."""
    before, title, after = explanation.rpartition("\nwarnings\n")
    return before + title + reworded(after, FLAGS) if title else explanation


@expanded
def check(
    query: opt.QueryText,
    *,
    schema: SchemaFile = None,
    json: opt.AsJson = False,
    columns: ColumnOptions,
    language: LanguageOptions,
    reading: ReadOptions,
) -> None:
    """Check a query, against the columns of the events if they are given. Exit code 1 if wrong."""
    with errors_as_json(json):
        known = _columns_of(schema, reading)
        compiled = query_of(query, columns, language, known)
        if json:
            write_json(ok=True, **query_fields(compiled), columns_checked=known is not None)
            return
    for warning in compiled.warnings:
        show_warning(warning)
    out.print(
        "[green]ok[/green]"
        if known is not None
        else "[green]ok[/green] (no --schema: names and types unchecked)"
    )


@expanded
def show(
    query: opt.QueryText,
    *,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write to this file: .svg, .png, .mmd (Mermaid) or .dot.",
        ),
    ] = None,
    columns: ColumnOptions,
    language: LanguageOptions,
) -> None:
    """Draw the automaton of a query: DOT text, or a picture."""
    picture = diagram(query_of(query, columns, language, None))
    if output is None:
        out.print(Text(picture.dot), soft_wrap=True)
        return
    drawn: dict[str, Callable[[], str | bytes]] = {
        ".svg": picture.svg,
        ".png": picture.png,
        ".mmd": picture.mermaid,
        ".dot": lambda: picture.dot,
    }
    suffix = output.suffix.lower()
    if suffix not in drawn:
        known = ", ".join(drawn)
        raise CereusError(f"cannot draw to {str(output)!r}", hint=f"end the name in one of {known}")
    need_directory(output)
    content = drawn[suffix]()
    output.write_bytes(content if isinstance(content, bytes) else content.encode())
    out.print(f"written to {output}", highlight=False)
