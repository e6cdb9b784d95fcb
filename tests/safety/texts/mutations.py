"""Small damages to texts: words doubled, dropped, swapped and replaced, brackets opened, numbers
made huge, letters of other scripts, two texts spliced."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random

WORDS = re.compile(r"\w+|\s+|[^\w\s]")
NUMBERS = re.compile(r"\d+")
HUGE = (
    "0",
    "1",
    "-1",
    "7",
    "2147483648",
    "9223372036854775808",
    "1e400",
    "1e-400",
    "0.5",
    "9" * 40,
)
ODD = (
    *"()[]{}'\"`;:,.+*?!~%_|&>=",
    "--", "/*", "*/", "..", "->", "<=", "\0", "\n", "\u202e", "é", "𝔸", "\u0301", "NULL", "TRUE",
    "NOT", "AND", "OR", "IN", "BETWEEN", "CASE", "END", "AS", "WITHIN", "x", "A", "B", "a", "b",
    "s", "y", "ts", "k", "type", "sum", "count", "PREV", "1 second", "5 EVENTS", "x + 1 > y",
    "s LIKE '%a'", "x IN (1, 2)", "abs(x)", ":p", "INTERVAL '1' SECOND", "DATE '2024-13-45'",
)  # fmt: skip
Damage = Callable[[Random, list[str], Sequence[str]], list[str]]


def dropped(draw: Random, words: list[str], _: Sequence[str]) -> list[str]:
    begin = draw.randrange(len(words))
    return words[:begin] + words[begin + draw.choice((1, 1, 2, 5)) :]


def doubled(draw: Random, words: list[str], _: Sequence[str]) -> list[str]:
    begin = draw.randrange(len(words))
    piece = words[begin : begin + draw.choice((1, 2, 4, 9))]
    return words[:begin] + piece * draw.choice((2, 2, 3)) + words[begin + len(piece) :]


def swapped(draw: Random, words: list[str], _: Sequence[str]) -> list[str]:
    changed = list(words)
    one, other = draw.randrange(len(words)), draw.randrange(len(words))
    changed[one], changed[other] = changed[other], changed[one]
    return changed


def replaced(draw: Random, words: list[str], _: Sequence[str]) -> list[str]:
    changed = list(words)
    changed[draw.randrange(len(words))] = draw.choice(ODD)
    return changed


def inserted(draw: Random, words: list[str], _: Sequence[str]) -> list[str]:
    place = draw.randrange(len(words) + 1)
    return [*words[:place], " ", draw.choice(ODD), " ", *words[place:]]


def enlarged(draw: Random, words: list[str], _: Sequence[str]) -> list[str]:
    """A number becomes another one."""
    return [
        draw.choice(HUGE) if NUMBERS.fullmatch(word) and draw.random() < 0.6 else word
        for word in words
    ]


def bracketed(draw: Random, words: list[str], _: Sequence[str]) -> list[str]:
    one, other = sorted((draw.randrange(len(words)), draw.randrange(len(words))))
    begin, end = draw.choice(("()", "[]", "{}"))
    return [*words[:one], begin, *words[one : other + 1], end, *words[other + 1 :]]


def spliced(draw: Random, words: list[str], others: Sequence[str]) -> list[str]:
    """The beginning of one text and the end of another."""
    other = WORDS.findall(draw.choice(others))
    return words[: draw.randrange(len(words) + 1)] + other[draw.randrange(len(other) + 1) :]


DAMAGES: tuple[Damage, ...] = (
    dropped, doubled, swapped, replaced, inserted, enlarged, bracketed, spliced,
)  # fmt: skip


def mutated(draw: Random, texts: Sequence[str]) -> str:
    """One of the texts, with one to three damages."""
    words = WORDS.findall(draw.choice(texts))
    for _ in range(draw.choice((1, 1, 2, 3))):
        if words:
            words = draw.choice(DAMAGES)(draw, words, texts)
    return "".join(words)
