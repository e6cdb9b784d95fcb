"""Rewords hints for the page of the playground."""

from __future__ import annotations

from typing import ClassVar

from cereus.language.registry import language
from cereus.language.wording import About, HintOption, Surface, line_reworded, reworded


class PageFields(Surface):
    """The fields of the page, by their titles."""

    titles: ClassVar = {
        "keys": "Match each value on its own of",
        "where": "Only events where",
    }
    units: ClassVar = {
        "s": "seconds",
        "ms": "milliseconds",
        "us": "microseconds",
        "ns": "nanoseconds",
    }

    def written(self, option: HintOption) -> str | None:
        match option.about:
            case About.DIALECT if not option.open:
                return f"the language {language(option.value).title}"
            case About.STREAM:
                title = self.titles.get(option.name, option.name.capitalize())
                value = self.units.get(option.value, option.value.replace("None", "none"))
                return title if option.open else f"{title}: {value}"
        return None

    def place(self, option: HintOption) -> str:
        return " in “Columns of the events”" if option.about is About.STREAM else ""


FIELDS = PageFields()


def on_page(message: str) -> str:
    """An error in the words of the page: what its hints name are fields there."""
    lines = (line_reworded(line, FIELDS) for line in message.split("\n"))
    pairs = zip(message.split("\n"), lines, strict=True)
    return "\n".join(new if new == old else _chosen(new) for old, new in pairs)


def warning_on_page(warning: str) -> str:
    new = reworded(warning, FIELDS)
    return new if new == warning else _chosen(new)


def _chosen(text: str) -> str:
    """Fields have lists to choose from."""
    return text.replace("say ", "choose ", 1)
