"""Rewords hints for the command line, or for a pipeline."""

from __future__ import annotations

import shlex
from typing import ClassVar

from cereus.language.wording import ELLIPSIS, About, HintOption, Surface

# ---------------------------------------------------------------- flags


class CommandFlags(Surface):
    """Options of a command."""

    between = " "
    called: ClassVar = {"keys": "key", "nulls": "null"}
    filled: ClassVar = {"unit": "UNIT", "where": "CONDITION", "time_format": "FORMAT"}

    def written(self, option: HintOption) -> str | None:
        match option.about:
            case About.LIMIT:
                return f"--limit {_switched(option)}"
            case About.LANGUAGE:
                return f"--set {_switched(option)}"
            case About.PARAMETER:
                return f"--param {option.part}=VALUE"
            case About.CHANGE:
                return None
        flag = f"--{self.called.get(option.name, option.name).replace('_', '-')}"
        if option.value == "True":
            return flag
        if option.value == "None":
            return f"{flag} none"
        if option.part is not None:
            return f"{flag} {option.part}={option.value}"
        filled = self.filled.get(option.name, "COLUMN")
        return f"{flag} {filled if option.open else shlex.quote(option.value)}"


def _switched(option: HintOption) -> str:
    endings = {"True": "", "False": "=no", ELLIPSIS: "=N"}
    return shlex.quote(option.name + endings.get(option.value, f"={option.value}"))


# ---------------------------------------------------------------- keys of a pipeline


class PipelineKeys(Surface):
    """Keys of a pipeline's file."""

    tables: ClassVar = {About.LIMIT: "limits", About.LANGUAGE: "options"}

    def written(self, option: HintOption) -> str | None:
        value = _toml(option)
        if option.about is About.ORDER:
            return None
        if option.about in self.tables:
            return f"{self.tables[option.about]} = {{ {option.name} = {value} }}"
        if option.part is not None:
            return f"{option.name} = {{ {option.part} = {value} }}"
        return f"{option.name} = {f'[{value}]' if option.name == 'nulls' else value}"

    def place(self, option: HintOption) -> str:
        places = {
            About.STREAM: " in its stream",
            About.FILES: " in its source",
            About.CHANGE: " in the query",
        }
        return places.get(option.about, "")


def _toml(option: HintOption) -> str:
    if option.value in ("True", "False"):
        return option.value.lower()
    if option.value == "None":
        return '"none"'
    any_value = option.open and option.about not in (About.STREAM, About.FILES)
    return option.value if option.value.isdigit() or any_value else f'"{option.value}"'


FLAGS, KEYS = CommandFlags(), PipelineKeys()
