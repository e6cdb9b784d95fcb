"""A query of the playground as Python, as a command line, and as a pipeline."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any

from cereus.language.registry import default_name
from cereus.play.request import PlayRequest
from cereus.sources.formats import format_of

RESULT = "matches"


FLAGS = {
    "format": "--format",
    "types": "--types",
    "header": "--header",
    "delimiter": "--delimiter",
    "nulls": "--null",
    "multiline": "--multiline",
    "infer": "--as-text",
    "time_format": "--time-format",
    "decimal": "--decimal",
    "compression": "--compression",
}
"""The arguments of `Files` on the command line."""


def snippets(request: PlayRequest, file: str, reading: Mapping[str, Any]) -> dict[str, str]:
    """The texts that the page copies, by their title; `reading` says how the file is read."""
    return {
        "Python": python(request, file, reading),
        "Command line": command_line(request, file, reading),
        "Pipeline": pipeline(request, file, reading),
    }


def python(request: PlayRequest, file: str, reading: Mapping[str, Any]) -> str:
    given = {name: value for name, value in _columns(request).items() if name == "type" or value}
    how = "".join(f", {name}={value!r}" for name, value in reading.items())
    return "\n".join(
        [
            "import cereus",
            "",
            "query = cereus.compile(",
            f"    {_python_text(request.text)},",
            f"    dialect={request.dialect!r},",
            f"    stream=cereus.Stream({', '.join(f'{k}={v!r}' for k, v in given.items())}),",
            ")",
            f"matches = query.run({f'cereus.Files({file!r}{how})' if how else repr(file)})",
            "print(matches)",
            "",
        ]
    )


def _columns(request: PlayRequest) -> dict[str, Any]:
    """The arguments of `Stream`."""
    stream = request.stream
    return {
        "type": stream.type,
        "time": stream.time,
        "keys": list(stream.keys),
        "stream": stream.stream,
        "unit": stream.unit,
        "where": stream.where,
    }


def _python_text(text: str) -> str:
    plain = "\\" not in text and '"""' not in text and not text.endswith('"')
    return f'"""\n{text.strip()}\n"""' if plain and _printable(text) else repr(text)


def command_line(request: PlayRequest, file: str, reading: Mapping[str, Any]) -> str:
    columns = _columns(request) | {"type": request.stream.type or "none"}
    options = ["--dialect", request.dialect] if request.dialect != default_name() else []
    for name, value in columns.items():
        flag = "--key" if name == "keys" else f"--{name}"
        options += [word for each in _listed(value) for word in (flag, str(each))]
    for name, value in reading.items():
        options += _flags(name, value)
    # after `--`, a text may begin with a comment
    return shlex.join(["cereus", "run", *options, "--", request.text.strip(), file]) + "\n"


def _listed(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _flags(name: str, value: Any) -> list[str]:
    """An argument of `Files` as it is typed."""
    flag = FLAGS[name]
    if isinstance(value, bool):
        return [flag]
    if isinstance(value, Mapping):
        return [word for column, kind in value.items() for word in (flag, f"{column}={kind}")]
    values = [",".join(value)] if name == "header" else _listed(value)
    return [word for each in values for word in (flag, each)]


def pipeline(request: PlayRequest, file: str, reading: Mapping[str, Any]) -> str:
    source = {"format": format_of(file) or "parquet", "path": file, **reading}
    stream = {"source": "events"} | _columns(request) | {"type": request.stream.type or "none"}
    sections = [
        'mode = "batch"',
        _section("sources.events", source),
        _section("streams.input", stream),
        _section(f"queries.{RESULT}", {"from": "input", "dialect": request.dialect})
        + f"\ntext = {_toml_text(request.text)}",
        _section("sinks.output", {"from": RESULT, "format": "parquet", "path": RESULT}),
    ]
    return "\n\n".join(sections) + "\n"


def _section(title: str, values: Mapping[str, Any]) -> str:
    """A table of TOML, without values that are not given."""
    given = [
        f"{name} = {_toml(value)}" for name, value in values.items() if value not in (None, [])
    ]
    return "\n".join([f"[{title}]", *given])


def _toml(value: Any) -> str:
    """Strings, lists and booleans of TOML are those of JSON; a table is written inline."""
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{_toml(k)} = {_toml(v)}' for k, v in value.items())} }}"
    return json.dumps(value, ensure_ascii=False)


def _toml_text(text: str) -> str:
    plain = "'''" not in text and not text.endswith("'") and _printable(text)
    return f"'''\n{text.strip()}\n'''" if plain else _toml(text)


def _printable(text: str) -> bool:
    return all(sign.isprintable() or sign in "\n\t" for sign in text)
