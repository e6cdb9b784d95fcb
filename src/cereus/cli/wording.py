"""What the library says in Python, said as it is typed here: in flags, or in keys of a pipeline.

Hints name arguments (`Stream(time="ts")`, `sort=True`), because most readers call a function. On
the command line the same things have other names, and some are not there at all."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from cereus.language.registry import names, options_of

STREAM = re.compile(r'(?:cereus\.)?Stream\(((?:"[^"]*"|[^)"])*)\)')
COLUMN = re.compile(r'(\w+)=(?:"([^"]*)"|…)')
PARAM = re.compile(r'params=\{"(\w+)": …\}')
LIMIT = re.compile(r"Limits\((\w+)=(\w+|…)\)")
OPTION = re.compile(r"\b(\w+)=(True|False|…|'[^']*'|\d+)")
OWN_OPTIONS = frozenset(name for dialect in names() for name in options_of(dialect))
UNSAID = "…"
SHEDDING = ", or go on with less: Limits(shed=True)"
SORTING = ", or run with sort=True"

PYTHON_ONLY = (
    ', or say match(…, order="…")',
    ": len(q.run(…))",
    ", then len(q.run(…))",
    ', or run on {"name": table, …}',
)
"""Ways out that only a program has; what stands before each is one too."""


@dataclass(frozen=True)
class Vocabulary:
    """How the columns of a stream, an option of the dialect and a limit are typed, each a name and
    what it is set to; how sorting is asked for, and what cannot be typed."""

    columns: Callable[[Iterable[tuple[str, str]]], str]
    option: Callable[[str, str], str]
    limit: Callable[[str, str], str]
    param: Callable[[str], str]
    sorting: str = ""
    unsaid: tuple[str, ...] = PYTHON_ONLY


def spoken(text: str, words: Vocabulary) -> str:
    for unsaid in words.unsaid:
        text = text.replace(unsaid, "")
    text = text.replace("compile with ", "say ").replace(SORTING, words.sorting)
    text = STREAM.sub(lambda said: words.columns(_columns(said[1])), text)
    text = PARAM.sub(lambda said: words.param(said[1]), text)
    text = LIMIT.sub(lambda said: words.limit(said[1], said[2]), text)
    return OPTION.sub(lambda said: _option(said, words), text)


def _columns(arguments: str) -> list[tuple[str, str]]:
    return [(name, value or UNSAID) for name, value in COLUMN.findall(arguments)]


def _option(said: re.Match[str], words: Vocabulary) -> str:
    name, value = said[1], said[2].strip("'")
    return words.option(name, value) if name in OWN_OPTIONS else said[0]


# ---------------------------------------------------------------- flags


def _column_flags(columns: Iterable[tuple[str, str]]) -> str:
    flags = ((name, _metavar(name) if value == UNSAID else value) for name, value in columns)
    return " ".join(f"--{name} {shlex.quote(value)}" for name, value in flags)


def _metavar(name: str) -> str:
    return "UNIT" if name == "unit" else "COLUMN"


def _option_flag(name: str, value: str) -> str:
    return f"--set {_switched(name, value)}"


def _limit_flag(name: str, value: str) -> str:
    return f"--limit {_switched(name, value)}"


def _switched(name: str, value: str) -> str:
    said = {"True": "", "False": "=no", UNSAID: "=N"}
    return shlex.quote(name + said.get(value, f"={value}"))


FLAGS = Vocabulary(
    _column_flags,
    _option_flag,
    _limit_flag,
    lambda name: f"--param {name}=VALUE",
    sorting=", or run with --sort",
    unsaid=(*PYTHON_ONLY, SHEDDING),
)


# ---------------------------------------------------------------- keys of a pipeline


def _column_keys(columns: Iterable[tuple[str, str]]) -> str:
    return ", ".join(f'{name} = "{value}"' for name, value in columns) + " in its stream"


def _option_key(name: str, value: str) -> str:
    return f"options = {{ {name} = {_toml(value)} }}"


def _limit_key(name: str, value: str) -> str:
    return f"limits = {{ {name} = {_toml(value)} }}"


def _toml(value: str) -> str:
    if value in ("True", "False"):
        return value.lower()
    return value if value.isdigit() or value == UNSAID else f'"{value}"'


KEYS = Vocabulary(_column_keys, _option_key, _limit_key, lambda name: f"params = {{ {name} = … }}")
