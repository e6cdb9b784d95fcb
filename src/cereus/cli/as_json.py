"""The output of commands with `--json`: one object on standard output. docs/api.md has the fields.

Fields may be added, but none changes its meaning while `format` is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from typing import Any, ParamSpec

import typer

from cereus.cli.engines import EngineChoice
from cereus.cli.local import Outcome
from cereus.cli.view import out
from cereus.cli.wording import FLAGS
from cereus.errors import CereusError, QueryError
from cereus.language.wording import reworded
from cereus.many import QuerySet
from cereus.notices import needed_types, unseen_types
from cereus.query import Query
from cereus.writing.json_text import json_text

FORMAT = 1
P = ParamSpec("P")


def write_json(**fields: Any) -> None:
    """Write one object; values that JSON has no form for become texts."""
    text = json_text({"format": FORMAT, **fields}, ensure_ascii=False, indent=2)
    out.print(text, markup=False, highlight=False, soft_wrap=True)


@contextmanager
def errors_as_json(wanted: bool) -> Iterator[None]:
    """With `--json`, write an error as an object too; the exit code stays 1."""
    try:
        yield
    except CereusError as error:
        if not wanted:
            raise
        write_json(ok=False, error=error_fields(error))
        raise typer.Exit(1) from None


def json_errors(command: Callable[P, None]) -> Callable[P, None]:
    """Decorate a command so that its errors are objects if it is called with `--json`."""

    @wraps(command)
    def called(*args: P.args, **options: P.kwargs) -> None:
        with errors_as_json(bool(options.get("json"))):
            command(*args, **options)

    return called


def error_fields(error: CereusError) -> dict[str, Any]:
    """The kind of an error, its message, its hint, and its place in the text of the query."""
    hint = None if error.hint is None else reworded(error.hint, FLAGS)
    fields: dict[str, Any] = {"kind": type(error).__name__, "message": error.message, "hint": hint}
    if isinstance(error, QueryError) and error.text is not None and error.span is not None:
        fields["message"] = error.reason
        start, end = error.span
        line = error.text.count("\n", 0, start) + 1
        column = start - (error.text.rfind("\n", 0, start) + 1) + 1
        fields |= {"line": line, "column": column, "span": [start, end]}
    return fields


def query_fields(query: Query) -> dict[str, Any]:
    """What is known about a query without running it."""
    return {
        "dialect": query.dialect,
        "query": query.text,
        "variables": list(query.variables),
        "keys": [".".join(path) for path in query.keys],
        "warnings": [reworded(each, FLAGS) for each in query.warnings],
    }


def run_fields(
    choice: EngineChoice,
    output: object | None,
    outcomes: Mapping[str, Outcome],
    queries: QuerySet,
) -> dict[str, Any]:
    """The results of a run, query by query."""
    return {
        "engine": choice.engine.value,
        "why": choice.why,
        "output": None if output is None else str(output),
        "queries": {name: outcome_fields(queries[name], each) for name, each in outcomes.items()},
    }


def outcome_fields(query: Query, outcome: Outcome) -> dict[str, Any]:
    """`matches` are counted in `rows`; `first` are the matches that would be shown."""
    unseen = unseen_types(needed_types(query.compiled), outcome.types) if outcome.types else ()
    fields = query_fields(query)
    fields["warnings"] += unseen
    return {
        **fields,
        "matches": outcome.counts.matches,
        "rows": outcome.counts.rows,
        "timeouts": outcome.counts.timeouts,
        "completions": outcome.counts.completions,
        "events": outcome.events,
        "seconds": round(outcome.seconds, 6),
        "first": [
            [{"variables": event.variables, **event.values} for event in match.events]
            for match in outcome.first
        ],
    }


def sections(explanation: str) -> dict[str, list[str]]:
    """The sections of an explanation: lines by title."""
    parts: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in explanation.splitlines():
        if line and not line.startswith(" "):
            lines = parts.setdefault(line, [])
        elif line.strip():
            lines.append(line[2:])
    return parts
