"""LIKE and regular expressions on single texts, in time linear in the text whatever the pattern.

Python's `re` backtracks: `(a*)*b`, or ten `%` in a LIKE, take far too long on texts of some dozen
letters. So regular expressions run on Arrow's RE2, and LIKE is matched part by part.
"""

from __future__ import annotations

import re
from functools import lru_cache

import pyarrow as pa
import pyarrow.compute as pc

from cereus.expr.text_patterns import like_tokens, one_group

Part = tuple[int, re.Pattern[str]]
"""A part of a LIKE pattern between two `%`, and its length."""


@lru_cache(maxsize=256)
def _parts(pattern: str) -> tuple[Part, ...]:
    parts: list[list[str]] = [[]]
    for token in like_tokens(pattern):
        if token == "%":
            parts.append([])
        else:
            parts[-1].append("." if token == "_" else re.escape(token[-1]))
    return tuple((len(part), re.compile("".join(part), re.DOTALL)) for part in parts)


def is_like(pattern: str, text: str) -> bool:
    """Whether a text matches a LIKE pattern: its parts come one after the other, each as early as
    it can, the first at the beginning and the last at the end."""
    (size, first), *others = _parts(pattern)
    if not others:
        return first.fullmatch(text) is not None
    if first.match(text) is None:
        return False
    *middle, (last_size, last) = others
    for _, part in middle:
        match = part.search(text, size)
        if match is None:
            return False
        size = match.end()
    begin = len(text) - last_size
    return begin >= size and last.match(text, begin) is not None


def has_match(pattern: str, text: str) -> bool:
    """Whether a regular expression matches somewhere in a text."""
    return bool(pc.match_substring_regex(pa.scalar(text), pattern=pattern).as_py())


def extracted(pattern: str, text: str, group: int = 0) -> str | None:
    """The first text that a group of a regular expression matches; for 0, the whole match."""
    match = pc.extract_regex(pa.scalar(text), pattern=one_group(pattern, group)).as_py()
    return None if match is None else match["it"] or ""
