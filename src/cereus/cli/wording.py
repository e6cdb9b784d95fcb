"""Rewords hints for the command line, or for a pipeline.

A hint names options as in Python (`Stream(time="ts")`, `sort=True`), because most readers call a
function, and it may offer several ways, «…, or …». Here every option is looked up by its name:
`OPTIONS` says what it is about, and a surface says how it is written there. A way that a surface
cannot write is left out. Hints are texts, and not trees, because some come out of Spark's workers.
"""

from __future__ import annotations

import re
import shlex
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, fields
from enum import Enum, auto
from typing import ClassVar

from cereus.language.registry import names, options_of
from cereus.limits import Limits

VALUE = r""""[^"]*"|'[^']*'|True|False|…|\d+|\{[^}]*\}|\[[^\]]*\]"""
ARGUMENT = re.compile(rf"\b(\w+)=({VALUE})")
CALL = re.compile(
    rf"(?:cereus\.)?(?:Stream|Files|Limits|match)\((?:…, )?((?:\w+=(?:{VALUE})(?:, )?)+)\)"
)
PYTHON = re.compile(
    r"\b(?:Stream|Files|Limits|match|compile|len|run|recognizer)\(|\b\w+=(?:True|False|['\"…\[{])"
    r"|table, …|cereus\.sql|pandas\."
)
"""Words that only make sense in a program."""
OR = ", or "
ELLIPSIS = "…"
"""A value that is to be filled in."""


class About(Enum):
    """What an option is about."""

    STREAM = auto()
    FILES = auto()
    LIMIT = auto()
    PARAMETER = auto()
    LANGUAGE = auto()
    DIALECT = auto()
    CHANGE = auto()
    ORDER = auto()


OPTIONS: dict[str, About] = {
    **{name: About.LANGUAGE for dialect in names() for name in options_of(dialect)},
    **dict.fromkeys(("type", "time", "keys", "stream", "unit", "where"), About.STREAM),
    **dict.fromkeys(
        ("types", "nulls", "delimiter", "format", "multiline", "time_format", "decimal"),
        About.FILES,
    ),
    **{each.name: About.LIMIT for each in fields(Limits) if each.name != "shed"},
    "params": About.PARAMETER,
    "dialect": About.DIALECT,
    "on_change": About.CHANGE,
    "sort": About.ORDER,
    "order": About.ORDER,
}


@dataclass(frozen=True)
class HintOption:
    """An option that a hint names. In `types={"price": "double"}` the part is `price`."""

    name: str
    value: str
    part: str | None = None

    @property
    def about(self) -> About:
        return OPTIONS[self.name]

    @property
    def open(self) -> bool:
        """Whether its value is to be filled in."""
        return self.value == ELLIPSIS


def options_in(text: str) -> Iterator[HintOption]:
    for name, value in ARGUMENT.findall(text):
        if name in OPTIONS:
            pair = re.fullmatch(r"""\{"(\w+)": "?([^"]*)"?\}""", value)
            plain = pair[2] if pair else value.strip("[]").strip("\"'")
            yield HintOption(name, plain, pair[1] if pair else None)


class Surface(ABC):
    """Where an option is typed."""

    between = ", "

    @abstractmethod
    def written(self, option: HintOption) -> str | None:
        """The option as it is typed there; None if there is no such option."""

    def place(self, option: HintOption) -> str:
        """The words after options of this kind: where they go."""
        return ""


def reworded(text: str, surface: Surface) -> str:
    """A hint, or a warning, in the words of a surface."""
    ways = [_way(each, surface) for each in text.split(OR)]
    return OR.join(way for way in ways if way is not None) or text


def _way(text: str, surface: Surface) -> str | None:
    """One way out; None if it is for programs only."""
    way = CALL.sub(lambda call: _written(call[0], surface), text)
    way = ARGUMENT.sub(lambda argument: _written(argument[0], surface), way)
    return None if PYTHON.search(way) else way


def _written(text: str, surface: Surface) -> str:
    options = list(options_in(text))
    written = [surface.written(each) for each in options]
    known = [each for each in written if each is not None]
    if not options or len(known) < len(written):
        return text
    return surface.between.join(known) + surface.place(options[-1])


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
    any_value = option.open and option.about not in (About.STREAM, About.FILES)
    return option.value if option.value.isdigit() or any_value else f'"{option.value}"'


FLAGS, KEYS = CommandFlags(), PipelineKeys()
