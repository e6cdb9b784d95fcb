"""The page of the command line is what `--help` says, with what commands share written once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from enum import Enum
from typing import Any

import typer

from cereus.cli import groups
from cereus.cli.main import app
from tests.golden import Golden
from tests.reference.pages import FOLDER, code, table

INTRODUCTION = """\
# Command line

Every command, with its arguments and options; `cereus COMMAND --help` says the same. How they are \
used, what `--json` writes and what exit codes mean stands in [Python and the command \
line](../api.md#command-line)."""
SHARED = {
    groups.ColumnOptions: ("Columns", "Which columns are what, and which events are there."),
    groups.LanguageOptions: ("Language", "What a query is written in, and what is given to it."),
    groups.ReadOptions: ("Reading files", "How files are read, where their names do not tell."),
}
"""The options that several commands have: the titles of their sections."""
EVERYWHERE = {"help", "install_completion", "show_completion"}


def test_the_page_is_what_help_says(golden: Golden) -> None:
    golden.text(FOLDER / "command_line.md", "\n\n".join([INTRODUCTION, *sections()]))


def sections() -> Iterator[str]:
    program = typer.main.get_command(app)
    for path, command in commands("cereus", program):
        yield f"## {path}"
        yield plain(command.help)
        yield f"```\n{' '.join([path, *usage(command)])}\n```"
        yield from parts(command)
    yield "## Shared options"
    for group, (title, about) in SHARED.items():
        yield f"### {title}"
        yield about
        wanted = {each.name for each in fields(group)}
        yield options([each for each in _params_of(program, "run") if each.name in wanted])


def commands(path: str, command: Any) -> Iterator[tuple[str, Any]]:
    for name in command.list_commands(context(path, command)):
        below = command.get_command(context(path, command), name)
        if hasattr(below, "list_commands"):
            yield from commands(f"{path} {name}", below)
        else:
            yield f"{path} {name}", below


def context(path: str, command: Any) -> Any:
    return command.context_class(command, info_name=path)


def usage(command: Any) -> Iterator[str]:
    """What is typed behind the name of a command."""
    yield "[OPTIONS]"
    for each in command.params:
        if each.param_type_name == "argument":
            name = metavar(each)
            yield name if each.required or name.startswith("[") else f"[{name}]"


def metavar(argument: Any) -> str:
    return str(argument.metavar or argument.name.upper())


def plain(help: str | None) -> str:
    """A text of `--help`, where brackets are escaped from rich."""
    return (help or "").replace("\\[", "[").strip()


def parts(command: Any) -> Iterator[str]:
    params = [each for each in command.params if each.name not in EVERYWHERE]
    names = {each.name for each in params}
    shared = {group for group in SHARED if names >= {each.name for each in fields(group)}}
    elsewhere = {each.name for group in shared for each in fields(group)}
    own = [each for each in params if each.name not in elsewhere]
    if own:
        yield options(own)
    if shared:
        links = [f"[{title.lower()}](#{anchor(title)})" for title, _ in titles(shared)]
        yield f"And the options of {' and '.join(links) if len(links) < 3 else ', '.join(links)}."


def titles(shared: set[Any]) -> list[tuple[str, str]]:
    return [SHARED[group] for group in SHARED if group in shared]


def anchor(title: str) -> str:
    return title.lower().replace(" ", "-")


def options(params: list[Any]) -> str:
    return table(["", ""], [[name_of(each), about(each)] for each in params])


def name_of(param: Any) -> str:
    if param.param_type_name == "argument":
        return code(metavar(param))
    written = [each for each in [*param.opts, *param.secondary_opts] if each.strip()]
    *others, last = sorted(written, key=len)  # the short form first
    last = last if param.is_flag else f"{last} {value(param)}"
    return ", ".join(map(code, [*others, last]))


def value(param: Any) -> str:
    """What stands behind the name of an option."""
    if param.metavar:
        return str(param.metavar)
    if isinstance(param.default, Enum):
        return "|".join(each.value for each in type(param.default))
    return "N" if isinstance(param.default, int | float) else "NAME"


def about(param: Any) -> str:
    default = param.default.value if isinstance(param.default, Enum) else param.default
    shown = param.param_type_name == "option" and param.show_default and not param.is_flag
    return f"{plain(param.help)}{f' Default: {code(str(default))}.' if shown and default else ''}"


def _params_of(program: Any, name: str) -> list[Any]:
    found: list[Any] = program.get_command(context("cereus", program), name).params
    return found
