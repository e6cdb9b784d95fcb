"""Puts the comments of a text into its printed form: each goes where the words around it have gone.

The printed text has the same words in the same order, except for brackets that mean nothing. So the
words of both texts are matched with each other. A comment that stands alone goes above the line of
the word that follows it; one behind some text goes to the end of the line of the word before it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

QUOTED = re.compile(r"""'(?:[^']++|'')*+'|"(?:[^"]++|"")*+"|`(?:[^`]++|``)*+`""")
PARTS = re.compile(
    rf"""(?P<comment>--[^\n]*|/\*.*?\*/)|(?:/\*.*|{QUOTED.pattern}|\w+|[^\w\s])""", re.DOTALL
)
"""Comments and words; a comment that is not closed is a word."""
FAR = 30
SKIPS = [(total - more, more) for total in range(1, FAR) for more in range(total + 1)]
"""How many words of each text may be skipped where they differ, fewest first."""


@dataclass(frozen=True)
class TextComment:
    """`after` is the number of words before it; `alone`: nothing else stands before it in its
    line."""

    text: str
    after: int
    alone: bool


def comments_of(text: str) -> list[TextComment]:
    comments, words, end = [], 0, 0
    for part in PARTS.finditer(text):
        if part["comment"] is None:
            words += 1
        else:
            alone = end == 0 or "\n" in text[end : part.start()]
            comments.append(TextComment(part["comment"].strip(), words, alone))
        end = part.end()
    return comments


def without_comments(text: str) -> str:
    """The text with blanks in place of comments."""
    return PARTS.sub(lambda part: part[0] if part["comment"] is None else " ", text)


def with_comments(printed: str, before: str) -> str:
    """`printed`, with the comments of the original text `before`."""
    comments = comments_of(before)
    if not comments:
        return printed
    lines = printed.splitlines()
    places = _places(_words(before), _words(printed), printed)
    at: dict[int, list[TextComment]] = {}
    for comment in comments:
        number = comment.after if comment.alone else max(comment.after - 1, 0)
        at.setdefault(places.line(number), []).append(comment)
    woven = [
        each
        for number, line in enumerate([*lines, ""])
        for each in _woven(line, at.get(number, []))
    ]
    return "\n".join(woven).rstrip()


def _words(text: str) -> list[re.Match[str]]:
    return [part for part in PARTS.finditer(text) if part["comment"] is None]


@dataclass(frozen=True)
class WordLines:
    """Which words of a text are in the printed one too, by their numbers, and in which line."""

    words: list[int]
    lines: list[int]
    last: int
    """The line after all words."""

    def line(self, number: int) -> int:
        """The line of a word, or of the next one that is in the printed text."""
        at = bisect_left(self.words, number)
        return self.lines[at] if at < len(self.words) else self.last


def _places(before: list[re.Match[str]], after: list[re.Match[str]], printed: str) -> WordLines:
    alike = list(_alike([word[0].lower() for word in before], [word[0].lower() for word in after]))
    ends = [end for end, sign in enumerate(printed) if sign == "\n"]
    lines = [bisect_left(ends, after[other].start()) for _, other in alike]
    return WordLines([word for word, _ in alike], lines, len(ends) + 1)


def _alike(first: list[str], second: list[str]) -> Iterator[tuple[int, int]]:
    """The words that both texts share, in order. Where the texts differ, the nearest words that
    agree again."""
    one = other = 0
    while one < len(first) and other < len(second):
        if first[one] == second[other]:
            yield one, other
            skipped = 1, 1
        else:
            skipped = _skipped(first[one : one + FAR], second[other : other + FAR])
        one, other = one + skipped[0], other + skipped[1]


def _skipped(first: list[str], second: list[str]) -> tuple[int, int]:
    for one, other in SKIPS:
        if one < len(first) and other < len(second) and first[one] == second[other]:
            return one, other
    return 1, 1


def _woven(line: str, comments: list[TextComment]) -> Iterator[str]:
    """A line with its comments: one that stood behind it stays there, the others go above it."""
    beside = [comment for comment in comments if not comment.alone][-1:]
    indent = line[: len(line) - len(line.lstrip())]
    yield from (f"{indent}{comment.text}" for comment in comments if comment not in beside)
    yield "  ".join([*filter(None, [line]), *(comment.text for comment in beside)])
