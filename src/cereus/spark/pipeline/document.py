"""A TOML file with the places of its keys, so that an error can name the line.

`tomllib` gives the values but not their places. A TOML file is a row of statements, each of whole
lines: a statement is the fewest lines that `tomllib` can read alone.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from cereus.errors import CereusError, QueryError, Span, underline

Key = tuple[str, ...]
"""The names that lead to a value: `("queries", "runs", "text")`."""
AT = re.compile(r"\s*\(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)$")
LINES = re.compile(r"[^\n]*\n|[^\n]+")
DEEP_KEY = re.compile(r"(?<![\w\"'-])(?:[\w\"'-]++[ \t]*+\.[ \t]*+){100}")
"""A key of more than a hundred names; tomllib would take minutes for some thousands."""
LONG = 1 << 12
"""The number of characters from which on a statement is long."""
MOST_SHOWN = 50
"""The most problems in one message."""
MOST_PROBLEMS = 1_000


@dataclass(frozen=True)
class Problem:
    """One problem in the file."""

    message: str
    hint: str | None = None
    line: int = 0
    key: Key = ()


class PipelineError(CereusError):
    """A pipeline that cannot be run: all problems in its file, each with line and key."""

    def __init__(self, file: str, problems: list[Problem]) -> None:
        self.problems = sorted(problems, key=lambda problem: problem.line)
        if len(problems) == 1:
            (only,) = problems
            super().__init__(f"{file}, {only.message}", hint=only.hint)
            return
        lines = [f"{file} has {len(problems)} problems"]
        for each in self.problems[:MOST_SHOWN]:
            lines.append(each.message)
            lines += [] if each.hint is None else [f"  hint: {each.hint}"]
        if len(problems) > MOST_SHOWN:
            lines.append(f"… and {len(problems) - MOST_SHOWN:,} more")
        super().__init__("\n".join(lines))


@dataclass
class Document:
    """The values of a file, and the statement of each key.

    `problems` collects what the stages that read the values find wrong in them.
    """

    path: Path
    text: str
    values: dict[str, Any]
    spans: dict[Key, Span]
    problems: list[Problem] = field(default_factory=list)

    def line(self, key: Key) -> int:
        """The line of a key, or of the nearest table around it that is written down."""
        start, _ = self._span(key)
        return self._line_at(start)

    def wrong(self, key: Key, message: str, hint: str | None = None) -> None:
        """Note a problem with a key."""
        line = self.line(key)
        text = f"line {line}, {key_text(key)}: {message}" if key else f"line {line}: {message}"
        self._note(Problem(text, hint, line, key))

    def wrong_query(self, key: Key, error: CereusError) -> None:
        """Note an error in a query that stands in this file, with a caret under its place."""
        if not isinstance(error, QueryError) or error.text is None or error.span is None:
            self.wrong(key, error.message, error.hint)
            return
        at = self._offset(key, error.text)
        if at is None:
            self.wrong(key, error.message, error.hint)
            return
        start, end = error.span
        place = underline(self.text, (at + start, at + end))
        line = self._line_at(at + start)
        message = f"line {line}, {key_text(key)}: {error.reason}\n{place}"
        self._note(Problem(message, error.hint, line, key))

    def _note(self, problem: Problem) -> None:
        """Note a problem. With too many, the rest of the file is not examined."""
        self.problems.append(problem)
        if len(self.problems) >= MOST_PROBLEMS:
            self.check()

    def is_sound(self, table: Key) -> bool:
        """Whether no problem is known in a table."""
        return not any(each.key[: len(table)] == table for each in self.problems)

    def check(self) -> None:
        """Raise the noted problems, and forget them: a later run may find them fixed."""
        noted, self.problems = self.problems, []
        if noted:
            raise PipelineError(str(self.path), noted)

    def _line_at(self, place: int) -> int:
        return bisect_left(self._line_ends, place) + 1

    @cached_property
    def _line_ends(self) -> list[int]:
        return [line.end() - 1 for line in LINES.finditer(self.text) if line[0].endswith("\n")]

    def _span(self, key: Key) -> Span:
        while key and key not in self.spans:
            key = key[:-1]
        return self.spans.get(key, (0, 0))

    def _offset(self, key: Key, value: str) -> int | None:
        """Where a text begins in the file, if it stands there as it is, without escapes."""
        if key not in self.spans:
            return None
        start, end = self.spans[key]
        offset = self.text.find(value, start, end)
        return None if offset < 0 else offset


def read(path: str | Path) -> Document:
    """Read a TOML file. One that cannot be read, or is not TOML, is an error with its line."""
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        hint = "check the path"
        raise CereusError(f"there is no pipeline file {str(file)!r}", hint=hint) from None
    except (OSError, UnicodeDecodeError) as error:
        raise CereusError(f"cannot read the pipeline file {str(file)!r}: {error}") from None
    return parsed(text, file)


def parsed(text: str, path: Path) -> Document:
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")  # as tomllib reads it
    try:
        if DEEP_KEY.search(text):
            raise RecursionError
        values = tomllib.loads(text)
        return Document(path, text, values, dict(_spans(text)))
    except ValueError as error:  # not TOML, or a number of thousands of digits
        raise PipelineError(str(path), [_syntax_problem(str(error), text)]) from None
    except RecursionError:
        raise PipelineError(str(path), [Problem("this file is nested too deeply")]) from None


def key_text(key: Key) -> str:
    return ".".join(name if re.fullmatch(r"[\w-]+", name) else repr(name) for name in key)


def _syntax_problem(message: str, text: str) -> Problem:
    at = AT.search(message)
    reason = f"this is not TOML: {AT.sub('', message)}"
    lines = text.split("\n")
    if at is None or at["line"] is None:
        return Problem(f"line {len(lines)}: {reason}", "is a quote or a bracket left open?")
    line, column = int(at["line"]), int(at["column"])
    start = sum(len(each) + 1 for each in lines[: line - 1]) + column - 1
    return Problem(f"line {line}: {reason}\n{underline(text, (start, start + 1))}", line=line)


# ---------------------------------------------------------------- statements


def _spans(text: str) -> Iterator[tuple[Key, Span]]:
    """Every key with its statement. Later statements may add to the same table, so the first one is
    the place of a key."""
    spans: dict[Key, Span] = {}
    table: Key = ()
    for (start, end), values in _statements(text):
        header = text[start:end].lstrip().startswith("[")
        keys = list(_keys(values))
        table = keys[-1] if header else table
        for key in keys:
            spans.setdefault(key if header else (*table, *key), (start, end))
    return iter(spans.items())


def _statements(text: str) -> Iterator[tuple[Span, dict[str, Any]]]:
    """The statements of a text. What follows a very long one may be part of it, so it is read again
    only when it is twice as long, not line by line."""
    start = end = again = 0
    for line in LINES.findall(text):
        end += len(line)
        if end < again and end < len(text):
            continue
        try:
            values = tomllib.loads(text[start:end])
        except ValueError:
            length = end - start  # a text or a list that continues on the next line
            again = end + length if length > LONG else end
            continue
        if values:
            yield (start, end), values
        start = again = end


def _keys(values: Any, above: Key = ()) -> Iterator[Key]:
    """All keys of a statement: tables first, then their contents."""
    for part in values if isinstance(values, list) else [values]:
        for name, value in part.items() if isinstance(part, dict) else ():
            yield (*above, name)
            yield from _keys(value, (*above, name))
