"""Rewrites hints of the library, which are in Python, as flags or as keys of a pipeline.

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
DIALECT = re.compile(r"\bdialect='(\w+)'")
TYPES = re.compile(r'types=\{"(\w+)": "(\w+)"\}')
FILES = re.compile(
    r'\b(?:Files\(…, )?(delimiter|format|multiline|order|time_format)=(?:"([^"]*)"|True)\)?'
)
NULLS = re.compile(r'nulls=\["([^"]*)"\]')
OPTION = re.compile(r"\b(\w+)=(True|False|…|'[^']*'|\d+)")
LANGUAGE_OPTIONS = frozenset(name for dialect in names() for name in options_of(dialect))
ELLIPSIS = "…"
SHEDDING = ", or go on with less: Limits(shed=True)"
SORTING = ", or run with sort=True"

PYTHON_ONLY = (
    ', or say match(…, order="…")',
    ": len(q.run(…))",
    ", then len(q.run(…))",
    ', or run on {"name": table, …}',
    ", or give a whole statement to cereus.sql",
)
"""Ways out that only a program has; what stands before each is one too."""


@dataclass(frozen=True)
class Vocabulary:
    """How the columns of a stream, an option of the dialect, a limit, the type of a column and how
    files are read are typed, each a name and what it is set to; how to have events sorted, and
    which parts of hints are left out."""

    columns: Callable[[Iterable[tuple[str, str]]], str]
    option: Callable[[str, str], str]
    limit: Callable[[str, str], str]
    param: Callable[[str], str]
    dialect: Callable[[str], str]
    types: Callable[[str, str], str]
    files: Callable[[str, str | None], str]
    nulls: Callable[[str], str]
    sorting: str = ""
    replaced: tuple[tuple[str, str], ...] = ()
    left_out: tuple[str, ...] = PYTHON_ONLY


def reworded(text: str, words: Vocabulary) -> str:
    for left_out in words.left_out:
        text = text.replace(left_out, "")
    for before, after in (("compile with ", "say "), (SORTING, words.sorting), *words.replaced):
        text = text.replace(before, after)
    text = STREAM.sub(lambda matched: words.columns(_columns(matched[1])), text)
    text = TYPES.sub(lambda matched: words.types(matched[1], matched[2]), text)
    text = FILES.sub(lambda matched: words.files(matched[1], matched[2]), text)
    text = NULLS.sub(lambda matched: words.nulls(matched[1]), text)
    text = PARAM.sub(lambda matched: words.param(matched[1]), text)
    text = DIALECT.sub(lambda matched: words.dialect(matched[1]), text)
    text = LIMIT.sub(lambda matched: words.limit(matched[1], matched[2]), text)
    return OPTION.sub(lambda matched: _option(matched, words), text)


def _columns(arguments: str) -> list[tuple[str, str]]:
    return [(name, value or ELLIPSIS) for name, value in COLUMN.findall(arguments)]


def _option(matched: re.Match[str], words: Vocabulary) -> str:
    name, value = matched[1], matched[2].strip("'")
    return words.option(name, value) if name in LANGUAGE_OPTIONS else matched[0]


# ---------------------------------------------------------------- flags


def _column_flags(columns: Iterable[tuple[str, str]]) -> str:
    flags = ((name, _metavar(name) if value == ELLIPSIS else value) for name, value in columns)
    return " ".join(f"--{name} {shlex.quote(value)}" for name, value in flags)


def _metavar(name: str) -> str:
    return "UNIT" if name == "unit" else "COLUMN"


def _option_flag(name: str, value: str) -> str:
    return f"--set {_switched(name, value)}"


def _limit_flag(name: str, value: str) -> str:
    return f"--limit {_switched(name, value)}"


def _file_flag(name: str, value: str | None) -> str:
    flag = f"--{name.replace('_', '-')}"
    return (
        flag if value is None else f"{flag} {'FORMAT' if value == ELLIPSIS else shlex.quote(value)}"
    )


def _switched(name: str, value: str) -> str:
    endings = {"True": "", "False": "=no", ELLIPSIS: "=N"}
    return shlex.quote(name + endings.get(value, f"={value}"))


FLAGS = Vocabulary(
    _column_flags,
    _option_flag,
    _limit_flag,
    lambda name: f"--param {name}=VALUE",
    lambda name: f"--dialect {name}",
    lambda name, kind: f"--types {name}={kind}",
    _file_flag,
    lambda text: f"--null {shlex.quote(text)}",
    sorting=", or run with --sort",
    left_out=(*PYTHON_ONLY, SHEDDING),
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
    return value if value.isdigit() or value == ELLIPSIS else f'"{value}"'


KEYS = Vocabulary(
    _column_keys,
    _option_key,
    _limit_key,
    lambda name: f"params = {{ {name} = … }}",
    lambda name: f'dialect = "{name}"',
    lambda name, kind: f'types = {{ {name} = "{kind}" }} in its source',
    lambda name, value: f"{name} = " + ("true" if value is None else f'"{value}"'),
    lambda text: f'nulls = ["{text}"] in its source',
    replaced=(
        ("a new checkpointLocation", "a new checkpoint"),
        ('match(…, on_change="restart")', 'on_change = "restart" in the query'),
    ),
)
