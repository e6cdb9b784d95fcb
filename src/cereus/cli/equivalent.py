"""`cereus equivalent`: do two queries say the same?"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Annotated

import typer
from rich.text import Text

from cereus.cli import inputs
from cereus.cli.view import out
from cereus.errors import CereusError
from cereus.languages.algebra import api as event_algebra
from cereus.languages.par import api as par

DIFFERENT, UNDECIDED = 1, 2
"""Exit codes; 0 is equivalent."""


class Decided(StrEnum):
    """The dialects in which equivalence can be decided, or at least often."""

    PAR = "par"
    ALGEBRA = "algebra"


def of_programs(first: str, second: str) -> tuple[str, int]:
    """Programs that give the same outputs are the same to whoever is notified."""
    verdict = par.equivalent(first, second)
    return str(verdict), 0 if verdict.output_equivalent else DIFFERENT


def of_expressions(first: str, second: str) -> tuple[str, int]:
    verdict = event_algebra.equivalent(first, second)
    codes = {True: 0, False: DIFFERENT, None: UNDECIDED}
    return str(verdict), codes[verdict.equivalent]


DECIDE: dict[Decided, Callable[[str, str], tuple[str, int]]] = {
    Decided.PAR: of_programs,
    Decided.ALGEBRA: of_expressions,
}


def equivalent(
    first: Annotated[
        str, typer.Argument(metavar="A", help="A query, or a file with it.", show_default=False)
    ],
    second: Annotated[str, typer.Argument(metavar="B", help="Another one.", show_default=False)],
    dialect: Annotated[
        Decided | None,
        typer.Option(
            help="The language of both; if not said, the one that their files' suffix names.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Say whether two queries mean the same, and if not, show events on which they differ.

    Exit code 0: they do (for programs: the same outputs); 1: they do not; 2: not decided.
    """
    one, two = inputs.written(first), inputs.written(second)
    said, code = DECIDE[dialect or _common_dialect(one, two)](one.text, two.text)
    out.print(Text(said), soft_wrap=True)
    raise typer.Exit(code)


def _common_dialect(*queries: inputs.Written) -> Decided:
    found = {query.dialect(None) for query in queries}
    for each in Decided:
        if found == {each}:
            return each
    raise CereusError(
        "equivalence is decided of two queries in one language: par or algebra",
        hint="say which one: --dialect par, or --dialect algebra",
    )
