"""Comments of a text that is printed anew: each goes where the words around it have gone.

The printed text has the same words in the same order, but for brackets that mean nothing. So words
of both texts are matched with each other. A comment that stands alone goes above the line of the
word that follows it; one behind some text goes to the end of the line of the word before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

QUOTED = re.compile(r"""'(?:[^']++|'')*+'|"(?:[^"]++|"")*+"|`(?:[^`]++|``)*+`""")
PARTS = re.compile(
    rf"""(?P<comment>--[^\n]*|/\*.*?\*/)|(?:{QUOTED.pattern}|\w+|[^\w\s])""", re.DOTALL
)


@dataclass(frozen=True)
class TextComment:
    """`after` is the number of words before it; `alone`: nothing else stands before it in its
    line."""

    text: str
    after: int
    alone: bool


def comments_of(text: str) -> list[TextComment]:
    comments, words = [], 0
    for part in PARTS.finditer(text):
        if part["comment"] is None:
            words += 1
            continue
        before = text[: part.start()].rpartition("\n")[2]
        comments.append(TextComment(part["comment"].strip(), words, not before.strip()))
    return comments


def without_comments(text: str) -> str:
    """The text, with blanks in their place."""
    return PARTS.sub(lambda part: part[0] if part["comment"] is None else " ", text)


def with_comments(printed: str, before: str) -> str:
    """`printed`, with the comments of the text that it was before."""
    comments = comments_of(before)
    if not comments:
        return printed
    places = _places(_words(before), _words(printed))
    at: dict[int, list[TextComment]] = {}
    for comment in comments:
        number = comment.after if comment.alone else max(comment.after - 1, 0)
        at.setdefault(_line(printed, places, number), []).append(comment)
    lines = [*printed.splitlines(), ""]
    woven = [each for number, line in enumerate(lines) for each in _woven(line, at.get(number, []))]
    return "\n".join(woven).rstrip()


def _words(text: str) -> list[re.Match[str]]:
    return [part for part in PARTS.finditer(text) if part["comment"] is None]


def _places(before: list[re.Match[str]], after: list[re.Match[str]]) -> dict[int, int]:
    """Where words of the one text begin in the other."""
    first, second = ([word[0].lower() for word in words] for words in (before, after))
    same = SequenceMatcher(None, first, second, autojunk=False).get_matching_blocks()
    return {
        block.a + step: after[block.b + step].start()
        for block in same
        for step in range(block.size)
    }


def _line(printed: str, places: dict[int, int], number: int) -> int:
    """The line of a word, or of the next one that is in the printed text; the last one is behind
    them all."""
    later = [place for word, place in places.items() if word >= number]
    return printed.count("\n", 0, min(later)) if later else printed.count("\n") + 1


def _woven(line: str, comments: list[TextComment]) -> Iterator[str]:
    """A line with its comments: one that stood behind it stays there, the others are above."""
    beside = [comment for comment in comments if not comment.alone][-1:]
    indent = line[: len(line) - len(line.lstrip())]
    yield from (f"{indent}{comment.text}" for comment in comments if comment not in beside)
    yield "  ".join([*filter(None, [line]), *(comment.text for comment in beside)])
