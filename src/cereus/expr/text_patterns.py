r"""LIKE patterns and regular expressions in one form for every evaluator.

LIKE: `%` is any run of characters, `_` one character; a backslash makes the `%`, `_` or backslash
after it plain, and stands for itself anywhere else.

Regular expressions are RE2's. Python's `re` and Java's agree with it on literals, `.`, classes,
groups, alternation, greedy and lazy repetition, `^ $ \b \d \w \s` and their negations on ASCII
text, once `$` is spelled as the end of the text (both also stop before a last newline). Outside
that subset (case-insensitive matching of non-ASCII letters, `\b` beside one, `\p{…}`) the engine's
RE2 decides, and Spark's Java may differ.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_LIKE_TOKEN = re.compile(r"\\[%_\\]|.", re.DOTALL)
_REGEX_TOKEN = re.compile(r"\\.|.", re.DOTALL)
_TOKEN_OR_CLASS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*+(?:\]|\\?\Z)|.", re.DOTALL)
"""Possessive, and a class that is not closed ends with the text: each sign is read once."""
_CAPTURING = re.compile(r"(?!\?)|\?P?<\w")
"""The beginning of a group that captures, after its bracket."""


def like_tokens(pattern: str) -> list[str]:
    r"""The parts of a LIKE pattern: `%`, `_`, an escaped `\%` `\_` `\\`, or a plain character."""
    return [r"\\" if token == "\\" else token for token in _LIKE_TOKEN.findall(pattern)]


def with_escape(pattern: str, escape: str) -> str | None:
    """A LIKE pattern with another escape than the backslash, or with none (''), spelled with the
    backslash; None if an escape stands before a character that needs none."""
    signs, spelled = iter(pattern), []
    for sign in signs:
        if sign == escape:
            sign = next(signs, "")
            if sign not in ("%", "_", escape):
                return None
            spelled.append(f"\\{sign}" if sign in "%_\\" else sign)
        else:
            spelled.append(r"\\" if sign == "\\" else sign)
    return "".join(spelled)


def escaped_like(pattern: str) -> str:
    """The same LIKE pattern with every backslash that stands for itself escaped.

    Spark refuses a lone backslash.
    """
    return "".join(like_tokens(pattern))


def like_as_regex(pattern: str) -> str:
    """The LIKE pattern as a regular expression for the whole string (with `.` any character)."""
    wild = {"%": ".*", "_": "."}
    return "".join(wild.get(token, re.escape(token[-1])) for token in like_tokens(pattern))


def with_text_end(pattern: str, anchor: str) -> str:
    """The regular expression with `anchor` in place of each `$` that is an anchor."""
    spelled = []
    in_class = False
    previous = ""
    for token in _REGEX_TOKEN.findall(pattern):
        opens = token == "[" and not in_class
        # A bracket right after `[` or `[^` is a member of the class, not its end.
        closes = token == "]" and in_class and previous not in ("[", "[^")
        previous = "[^" if token == "^" and previous == "[" else ("[" if opens else token)
        in_class = opens or (in_class and not closes)
        spelled.append(anchor if token == "$" and not in_class else token)
    return "".join(spelled)


def groups(pattern: str) -> int:
    """How many groups of a regular expression capture what they match."""
    return sum(map(_captures, _outside_classes(pattern)))


def one_group(pattern: str, wanted: int) -> str:
    """The regular expression with one group, called `it`: the wanted one, or the whole pattern for
    0."""
    spelled, number = [], 0
    for token in _outside_classes(pattern):
        if not _captures(token):
            spelled.append(token.group())
            continue
        number += 1
        spelled.append("(?P<it>" if number == wanted else "(?:")
    plain = re.sub(r"(\(\?(?:P<it>|:))\?P?<\w+>", r"\1", "".join(spelled))
    return plain if wanted else f"(?P<it>{plain})"


def _captures(token: re.Match[str]) -> bool:
    return token.group() == "(" and _CAPTURING.match(token.string, token.end()) is not None


def _outside_classes(pattern: str) -> Iterator[re.Match[str]]:
    """The tokens of a regular expression; a class in brackets is one."""
    return _TOKEN_OR_CLASS.finditer(pattern)
