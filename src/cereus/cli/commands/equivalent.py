"""`cereus equivalent`: do two queries mean the same?"""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from cereus.cli import inputs
from cereus.cli.view import out, show_error
from cereus.errors import CereusError
from cereus.language.protocol import Language
from cereus.language.registry import language, languages

CODES = {True: 0, False: 1, None: 2}
"""The exit codes, by the answer."""
NO_ANSWER = 3
"""The exit code if the queries cannot be read: 1 is an answer here."""
COMPARED = [each.name for each in languages() if each.compares]


def equivalent(
    first: Annotated[
        str, typer.Argument(metavar="A", help="A query, or a file with it.", show_default=False)
    ],
    second: Annotated[str, typer.Argument(metavar="B", help="Another one.", show_default=False)],
    dialect: Annotated[
        str | None,
        typer.Option(
            help=f"The language of both: {', '.join(COMPARED)}. If not given, the one that the "
            "suffix of their files names.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Decide whether two queries mean the same, and if not, show events on which they differ.

    Exit code 0: they do (for programs: the same outputs); 1: they do not; 2: not decided;
    3: an error in a query.
    """
    try:
        one, two = inputs.written(first), inputs.written(second)
        comparison = _common_language(dialect, one, two).equivalent(one.text, two.text)
    except CereusError as error:
        show_error(error)
        raise typer.Exit(NO_ANSWER) from None
    out.print(Text(comparison.text), soft_wrap=True)
    raise typer.Exit(CODES[comparison.equivalent])


def _common_language(dialect: str | None, *queries: inputs.Written) -> Language:
    """The language of both queries, if it can compare them."""
    declared = {query.dialect(dialect) for query in queries}
    chosen = language(declared.pop())
    if declared or not chosen.compares:
        compared = [each.name for each in languages() if each.compares]
        raise CereusError(
            f"only queries in {' or '.join(compared)} can be compared, both in the same language",
            hint=f"if they are, say so: {', or '.join(f'--dialect {name}' for name in compared)}",
        )
    return chosen
