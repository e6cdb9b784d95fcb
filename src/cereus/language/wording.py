"""Rewords hints for a surface: the command line, a pipeline, the page of the playground.

A hint names options as in Python (`Stream(time="ts")`, `sort=True`), because most readers call a
function, and it may offer several ways, «…, or …». Here every option is looked up by its name:
`OPTIONS` says what it is about, and a surface says how it is written there. A way that a surface
cannot write is left out. Hints are texts, and not trees, because some come out of Spark's workers.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, fields
from enum import Enum, auto

from cereus.language.registry import names, options_of
from cereus.limits import Limits

VALUE = r""""[^"]*"|'[^']*'|True|False|None|…|\d+|\{[^}]*\}|\[[^\]]*\]"""
ARGUMENT = re.compile(rf"\b(\w+)=({VALUE})")
CALL = re.compile(
    rf"(?:cereus\.)?(?:Stream|Files|Limits|match)\((?:…, )?((?:\w+=(?:{VALUE})(?:, )?)+)\)"
)
PYTHON = re.compile(
    r"\b(?:Stream|Files|Limits|match|compile|len|run|recognizer)\(|\b\w+=(?:True|False|['\"…\[{])"
    r"|table, …|cereus\.sql|pandas\."
)
"""Words that only make sense in a program."""
HINT = "hint:"
"""The beginning of the line of a message that says what to do."""
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


def line_reworded(line: str, surface: Surface) -> str:
    """A line of a message: only hints name options."""
    return reworded(line, surface) if line.strip().startswith(HINT) else line


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
