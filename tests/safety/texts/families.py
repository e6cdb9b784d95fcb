"""Hostile texts by families, in every language: each operator in a long row, each bracket and
operator nested, every kind of word made long, clauses without end, counts of millions.

A family has a text for each size: a few, some hundreds, thousands, and a megabyte.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

MEGABYTE = 1_000_000
SIZES = (12, 90, 700, 6_000, MEGABYTE)
"""How often something stands in a text; the last one: as often as there is room for."""

Family = Callable[[int], str]
"""A text, of how often something stands in it."""


def count_of(size: int, piece: str) -> int:
    """How often a piece stands in a text of a size; the numbers in it have five digits then."""
    return size if size < MEGABYTE else MEGABYTE // len(piece.replace("#", "99999"))


def row(piece: str, between: str) -> Family:
    """Pieces in a row; `#` in a piece is its number."""

    def text(size: int) -> str:
        count = count_of(size, piece + between)
        return between.join(piece.replace("#", str(i)) for i in range(count))

    return text


def nest(begin: str, inner: str, end: str) -> Family:
    def text(size: int) -> str:
        depth = count_of(size, begin + end)
        return begin * depth + inner + end * depth

    return text


def long(begin: str, piece: str, end: str) -> Family:
    """One word that is long, or what stands between two words."""
    return lambda size: begin + piece * count_of(size, piece) + end


def number(text: str) -> Family:
    """A number in a text, at `#`, whatever the size."""
    return lambda size: text.replace("#", str(10 ** min(len(str(size)) * 2, 18)))


CONDITIONS: Mapping[str, Family] = {
    **{sign.strip(): row(piece, sign) for sign, piece in [
        (" AND ", "x > #"), (" OR ", "x = #"), (" OR NOT ", "s LIKE '%#%'"),
    ]},
    **{sign: lambda size, sign=sign: row("x", sign)(size) + " > 1" for sign in (
        " + ", " - ", " * ", " / ", " % ", " || ",
    )},
    "IN": lambda size: f"x IN ({row('#', ', ')(size)})",
    "IN of texts": lambda size: f"s IN ({row(chr(39) + 't#' + chr(39), ', ')(size)})",
    "arguments": lambda size: f"coalesce({row('x', ', ')(size)}) > 1",
    "CASE of many": lambda size: f"CASE {row('WHEN x = # THEN #', ' ')(size)} ELSE 0 END = 1",
    "brackets": nest("(", "x > 1", ")"),
    "functions": lambda size: nest("abs(", "x", ")")(size) + " > 1",
    "NOT": nest("NOT ", "x > 1", ""),
    "minus": lambda size: nest("- ", "x", "")(size) + " > 1",
    "CASE": lambda size: nest("CASE WHEN x > 1 THEN ", "1", " ELSE 0 END")(size) + " > 0",
    "CAST": lambda size: nest("CAST(", "x", " AS int)")(size) + " > 0",
    "AND, OR": nest("(x > 1 AND (y > 1 OR ", "x < 1", "))"),
    "IN, nested": nest("x IN (", "1", ")"),
    "BETWEEN": nest("x BETWEEN 1 AND (", "2", ")"),
    "x + (x": lambda size: nest("x + (", "x", ")")(size) + " > 1",
    "a path": lambda size: row("x", ".")(size) + " > 1",
    "a name": long("", "x", " > 1"),
    "a quoted name": long('"', "x", '" > 1'),
    "an integer": long("x > ", "9", ""),
    "a fraction": long("x > 0.", "3", ""),
    "an exponent": long("x > 1e", "9", ""),
    "a string": long("s = '", "a", "'"),
    "a string of quotes": long("s = '", "''", "'"),
    "an open string": long("s = '", "a", ""),
    "a date": long("ts > TIMESTAMP '2024-01-01", "0", "'"),
    "an amount": lambda size: f"x > {row('1 day', ' ')(size)}",
    "a comment": long("x > /*", "*", "*/ 1"),
    "comments": lambda size: f"x {row('/* # */', ' ')(size)} > 1",
    "open comments": lambda size: f"x {row('/* #', ' ')(size)} > 1",
    "lines of comments": lambda size: f"x {row('-- #', chr(10))(size)}\n > 1",
    "words and comments": lambda size: row("x /* # */ + 1 > 1", " AND ")(size),
    "blanks": long("x ", " ", "> 1"),
    "lines": long("x ", "\n", "> 1"),
    "signs": long("x ", "☃", "> 1"),
    "LIKE": long("s LIKE '", "%a", "'"),
    "LIKE, one sign": long("s LIKE '", "_", "'"),
    "LIKE, escapes": long("s LIKE '", "\\\\", "'"),
    "REGEXP, brackets": nest("s REGEXP '(", "a", ")'"),
    "REGEXP, groups": lambda size: f"s REGEXP '{nest('(', 'a', ')')(size)}'",
    "REGEXP, classes": long("s REGEXP '", "[", "]'"),
    "REGEXP, escapes": long("s REGEXP '[", "\\\\a", "'"),
    "REGEXP, either": lambda size: f"s REGEXP '{row('a#', '|')(size)}'",
    "REGEXP, counts": long("s REGEXP 'a", "{9}", "'"),
    "regexp_extract": lambda size: f"regexp_extract(s, '{row('(a)', '')(size)}', 1) = 'a'",
}  # fmt: skip

PATTERNS: Mapping[str, Mapping[str, Family]] = {
    "ceql": {
        **{f"row of {sign}": row("T#", f" {sign} ") for sign in (
            ";", ":", "OR", "AND", "ALL", "UNLESS", "WITHOUT", "; [1 second]", "UNTIL",
        )},
        "row of names": row("A AS a#", " ; "),
        "names of one": nest("A", "", " AS a"),
        **{f"{sign} behind {sign}": nest("", "A", sign) for sign in (
            "+", ":+", "?", "{2}", ":{1,2}", " UNTIL B", " AS a", "+ [1 second]",
        )},
        **{f"{word} in {word}": nest(f"{word}(", "A ; B", ")") for word in (
            "", "NEXT", "LAST", "MAX", "ANY", "STRICT", "START", "NOT", "ALL",
        )},
        "PROJECT in PROJECT": nest("PROJECT[a](", "A AS a ; B", ")"),
        "PROJECT of many": lambda size: f"PROJECT[{row('a#', ', ')(size)}](A AS a0 ; B)",
        "windows": nest("(", "A ; B", ") WITHIN 5 seconds"),
        "UNLESS to the right": nest("A UNLESS (", "B", ")"),
        "; to the right": nest("A ; (", "B", ")"),
        "FILTER behind FILTER": lambda size: f"A AS a {row('FILTER a.x > #', ' ')(size)}",
        "comparisons": lambda size: "A AS a ; B AS b FILTER "
        + row("a.x + # < b.x", " AND ")(size),
        "either of comparisons": lambda size: "A AS a ; B AS b FILTER "
        + row("a.x + # < b.x", " OR ")(size),
        "sums so far": lambda size: "A+ AS a ; B AS b FILTER "
        + row("sum(a.x) > b.x + #", " AND ")(size),
        "counts": number("A{#}"),
        "counts to": number("A{1,#} ; B"),
        "counts of counts": number("((A{#} ; B){#} ; C){#}"),
        "iterated choices": lambda size: f"({row('T#', ' OR ')(size)})+ ; B",
        "WITHIN many": lambda size: f"A {row('WITHIN 1 s', ' ')(size)}",
        "WITHIN of many": lambda size: f"A WITHIN {row('1 s', ' ')(size)}",
        "WITHIN of many, open": lambda size: f"(A) WITHIN {row('1 s', ' ')(size)} !",
        "PARTITION BY many": lambda size: f"A ; B PARTITION BY {row('k', ', ')(size)}",
        "RETURN many": lambda size: f"A AS a RETURN {row('a.x + # AS r#', ', ')(size)}",
        "clauses": lambda size: f"A {row('LIMIT 5', ' ')(size)}",
        "LIMIT": number("A LIMIT #"),
        "a gap": number("A ; [# years] B"),
        "choices in a row": row("(A OR B)", " ; "),
        "choices behind an iteration": lambda size: "(A OR B)+ ; A ; "
        + row("(A OR B)", " : ")(size),
        "either of rows": row("(A# ; B#)", " OR "),
        "iterations in a row": row("(A ; B)+", " ; "),
        "iterations of iterations": nest("(A ; (", "B", ")+)+"),
        "parts that choose": row("MAX(A ; B)", " ; "),
        "parts that choose, compared": row("NEXT(A AS a# ; B AS b# FILTER a#.x < b#.x)", " ; "),
        "all of iterations": row("(A# ; B#+)", " ALL "),
        "AND of iterations": row("(A OR T#)+", " AND "),
        "AND of iterations, to the right": nest("(A OR T)+ AND (", "A+", ")"),
        "optional in a row": row("T#?", " ; "),
        "filters with OR": lambda size: "A AS a ; B AS b FILTER "
        + row("(a.x > # OR a.x < b.x)", " AND ")(size),
        "windows in a row": row("((A ; B) WITHIN 5 seconds)", " ; "),
        "WITHIN EVENTS": number("A ; B WITHIN # EVENTS"),
        "WITHIN, a column": number("A ; B WITHIN # [x]"),
        "not followed": lambda size: "A " + row("NOT FOLLOWED BY B WITHIN # seconds", " ")(size),
        "long names": lambda size: row("A AS " + "n" * 90 + "#", " ; ")(size),
        "names of all the world": row("A AS ñ语#", " ; "),
    },
    "sremo": {
        **{f"row of {sign}": row("{T#:}", f" {sign} ") for sign in (".", "|", "&", ". SKIP* .")},
        **{f"{sign} behind {sign}": nest("", "{A:}", sign) for sign in (
            "*", "+", "?", "[1..5]",
        )},
        "! before !": nest("!", "{A:}", ""),
        "brackets": nest("(", "{A:}", ")"),
        **{f"{word} in {word}": nest(f"{word}(", "{A:}", ", {B:})") for word in ("any", "next")},
        **{f"{word} to the right": nest(f"{word}({{A:}}, ", "{B:}", ")") for word in (
            "any", "next",
        )},
        **{f"{word} of iterations": nest(f"{word}(", "{A:}", "+)") for word in ("any", "next")},
        "any of many": lambda size: f"any({row('{T#:}', ', ')(size)})",
        "next of many": lambda size: f"next({row('{T#:}', ', ')(size)})",
        ". to the right": nest("{A:} . (", "{B:}", ")"),
        "| to the right": nest("{A:} | (", "{B:}", ")"),
        "& to the right": nest("{A:} & (", "{B:}", ")"),
        "complements": nest("!({A:} . ", "{B:}", ")"),
        "registers": row("{A:} -> r#", " . "),
        "registers compared": lambda size: row("{A:} -> r#", " . ")(size) + " . {B: "
        + row("x > r#.x", " AND ")(size) + "}",
        "one register compared": lambda size: "{A:} -> r . {B: " + row("x > r.x + #", " AND ")(size)
        + "}",
        "windows": nest("(", "{A:} . {B:}", " WITHIN 5 seconds)"),
        "places": number("({A:} . SKIP*)[1..#]"),
        "WITHIN many": lambda size: "{A:} " + row("WITHIN 1 s", " ")(size),
        "PARTITION BY many": lambda size: "{A:} PARTITION BY " + row("k", ", ")(size),
        "choices behind a star": lambda size: "({A:} | {B:})* . {A:} . "
        + row("({A:} | {B:})", " . ")(size),
        "complement of choices behind a star": lambda size: "!(({A:} | {B:})* . {A:} . "
        + row("({A:} | {B:})", " . ")(size) + ")",
        "stars of many lengths": lambda size: " & ".join(
            "(" + " . ".join(["{A:}"] * (n + 2)) + ")*"
            for n in range(min(count_of(size, "x" * 900), 40))
        ),
        "counted and complemented": nest("!(", "{A:}", "[2..3])"),
        "iterations side by side": row("({A:} . {B#:})*", " | "),
        "registers of choices": row("({A:} -> r# | {B:} -> q#)", " . "),
    },
    "sase": {
        "row": lambda size: f"PATTERN SEQ({row('T# t#', ', ')(size)}) WITHIN 5 seconds",
        "series": lambda size: f"PATTERN SEQ({row('A+ a#[]', ', ')(size)}) WITHIN 5 seconds",
        "negations": lambda size: f"PATTERN SEQ(A a, {row('~(C c#)', ', ')(size)}, B b) "
        "WITHIN 5 seconds",
        "SEQ in SEQ": lambda size: f"PATTERN {nest('SEQ(', 'A a', ')')(size)} WITHIN 5 seconds",
        "ANY of many": lambda size: f"PATTERN SEQ(ANY({row('T#', ', ')(size)}) a, B b)",
        "UNION": row("PATTERN SEQ(A a, B b) WITHIN 5 seconds RETURN a.x", " UNION "),
        "queries": row("PATTERN SEQ(A a, B b) WITHIN 5 seconds RETURN a.x AS T#", " ; "),
        "a chain of queries": lambda size: "PATTERN SEQ(A a) RETURN a.x AS T0 ; "
        + "".join(
            f"PATTERN SEQ(T{n} t) RETURN t.x AS T{n + 1} ; "
            for n in range(count_of(size, "x" * 42))
        ),
        "comparisons": lambda size: "PATTERN SEQ(A a, B b) WHERE "
        + row("a.x + # < b.x", " AND ")(size) + " WITHIN 5 seconds",
        "either of comparisons": lambda size: "PATTERN SEQ(A a, B b) WHERE "
        + row("a.x + # < b.x", " OR ")(size) + " WITHIN 5 seconds",
        "series compared": lambda size: "PATTERN SEQ(A+ a[], B b) WHERE "
        "skip_till_next_match(a[], b) { " + row("a[i].x > a[i-1].x + #", " AND ")(size)
        + " } WITHIN 5 seconds",
        "aggregates": lambda size: "PATTERN SEQ(A+ a[], B b) WHERE skip_till_any_match(a[], b) { "
        + row("sum(a[..i-1].x) > #", " AND ")(size) + " } WITHIN 5 seconds",
        "groups": lambda size: "PATTERN SEQ(A a, B b) WHERE "
        + row("skip_till_any_match(a, b) { a.x > # }", " AND ")(size),
        "heads": lambda size: "PATTERN SEQ(A a, B b) WHERE skip_till_any_match("
        + row("a", ", ")(size) + ") { }",
        "open heads": lambda size: "PATTERN SEQ(A a, B b) WHERE " + row("a#(a", " AND ")(size),
        "equivalences": lambda size: f"PATTERN SEQ(A a, B b) WHERE [{row('k', ', ')(size)}]",
        "HAVING": lambda size: "PATTERN SEQ(A a, B b) WITHIN 5 seconds HAVING "
        + row("a.x > #", " AND ")(size),
        "RETURN many": lambda size: "PATTERN SEQ(A a, B b) WITHIN 5 seconds RETURN "
        + row("a.x + #", ", ")(size),
        "percentages": lambda size: "PATTERN SEQ(A a, B b) WHERE " + row("80% * a.x > #", " AND ")(
            size
        ),
        "a percentage": long("PATTERN SEQ(A a, B b) WHERE ", "9", "% * a.x > b.x"),
        "an index": number("PATTERN SEQ(A+ a[], B b) WHERE a[#].x > 1"),
        "negations compared": lambda size: "PATTERN SEQ(A a, "
        + row("~(C c#)", ", ")(size) + ", B b) WHERE skip_till_any_match(a, b) { "
        + row("c#.x > a.x", " AND ")(size) + " } WITHIN 5 seconds",
        "series of choices": lambda size: "PATTERN SEQ("
        + row("ANY(A, B)+ a#[]", ", ")(size) + ") WITHIN 5 seconds",
        "UNION of series": row("PATTERN SEQ(A+ a[], B+ b[]) WITHIN 5 seconds", " UNION "),
        "a row compared": lambda size: f"PATTERN SEQ({row('A a#', ', ')(size)}) WHERE "
        + row("a0.x < a#.x", " AND ")(size) + " WITHIN 5 seconds",
    },
    "par": {
        **{f"row of {sign}": row("T#[X#]", f" {sign} ") for sign in (";", "|")},
        "; to the left": nest("(", "A[X]", " ; B)"),
        "| to the left": nest("(", "A[X]", " | B)"),
        "| of rows": row("(A# ; B#[X#])", " | "),
        "repeated choices": lambda size: f"repeat ({row('(A# ; B#[X#])', ' | ')(size)})",
        "brackets": nest("(", "A[X]", ")"),
        "!": nest("!", "A[X]", ""),
        "repeat": nest("repeat ", "A[X]", ""),
        "repeat of rows": nest("repeat (", "A[X]", " ; B)"),
        "try in try": nest("try (", "A[X]", ") unless B"),
        "unless in unless": nest("try A[X] unless (", "B", ")"),
        "outputs": lambda size: f"A[{row('X#', ', ')(size)}]",
        "outputs of outputs": nest("", "A", "[X]"),
        "silent": row("silent", " ; "),
        "repeats side by side": row("repeat (A# ; B[X#])", " | "),
        "repeats of many lengths": lambda size: " | ".join(
            "repeat (" + " ; ".join(["A"] * (n + 2)) + f"[X{n}])"
            for n in range(min(count_of(size, "x" * 900), 40))
        ),
        "tries side by side": row("(try A#[X#] unless B#)", " | "),
        "tries in a row": row("try A#[X#] unless B", " ; "),
    },
    "algebra": {
        **{f"row of {sign}": row("T#", f" {sign} ") for sign in (";", "+", "-", "|")},
        **{f"{sign} to the right": nest(f"A {sign} (", "B", ")") for sign in (";", "+", "-", "|")},
        "brackets": nest("(", "A", ")"),
        "restrictions": nest("(", "A ; B", ")_9"),
        "restrictions in a row": nest("", "(A ; B)", " _9"),
        "restrictions of rows": nest("(", "A", " ; B)_9"),
        "restrictions of sums": nest("(", "A", " + B)_9"),
        "mixed": nest("A ; (B + (", "C", "))"),
        "mixed, negated": nest("A - (B ; (", "C", "))"),
        "choices of rows": row("(A# ; B#)", " + "),
        "sums of choices": row("(A# | B#)", " ; "),
        "a restriction": long("(A ; B)_", "9", "s"),
        "a restriction in braces": long("(A ; B)_{", "1 s ", "}"),
        "restrictions side by side": row("(A# ; B)_#", " | "),
        "restrictions in sequence": row("(A + B)_9", " ; "),
        "negations in sequence": row("(A# - B#)", " ; "),
        "all, to the left": nest("(", "A", " + B ; C | D - E)"),
    },
    "match_recognize": {
        "row": row("v#", " "),
        "row of one": row("a", " "),
        "|": row("v#", " | "),
        "| of rows": row("v# w#", " | "),
        "brackets": nest("(", "a", ")"),
        "*": nest("(", "a", ")*"),
        "* of rows": nest("(", "a", " b)*"),
        "?": nest("(", "a", ")?"),
        "{2}": nest("(", "a", "){2}"),
        "{,3}": nest("(", "a", " b){,3}"),
        "{- -}": nest("{- ", "a", " -}"),
        "PERMUTE": lambda size: f"PERMUTE({row('v#', ', ')(size)})",
        "PERMUTE in PERMUTE": nest("PERMUTE(b, ", "a", ")"),
        "optional": row("v#?", " "),
        "iterated": row("v#*", " "),
        "reluctant": row("a*?", " "),
        "empty": nest("(", "", ")"),
        "empty in a row": row("()", " "),
        "anchors": row("^", " "),
        "a count": number("a{#}"),
        "a count to": number("a{0,#}"),
        "counts": number("((a{1,#} b){1,#} c){1,#}"),
        "blanks in a count": long("a {", " ", "3}"),
        "blanks in an open count": long("a {", " ", "!"),
        "blanks in a count, twice": long("a {,", " ", "!"),
        "PERMUTE of iterations": lambda size: f"PERMUTE({row('v#+', ', ')(size)})",
        "PERMUTE in a row": row("PERMUTE(a, b, c)", " "),
        "choices behind a star": lambda size: "(a | b)* a " + row("(a | b)", " ")(size),
        "choices in choices": nest("(a | b (", "a", " | b))"),
        "optional in iterated": nest("(a? b? ", "a", ")*"),
        "reluctant in greedy": nest("(a*? b ", "a", ")+"),
        "left out": row("{- v# -}", " "),
        "counts in a row": row("v#{2,5}", " "),
    },
}  # fmt: skip

CLAUSES: Mapping[str, Family] = {
    "MEASURES": lambda size: rows("a b", measures=row("x + # AS m#", ", ")(size)),
    "MEASURES, sums": lambda size: rows("a b+", measures=row("sum(b.x + #) AS m#", ", ")(size)),
    "MEASURES, nested": lambda size: rows(
        "a b", measures=f"{nest('LAST(', 'a.x', ')')(size)} AS m"
    ),
    "DEFINE": lambda size: rows("a", define=row("v# AS x > #", ", ")(size)),
    "DEFINE of a row": lambda size: rows(
        row("v#", " ")(size), define=row("v# AS x > #", ", ")(size)
    ),
    "DEFINE, PREV": lambda size: rows(
        "a", define="a AS " + row("x > PREV(x, #)", " AND ")(size)
    ),
    "DEFINE, LAST": lambda size: rows(
        "a+", define="a AS " + row("x > LAST(a.x, #)", " AND ")(size)
    ),
    "DEFINE, sums": lambda size: rows("a+", define="a AS " + row("sum(a.x) > #", " AND ")(size)),
    "DEFINE, either of sums": lambda size: rows(
        "a+ b", define="a AS " + row("sum(a.x + #) > avg(a.y)", " OR ")(size)
    ),
    "PREV in PREV": lambda size: rows("a", define=f"a AS {nest('PREV(', 'x', ')')(size)} > 1"),
    "PREV far": number("MATCH_RECOGNIZE (ORDER BY ts PATTERN (a) DEFINE a AS PREV(x, #) > 1)"),
    "SUBSET": lambda size: rows("a b", subset="SUBSET " + row("s# = (a, b)", ", ")(size)),
    "SUBSET of many": lambda size: rows(
        "a b", subset=f"SUBSET s = ({row('a', ', ')(size)})"
    ),
    "PARTITION BY": lambda size: rows("a", begin=f"PARTITION BY {row('k', ', ')(size)}"),
    "ORDER BY": lambda size: rows("a", order=row("ts", ", ")(size)),
    "SUBSETs in MEASURES": lambda size: rows(
        "a b", subset="SUBSET " + row("s# = (a, b)", ", ")(size),
        measures=row("LAST(s#.x) AS m#", ", ")(size),
    ),
    "MEASURES, FINAL and RUNNING": lambda size: rows(
        "a b+", measures=row("FINAL LAST(b.x) - RUNNING LAST(a.x) AS m#", ", ")(size)
    ),
    "DEFINE of each other": lambda size: rows(
        row("v#+", " ")(size), define="v0 AS x > 1, " + ", ".join(
            f"v{n + 1} AS sum(v{n}.x) > {n}" for n in range(count_of(size, "x" * 24) - 1)
        ),
    ),
    "casts": lambda size: rows("a", define=f"a AS x{'::int' * count_of(size, '::int')} > 1"),
    "brackets": lambda size: rows("a", define=f"a AS x{'[1]' * count_of(size, '[1]')} > 1"),
    "a size": long(
        "MATCH_RECOGNIZE (ORDER BY ts PATTERN (a) DEFINE a AS x::decimal(", "9", ") > 1)"
    ),
}  # fmt: skip


def rows(
    pattern: str,
    define: str = "a AS x > 1",
    measures: str = "count(*) AS n",
    subset: str = "",
    begin: str = "",
    order: str = "ts",
) -> str:
    return (
        f"MATCH_RECOGNIZE ({begin} ORDER BY {order} MEASURES {measures} PATTERN ({pattern}) "
        f"{subset} DEFINE {define})"
    )


def of_a(condition: str) -> str:
    """The columns of a condition as those of the variable a."""
    return re.sub(r"(?<![\w.'\"\\])(x|y|s|ts)(?![\w'\"(])", r"a.\1", condition)


def ceql_of(condition: str) -> str:
    return f"SELECT * WHERE A AS a FILTER a[{condition}]"


WITH_CONDITION: Mapping[str, Callable[[str], str]] = {
    "ceql": ceql_of,
    "sremo": lambda condition: f"{{A: {condition}}} . {{B:}}",
    "sase": lambda condition: f"PATTERN SEQ(A a, B b) WHERE {of_a(condition)} WITHIN 5 seconds",
    "par": lambda condition: f"repeat (A({condition})[X] ; B)",
    "algebra": lambda condition: f"A({condition}) ; B",
    "match_recognize": lambda condition: rows("a b", define=f"a AS {condition}"),
}
"""A text of each language with a condition in it."""
WITH_PATTERN: Mapping[str, Callable[[str], str]] = {
    "ceql": lambda pattern: f"SELECT * WHERE {pattern}",
    "match_recognize": rows,
}


@dataclass(frozen=True)
class Hostile:
    """A text, its language, and what it is."""

    family: str
    size: int
    dialect: str
    text: str

    @property
    def name(self) -> str:
        return f"{self.family}, {self.size:,}" if self.size else self.family


def _same(text: str) -> str:
    return text


def families() -> Iterator[tuple[str, str, Family]]:
    """The language and the name of each family, and its texts."""
    for dialect, patterns in PATTERNS.items():
        shell = WITH_PATTERN.get(dialect, _same)
        for name, family in patterns.items():
            yield dialect, name, _inside(shell, family)
    for name, family in CLAUSES.items():
        yield "match_recognize", name, family
    for dialect, shell in WITH_CONDITION.items():
        for name, family in CONDITIONS.items():
            yield dialect, f"condition, {name.strip()}", _inside(shell, family)


def _inside(shell: Callable[[str], str], family: Family) -> Family:
    return lambda size: shell(family(size))


def hostile(sizes: tuple[int, ...] = SIZES) -> Iterator[Hostile]:
    """All texts of some sizes."""
    for dialect, name, family in families():
        for size in sizes:
            yield Hostile(f"{dialect}, {name}", size, dialect, family(size))
