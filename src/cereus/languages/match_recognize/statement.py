"""Finds MATCH_RECOGNIZE clauses inside SQL statements.

A clause and the table before it are replaced by the name of a table that holds the clause's result;
the engine that runs the statement sees the rest unchanged. Strings, quoted names, comments and
parentheses are respected; nothing more of SQL needs to be understood.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from cereus.errors import LimitError, QuerySyntaxError, RefusedError

TOKEN = re.compile(
    r"""
      (?P<space>\s+|--[^\n]*|/\*.*?\*/)
    | (?P<unclosed>/\*|\$\$(?!.*?\$\$))
    | (?P<string>'(?:[^']++|'')*+'|\$\$.*?\$\$)
    | (?P<quoted>"(?:[^"]++|"")*+"|`(?:[^`]++|``)*+`)
    | (?P<word>[^\W\d]\w*)
    | (?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)
    | (?P<sign>.)
    """,
    re.VERBOSE | re.DOTALL,
)
MOST_TOKENS = 250_000
"""The most words and signs of a statement."""
MOST_READ = 2_000_000
"""The most words and signs that may be read; those inside nested clauses are read several times."""
BEFORE_TABLE = frozenset(("FROM", "JOIN", "USING", "LATERAL"))
"""Words that stand right before a table."""
BEHIND_ORDER = frozenset(("MEASURES", "ONE", "ALL", "AFTER", "INITIAL", "SEEK", "PATTERN"))
"""Words that end PARTITION BY and ORDER BY in a clause."""
NO_ALIAS = frozenset(
    [
        "WHERE",
        "GROUP",
        "HAVING",
        "ORDER",
        "LIMIT",
        "UNION",
        "INTERSECT",
        "EXCEPT",
        "JOIN",
        "LEFT",
        "RIGHT",
        "FULL",
        "INNER",
        "CROSS",
        "NATURAL",
        "ON",
        "USING",
        "WINDOW",
        "QUALIFY",
        "OFFSET",
        "FETCH",
        "LATERAL",
        "TABLESAMPLE",
        "SAMPLE",
        "MATCH_RECOGNIZE",
        "PIVOT",
        "UNPIVOT",
        "ASOF",
        "ANTI",
        "SEMI",
        "POSITIONAL",
        "SELECT",
    ]
)
"""Words after a clause that are not its alias."""


@dataclass(frozen=True)
class Token:
    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def name(self) -> str:
        """The table or column that this may name, as SQL compares names; "" for anything else."""
        if self.kind == "quoted":
            return self.text[1:-1]
        return self.text.lower() if self.kind == "word" else ""

    @property
    def word(self) -> str:
        """The keyword that this may be; "" for anything else."""
        return self.text.upper() if self.kind == "word" else ""


@dataclass(frozen=True)
class Embedded:
    """A clause in a statement: `source` is a SELECT of the rows it reads, `clause` its text;
    both and the table before it stand at `span`. `columns` counts the names in its alias."""

    source: str
    clause: str
    span: tuple[int, int]
    columns: int | None


def tokens(text: str) -> list[Token]:
    """The statement without spaces and comments."""
    words: list[Token] = []
    for match in TOKEN.finditer(text):
        kind = match.lastgroup or ""
        if kind == "unclosed":
            raise QuerySyntaxError(
                f"this {match.group()} is never closed",
                text=text,
                span=match.span(),
                hint="write */ after a comment, $$ after a text",
            )
        if kind == "sign" and match.group() in "'\"`":
            raise QuerySyntaxError(
                "this quote is never closed",
                text=text,
                span=(match.start(), match.start() + 1),
                hint="put the same quote after the text",
            )
        if kind != "space":
            words.append(Token(kind, match.group(), match.start()))
            if len(words) > MOST_TOKENS:
                raise LimitError(
                    f"this statement has more than {MOST_TOKENS:,} words and signs",
                    hint="put long lists into a table",
                )
    return words


def rewritten(text: str, replace: Callable[[Embedded], str]) -> str:
    """The statement with every clause replaced by the table that `replace` names for it, inner
    clauses first."""
    words = tokens(text)
    read = len(words)
    while embedded := list(_apart(_find(text, words))):
        if read > MOST_READ:
            raise LimitError(
                "this statement has too many clauses inside each other",
                hint="run it in several statements",
            )
        pieces, end = list[str](), 0
        for each in embedded:
            pieces += [text[end : each.span[0]], replace(each)]
            end = each.span[1]
        text = " ".join([*pieces, text[end:]])
        words = tokens(text)
        read += len(words)
    return text


def _apart(embedded: Iterable[Embedded]) -> Iterator[Embedded]:
    """The clauses that are not inside the one before."""
    end = 0
    for each in embedded:
        if each.span[0] >= end:
            yield each
            end = each.span[1]


def _find(text: str, words: list[Token]) -> Iterator[Embedded]:
    """The clauses whose tables have no clauses themselves, in the order of the text."""
    levels, last = Levels.of(words), -1
    for at, token in enumerate(words):
        if token.word != "MATCH_RECOGNIZE":
            continue
        if at + 1 < len(words) and words[at + 1].text == "(":
            first = _table_start(text, words, at, levels)
            common = _common_tables(text, words, first, levels) if last < first else ""
            if last < first and not any(each.word == token.word for each in tokens(common)):
                yield _embedded(text, words, (first, at), common)
        last = at


def _embedded(text: str, words: list[Token], place: tuple[int, int], common: str) -> Embedded:
    first, at = place
    last = _closing(text, words, at + 1)
    table = text[words[first].start : words[at].start].strip()
    return Embedded(
        f"{common}SELECT * FROM {table}",
        _without_table(text, words[at : last + 1], _table_name(words[first:at])),
        (words[first].start, words[last].end),
        _alias_columns(text, words, last + 1),
    )


def _table_start(text: str, words: list[Token], at: int, levels: Levels) -> int:
    """The first token of the table before a clause."""
    first = at
    while first > 0:
        token = words[first - 1]
        if token.text in ("(", ",") or token.word in BEFORE_TABLE:
            break
        first = levels.opening.get(first - 1, first - 1)
    if first == at:
        raise QuerySyntaxError(
            "MATCH_RECOGNIZE must follow a table",
            text=text,
            span=(words[at].start, words[at].end),
            hint="write FROM trades MATCH_RECOGNIZE ( … )",
        )
    return first


def _table_name(table: list[Token]) -> str:
    """The name before the columns of a table: its alias, or the last part of its own name; "" for a
    subquery without an alias."""
    names = [Token("sign", "", 0)]  # those outside of parentheses
    depth = 0
    for token in table:
        depth += {"(": 1, ")": -1}.get(token.text, 0)
        if depth == 0 and token.text != ")":
            names.append(token)
    return names[-1].name


def _without_table(text: str, clause: list[Token], table: str) -> str:
    """The text of the clause, where PARTITION BY and ORDER BY name columns without their table."""
    start = clause[0].start
    written = text[start : clause[-1].end]
    sorts = False
    for at, token in enumerate(clause[:-2]):
        if sorts and token.word in BEHIND_ORDER:
            break
        sorts = sorts or (token.word == "BY")
        if sorts and table and token.name == table and clause[at + 1].text == ".":
            here, there = token.start - start, clause[at + 2].start - start
            written = written[:here] + " " * (there - here) + written[there:]
    return written


def _closing(text: str, words: list[Token], opening: int) -> int:
    depth = 0
    for place in range(opening, len(words)):
        depth += {"(": 1, ")": -1}.get(words[place].text, 0)
        if depth == 0:
            return place
    raise QuerySyntaxError(
        "this '(' is never closed",
        text=text,
        span=(words[opening].start, words[opening].end),
        hint="close it with ')'",
    )


def _common_tables(text: str, words: list[Token], before: int, levels: Levels) -> str:
    """The WITH clauses that a table at `before` can see, as one WITH."""
    definitions: list[str] = []
    recursive = False
    for start in levels.around(before):
        if words[start].word != "WITH":
            continue
        place = start + 1
        if words[place].word == "RECURSIVE":
            recursive, place = True, place + 1
        begin = place
        while place < before:
            if words[place].text == "(":
                place = _closing(text, words, place)
                if place >= before:
                    break
                if place + 1 < len(words) and words[place + 1].word in ("AS", "NOT"):
                    place += 1  # the names of its columns
                    continue
                definitions.append(text[words[begin].start : words[place].end])
                if words[place + 1].text != ",":
                    break
                begin = place + 2
            place += 1
    if not definitions:
        return ""
    return f"WITH {'RECURSIVE ' if recursive else ''}{', '.join(definitions)} "


@dataclass(frozen=True)
class Levels:
    """For each token, the first one inside the parentheses around it; for that, the one around
    these; and for each `)` its `(`."""

    inside: list[int]
    outer: dict[int, int]
    opening: dict[int, int]

    @classmethod
    def of(cls, words: list[Token]) -> Levels:
        levels, first = cls([], {}, {}), 0
        for place, token in enumerate(words):
            levels.inside.append(first)
            if token.text == "(":
                levels.outer[place + 1] = first
                first = place + 1
            elif token.text == ")" and first in levels.outer:
                levels.opening[place] = first - 1
                first = levels.outer[first]
            elif token.text == ";":
                first = place + 1
        return levels

    def around(self, at: int) -> list[int]:
        """The first token of every pair of parentheses around a token, outermost first."""
        levels = [self.inside[at]]
        while levels[-1] in self.outer:
            levels.append(self.outer[levels[-1]])
        return levels[::-1]


def _alias_columns(text: str, words: list[Token], at: int) -> int | None:
    """How many columns the alias behind a clause names; None if it names none."""
    if at < len(words) and words[at].word == "AS":
        at += 1
    if at + 1 >= len(words) or words[at].kind not in ("word", "quoted"):
        return None
    if words[at].word in NO_ALIAS or words[at + 1].text != "(":
        return None
    last = _closing(text, words, at + 1)
    return sum(1 for token in words[at + 1 : last] if token.text == ",") + 1


def check_alias(embedded: Embedded, columns: int) -> None:
    """Check that the alias of a clause names all of its columns, or none."""
    if embedded.columns is not None and embedded.columns != columns:
        raise RefusedError(
            f"the alias names {embedded.columns} columns, and the clause emits {columns}",
            hint="name all of them, or none",
        )
