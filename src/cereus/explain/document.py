"""Splits an explanation into parts: for programs, or to show one part at a time.

Explanations of all languages are texts with titles and indented lines, so their parts are parts of
the text: a program reads what a person reads.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from cereus.errors import CereusError, did_you_mean

VERSION = 1
RULE = "──"
STAGES = "stages"


@dataclass(frozen=True)
class Section:
    """A titled part of an explanation. `of` is the part of the query that it is about, if a query
    has several."""

    title: str
    lines: tuple[str, ...]
    of: str | None = None


def sections_of(text: str) -> tuple[Section, ...]:
    """The titled parts of an explanation, in order."""
    parts: list[Section] = []
    about: str | None = None
    for line in text.splitlines():
        if line.startswith(RULE):
            about = line.strip("─ ")
        elif line and not line.startswith(" "):
            parts.append(Section(line, (), about))
        elif line.strip():
            last = parts.pop()
            parts.append(Section(last.title, (*last.lines, line.removeprefix("  ")), last.of))
    return tuple(parts)


def section_text(text: str, title: str) -> str:
    """One part of an explanation, or the stages up to one of them; for each part of the query, if
    there are several."""
    sections = sections_of(text)
    wanted = [each for each in sections if each.title.lower().startswith(title.lower())]
    wanted = wanted or list(_stages_up_to(sections, title))
    if not wanted:
        titles = list(dict.fromkeys(each.title for each in sections))
        hint = did_you_mean(title, titles) or f"there are {', '.join(titles)}"
        raise CereusError(f"the explanation has no part {title!r}", hint=hint)
    return "\n\n".join("\n".join([each.title, *(f"  {x}" for x in each.lines)]) for each in wanted)


def _stages_up_to(sections: tuple[Section, ...], name: str) -> Iterator[Section]:
    """The lines of the stages up to the one that begins with `name`."""
    for each in sections:
        names = [line.split(" ")[0].lower() for line in each.lines]
        if each.title == STAGES and name.lower() in names:
            end = names.index(name.lower()) + 1
            while end < len(names) and not names[end]:  # a continued line
                end += 1
            yield Section(each.title, each.lines[:end], each.of)


def document(
    text: str,
    *,
    dialect: str,
    query: str,
    words: str | None,
    diagram: str | None,
    keys: list[str],
    warnings: list[str],
) -> dict[str, Any]:
    """The explanation as plain values, as `schema.json` describes them."""
    sections = [
        {"title": each.title, "lines": list(each.lines), "of": each.of}
        for each in sections_of(text)
    ]
    return {
        "version": VERSION,
        "language": dialect,
        "query": query,
        "words": words,
        "keys": keys,
        "sections": sections,
        "diagram": diagram,
        "warnings": warnings,
    }


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a document."""
    schema: dict[str, Any] = json.loads(
        files("cereus.explain").joinpath("schema.json").read_text("utf-8")
    )
    return schema
