"""The languages of queries, by name: each a function from a text to a `CompiledQuery`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from cereus.dialects import algebra, ceql, par, sase, sremo
from cereus.dialects.compiled import CompiledQuery
from cereus.engine.runner import Limits
from cereus.errors import CereusError, did_you_mean
from cereus.plan.stream import Stream

__all__ = ["DIALECTS", "CompiledQuery", "compile_text", "options_of", "values_of"]

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


def options_of(dialect: str) -> list[str]:
    """The names of a dialect's own options."""
    return [parameter.name for parameter in _own(dialect)]


def values_of(dialect: str) -> list[str]:
    """Those of them that are no switches: what is said of them is a text."""
    own = _own(dialect) if dialect in DIALECTS else []
    return [parameter.name for parameter in own if not isinstance(parameter.default, bool)]


def _own(dialect: str) -> list[inspect.Parameter]:
    parameters = inspect.signature(DIALECTS[dialect]).parameters.values()
    return [p for p in parameters if p.kind is p.KEYWORD_ONLY and p.name != "limits"]
