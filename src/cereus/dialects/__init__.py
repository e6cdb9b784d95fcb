"""The languages of queries, by name: each a function from a text to a `CompiledQuery`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cereus.dialects import algebra, ceql, par, sase, sremo
from cereus.dialects.compiled import CompiledQuery
from cereus.engine.runner import Limits
from cereus.errors import CereusError, did_you_mean
from cereus.plan.stream import Stream

__all__ = [
    "DIALECTS",
    "CompiledQuery",
    "compile_text",
    "dialect_of",
    "options_of",
    "switches_of",
    "texts_of",
]

Compile = Callable[..., CompiledQuery]
"""Takes a text and its stream, `limits`, and the dialect's own options by keyword."""

DIALECTS: dict[str, Compile] = {
    "algebra": algebra.compile,
    "ceql": ceql.compile,
    "par": par.compile,
    "sase": sase.compile,
    "sremo": sremo.compile,
}


def compile_text(
    text: str, dialect: str, stream: Stream, limits: Limits, options: dict[str, Any]
) -> CompiledQuery:
    """A text of a dialect, compiled with options that this dialect has."""
    if dialect not in DIALECTS:
        raise CereusError(f"unknown dialect {dialect!r}", hint=did_you_mean(str(dialect), DIALECTS))
    known = options_of(dialect)
    for name in options:
        if name not in known:
            hint = did_you_mean(name, known) or f"{dialect} has no options of its own"
            raise CereusError(f"{dialect} has no option {name!r}", hint=hint)
    return DIALECTS[dialect](text, stream, limits=limits, **options)


def dialect_of(path: str | Path) -> str | None:
    """The dialect that the suffix of a file names: `q.sase` is in SASE+."""
    name = Path(path).suffix.lower().removeprefix(".")
    return name if name in DIALECTS else None


def options_of(dialect: str) -> list[str]:
    """The names of a dialect's own options."""
    return [parameter.name for parameter in _own(dialect)]


def switches_of(dialect: str) -> list[str]:
    """Those of them that are on or off."""
    return [parameter.name for parameter in _own(dialect) if isinstance(parameter.default, bool)]


def texts_of(dialect: str) -> list[str]:
    """Those of them that a text can say."""
    return [p.name for p in _own(dialect) if "str" in str(p.annotation).split(" | ")]


def _own(dialect: str) -> list[inspect.Parameter]:
    if dialect not in DIALECTS:
        return []
    parameters = inspect.signature(DIALECTS[dialect]).parameters.values()
    return [p for p in parameters if p.kind is p.KEYWORD_ONLY and p.name != "limits"]
