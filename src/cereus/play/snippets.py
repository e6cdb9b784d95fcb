"""A query of the playground as it is written elsewhere: Python, the command line, a pipeline."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

from cereus.language.registry import default_name
from cereus.play.request import PlayRequest

RESULT = "matches"


def snippets(asked: PlayRequest, file: str) -> dict[str, str]:
    """The texts that the page copies, by their title."""
    return {
        "Python": python(asked, file),
        "Command line": command_line(asked, file),
        "Pipeline": pipeline(asked, file),
    }


def python(asked: PlayRequest, file: str) -> str:
    stream = asked.stream
    said = [f"type={stream.type!r}", f"time={stream.time!r}" if stream.time else ""]
    said += [f"keys={list(stream.keys)!r}" if stream.keys else ""]
    said += [f"unit={stream.unit!r}" if stream.unit else ""]
    shown = ", ".join(each for each in said if each)
    return "\n".join(
        [
            "import cereus",
            "",
            "query = cereus.compile(",
            f"    {_python_text(asked.text)},",
            f"    dialect={asked.dialect!r},",
            f"    stream=cereus.Stream({shown}),",
            ")",
            f"matches = query.run({file!r})",
            "print(matches)",
            "",
        ]
    )


def _python_text(text: str) -> str:
    plain = "\\" not in text and '"""' not in text and not text.endswith('"')
    return f'"""\n{text.strip()}\n"""' if plain and _printable(text) else repr(text)


def command_line(asked: PlayRequest, file: str) -> str:
    stream = asked.stream
    options = ["--dialect", asked.dialect] if asked.dialect != default_name() else []
    options += ["--type", stream.type or "none"]
    options += ["--time", stream.time] if stream.time else []
    options += [word for key in stream.keys for word in ("--key", key)]
    options += ["--unit", stream.unit] if stream.unit else []
    # behind `--`, a text may begin with a comment
    return shlex.join(["cereus", "run", *options, "--", asked.text.strip(), file]) + "\n"


def pipeline(asked: PlayRequest, file: str) -> str:
    stream, suffix = asked.stream, Path(file).suffix.removeprefix(".") or "parquet"
    lines = [
        'mode = "batch"',
        "",
        "[sources.events]",
        f"format = {_toml(suffix)}",
        f"path = {_toml(file)}",
        "",
        "[streams.input]",
        'source = "events"',
        f"type = {_toml(stream.type)}" if stream.type else 'type = "none"',
        f"time = {_toml(stream.time)}" if stream.time else "",
        f"keys = {json.dumps(stream.keys, ensure_ascii=False)}" if stream.keys else "",
        f"unit = {_toml(stream.unit)}" if stream.unit else "",
        "",
        f"[queries.{RESULT}]",
        'from = "input"',
        f"dialect = {_toml(asked.dialect)}",
        f"text = {_toml_text(asked.text)}",
        "",
        "[sinks.output]",
        f'from = "{RESULT}"',
        'format = "parquet"',
        f'path = "{RESULT}"',
        "",
    ]
    titles = [place for place, line in enumerate(lines) if line.startswith("[")]
    kept = [line for place, line in enumerate(lines) if line or place + 1 in (*titles, len(lines))]
    return "\n".join(kept)


def _toml(value: str) -> str:
    """A basic string of TOML is one of JSON."""
    return json.dumps(value, ensure_ascii=False)


def _toml_text(text: str) -> str:
    plain = "'''" not in text and not text.endswith("'") and _printable(text)
    return f"'''\n{text.strip()}\n'''" if plain else _toml(text)


def _printable(text: str) -> bool:
    return all(sign.isprintable() or sign in "\n\t" for sign in text)
