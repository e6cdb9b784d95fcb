"""Which names a text mentions, whatever its language."""

from __future__ import annotations

import re
from collections.abc import Iterable

WORD = re.compile(r"\w+")


def mentioned(text: str, names: Iterable[str]) -> list[str]:
    """The names all of whose words are in the text; some of them may mean something else there."""
    words = set(WORD.findall(text))
    return [name for name in names if words.issuperset(WORD.findall(name))]
