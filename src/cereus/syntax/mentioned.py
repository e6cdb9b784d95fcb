"""Which names a text mentions, whatever its language."""

from __future__ import annotations

import re
from collections.abc import Iterable

WORD = re.compile(r"\w+")


def mentioned(text: str, names: Iterable[str]) -> list[str]:
    """The names that are in the text, in whole words; some may mean something else there."""
    words = set(WORD.findall(text))
    return [
        name
        for name in names
        if words.issuperset(WORD.findall(name))
        and (name in text or name.replace('"', '""') in text)  # as it is written in quotes
    ]
