"""`cereus`: the commands, and how their errors are shown."""

from __future__ import annotations

import errno
from importlib import import_module
from typing import Annotated, Any

import typer
import typer.main

import cereus
from cereus.cli.help import PlainFlags
from cereus.cli.view import err, out, show_error, show_warning
from cereus.compiled import compiled_notice
from cereus.errors import CereusError
from cereus.notices import shown_elsewhere

INTERRUPTED = 130
"""The exit code of a shell command that Ctrl-C has ended."""


COMMANDS = {
    "run": "run:run",
    "status": "commands.status:status",
    "sql": "commands.sql:sql",
    "explain": "commands.queries:explain",
    "check": "commands.queries:check",
    "why": "commands.why:why",
    "report": "commands.report:report",
    "play": "commands.play:play",
    "fmt": "commands.fmt:fmt",
    "lsp": "commands.lsp:lsp",
    "show": "commands.queries:show",
    "equivalent": "commands.equivalent:equivalent",
    "funnel": "commands.funnel:run_funnel",
    "bench": "commands.bench:bench",
    "demo": "commands.demo:demo",
    "spark": "commands.spark:app",
}
"""The commands in the order in which they are shown, and their modules. A command is loaded when it
is needed: `cereus run` waits for no other."""


class Commands(PlainFlags):
    """The commands; an error of Cereus is a message and exit code 1, never a traceback."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name in COMMANDS and cmd_name not in self.commands:
            self.add_command(_loaded(cmd_name), cmd_name)
        return super().get_command(ctx, cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0] not in COMMANDS:  # the hint lists the known ones
            for name in COMMANDS:
                self.get_command(ctx, name)
        return super().resolve_command(ctx, args)

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


def _loaded(name: str) -> Any:
    module, _, place = COMMANDS[name].partition(":")
    command = getattr(import_module(f"cereus.cli.{module}"), place)
    if isinstance(command, typer.Typer):
        return typer.main.get_command(command)
    alone = typer.Typer(add_completion=False, rich_markup_mode="rich")
    alone.command(name)(command)
    return typer.main.get_command(alone)


if __name__ == "__main__":
    app()
