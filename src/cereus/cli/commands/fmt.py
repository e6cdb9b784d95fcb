"""`cereus fmt`: query files laid out as their languages print them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cereus.cli import options as opt
from cereus.cli.view import err, out
from cereus.errors import CereusError, about
from cereus.language.formatting import formatted
from cereus.language.registry import default_name, dialect_of, language


def fmt(
    files: Annotated[list[Path], typer.Argument(metavar="FILE…", help="Query files.")],
    check: Annotated[
        bool,
        typer.Option("--check", help="Write nothing; exit code 1 if a file would change."),
    ] = False,
    dialect: opt.Dialect = None,
) -> None:
    """Format query files: a line for each clause, and no needless parentheses."""
    changed = [file for file in files if _changes(file, dialect, write=not check)]
    for file in changed:
        (err if check else out).print(
            f"{'would change' if check else 'changed'}  {file}", highlight=False
        )
    if check and changed:
        raise typer.Exit(1)


def _changes(file: Path, dialect: str | None, *, write: bool) -> bool:
    if not file.is_file():
        raise CereusError(f"there is no query file {str(file)!r}", hint="check the path")
    before = file.read_text(encoding="utf-8")
    with about(str(file)):
        after = formatted(before, language(dialect or dialect_of(file) or default_name()))
    if after != before and write:
        file.write_text(after, encoding="utf-8")
    return after != before
