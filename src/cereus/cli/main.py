"""`cereus`: the commands, and how their errors are shown."""

from __future__ import annotations

import errno
from typing import Annotated, Any

import typer

import cereus
from cereus.cli import run
from cereus.cli.commands import (
    bench,
    demo,
    equivalent,
    fmt,
    funnel,
    lsp,
    play,
    queries,
    report,
    spark,
    sql,
    status,
    why,
)
from cereus.cli.help import PlainFlags
from cereus.cli.view import err, out, show_error, show_warning
from cereus.compiled import compiled_notice
from cereus.errors import CereusError
from cereus.notices import shown_elsewhere

INTERRUPTED = 130
"""The exit code of a shell command that Ctrl-C has ended."""


class Commands(PlainFlags):
    """The commands; an error of Cereus is a message and exit code 1, never a traceback."""

    def invoke(self, ctx: Any) -> Any:
        try:
            with shown_elsewhere():
                return super().invoke(ctx)
        except CereusError as error:
            show_error(error)
            raise typer.Exit(1) from None
        except OSError as error:
            if error.errno == errno.EPIPE:  # the reader of a pipe has seen enough
                raise
            show_error(CereusError(str(error.strerror or error), hint=_place(error)))
            raise typer.Exit(1) from None
        except KeyboardInterrupt:
            err.print("\nstopped")
            raise typer.Exit(INTERRUPTED) from None


def _place(error: OSError) -> str | None:
    return None if error.filename is None else f"it is about {str(error.filename)!r}"


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def print_version(wanted: bool) -> None:
    if wanted:
        out.print(f"cereus {cereus.__version__}", highlight=False)
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Complex event recognition: write a pattern, find every match in a stream of events."""
    notice = compiled_notice()
    if notice is not None:
        show_warning(notice)


app.command("run")(run.run)
app.command("status")(status.status)
app.command("sql")(sql.sql)
app.command("explain")(queries.explain)
app.command("check")(queries.check)
app.command("why")(why.why)
app.command("report")(report.report)
app.command("play")(play.play)
app.command("fmt")(fmt.fmt)
app.command("lsp")(lsp.lsp)
app.command("show")(queries.show)
app.command("equivalent")(equivalent.equivalent)
app.command("funnel")(funnel.run_funnel)
app.command("bench")(bench.bench)
app.command("demo")(demo.demo)
app.add_typer(spark.app, name="spark")

if __name__ == "__main__":
    app()
