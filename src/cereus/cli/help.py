"""How commands show their options, and complete them in a shell."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from typer.core import TyperGroup


class PlainFlags(TyperGroup):
    """Commands whose flags are shown as flags, `--sort`, and not as `--sort <bool>`."""

    def get_params(self, ctx: Any) -> Any:
        return _plain(super().get_params(ctx))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        command = super().get_command(ctx, cmd_name)
        if command is not None:
            _plain(command.get_params(ctx))  # with --help, which is made once
        return command


def _plain(params: Any) -> Any:
    for param in params:
        if getattr(param, "is_flag", False):
            param.metavar = ""
    return params


def one_of(values: Iterable[str]) -> Callable[[str], list[str]]:
    """A function with the values that a shell offers for a partly typed one."""
    known = list(values)
    return lambda incomplete: [value for value in known if value.startswith(incomplete)]
