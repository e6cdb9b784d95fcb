"""Texts that are long, deep or dense on purpose, in every language: each with the language and its
text. `tests/test_adversaries.py` says what becomes of them."""

from __future__ import annotations

Text = tuple[str, str]
MEGABYTE = 1_000_000


def numbers(count: int, text: str, between: str) -> str:
    return between.join(text.format(i) for i in range(count))


def nested(depth: int, begin: str, inner: str, end: str) -> str:
    return begin * depth + inner + end * depth


def ceql(pattern: str) -> Text:
    return "ceql", f"SELECT * WHERE {pattern}"


def filtered(condition: str) -> Text:
    return ceql(f"A AS a FILTER a[{condition}]")


def sase(text: str) -> Text:
    return "sase", text


def algebra(text: str) -> Text:
    return "algebra", text


def sremo(text: str) -> Text:
    return "sremo", text


def par(text: str) -> Text:
    return "par", text


def rows(pattern: str, define: str = "a AS x > 1", measures: str = "count(*) AS n",
         subset: str = "") -> Text:  # fmt: skip
    text = (
        f"MATCH_RECOGNIZE (ORDER BY ts MEASURES {measures} PATTERN ({pattern}) "
        f"{subset} DEFINE {define})"
    )
    return "match_recognize", text


CEQL = {
    "IN of 2,000 values": filtered(f"x IN ({numbers(2_000, '{}', ', ')})"),
    "OR of 200 types": ceql(f"({numbers(200, 'T{}', ' OR ')}) ; B"),
    "OR of 2,000 types": ceql(f"({numbers(2_000, 'T{}', ' OR ')}) ; B"),
    "200 iterations in a row": ceql(numbers(200, "T{}+", " ; ")),
    "2,000 in a row": ceql(numbers(2_000, "T{}", " ; ")),
    "NEXT in NEXT, 60 deep": ceql(nested(60, "NEXT(", "A ; B", ")")),
    "NEXT in NEXT, 250 deep": ceql(nested(250, "NEXT(", "A ; B", ")")),
    "MAX in MAX, 40 deep": ceql(nested(40, "MAX(", "A+ ; B", ")")),
    "PROJECT in PROJECT, 100 deep": ceql(nested(100, "PROJECT[a](", "A AS a ; B", ")")),
    "START in START, 100 deep": ceql(nested(100, "START(", "A ; B", ")")),
    "UNLESS in UNLESS, 60 deep": ceql(nested(60, "(A ; B) UNLESS (", "C", ")")),
    "brackets, 5,000 deep": ceql(nested(5_000, "(", "A", ")")),
    "iterations, 60 deep": ceql(nested(60, "(", "A", " ; B)+")),
    "CASE in CASE, 60 deep": filtered(
        nested(60, "CASE WHEN x > 1 THEN ", "1", " ELSE 0 END") + " > 0"
    ),
    "coalesce, 100 deep": filtered(nested(100, "coalesce(", "x", ", 1)") + " > 0"),
    "functions, 100 deep": filtered(nested(100, "abs(", "x", ")") + " > 1"),
    "functions, 1,000 deep": filtered(nested(1_000, "abs(", "x", ")") + " > 1"),
    "AND and OR, 60 deep": filtered(nested(60, "(x > 1 AND (x < 2 OR ", "x = 1", "))")),
    "NOT, 1,000 times": filtered("NOT " * 1_000 + "x = 1"),
    "minus, 10,000 times": filtered("- " * 10_000 + "x = 1"),
    "a sum of 5,000": filtered("x" + " + 1" * 5_000 + " > 0"),
    "AND of 2,000 conditions": filtered(numbers(2_000, "x > {}", " AND ")),
    "AND of 20,000 conditions": filtered(numbers(20_000, "x > {}", " AND ")),
    "OR of 3,000 conditions": filtered(numbers(3_000, "x = {}", " OR ")),
    "1,000 tests": ceql(
        numbers(1_000, "(A AS a{0} FILTER a{0}[x % 1009 = {0}])", " OR ")
    ),
    "100 comparisons in a row": ceql(
        numbers(101, "A AS a{}", " ; ") + " FILTER "
        + " AND ".join(f"a{i}.x < a{i + 1}.x" for i in range(100))
    ),
    "all of 12 compared with all": ceql(
        numbers(12, "A AS a{}", " ; ") + " FILTER "
        + " AND ".join(f"a{i}.x < a{j}.x" for i in range(12) for j in range(i + 1, 12))
    ),
    "ALL of 30 choices": ceql(" ALL ".join(["NEXT(A+ ; B)"] * 30)),
    "ALL of 20 types": ceql(numbers(20, "T{}", " ALL ")),
    "AND of 60 types": ceql(numbers(60, "(T{} ; B)", " AND ")),
    "counted, 100,000 times": ceql("A{100000} ; B"),
    "counted in counted": ceql("((A{50} ; B){50} ; C){50}"),
    "iterations of iterations": ceql("A" + "+" * 150),
    "iterations of two kinds, 200 deep": ceql("A" + "+:+" * 100),
    "1,000 keys": ceql("A ; B PARTITION BY " + numbers(1_000, "k{}", ", ")),
    "a megabyte of sequence": ceql("A ; " * 250_000 + "B"),
    "a megabyte of brackets": ceql("(" * MEGABYTE),
    "a megabyte of one name": ceql("A" * MEGABYTE),
    "a megabyte of one string": filtered("s = '" + "a" * MEGABYTE + "'"),
    "a megabyte of one number": filtered("x = " + "9" * MEGABYTE),
    "a megabyte of blanks": ceql(" " * MEGABYTE + "A"),
    "a megabyte of a comment": ceql("A -- " + "x" * MEGABYTE),
    "a megabyte of quotes": ceql("'" * MEGABYTE),
    "a megabyte of backslashes": filtered("s = '" + "\\" * MEGABYTE + "'"),
    "a megabyte of zeros": ("ceql", "\0" * MEGABYTE),
    "a megabyte of signs": ("ceql", "☃" * (MEGABYTE // 3)),
    "a megabyte of LIKE": filtered("s LIKE '" + "%a" * (MEGABYTE // 2) + "'"),
    "regexp_extract of 5,000 groups": filtered(
        f"regexp_extract(s, '{'(a)' * 5_000}', 1) = 'a'"
    ),
    "regexp_extract of a class that is not closed": filtered(
        "regexp_extract(s, '(a)[" + "\\a" * 5_000 + "', 1) = 'a'"
    ),
    "a megabyte of WITHIN": ceql("A " + "WITHIN 1 s " * (MEGABYTE // 11)),
    "REGEXP of many counts": filtered("s REGEXP '((a{1,99}){1,99}){1,99}'"),
}  # fmt: skip

SREMO = {
    "SREMO, 200 conditions": sremo("{A: " + numbers(200, "x > {}", " AND ") + "}"),
    "SREMO, 2,000 in a row": sremo(numbers(2_000, "{{T{}:}}", " . ")),
    "SREMO, stars, 60 deep": sremo(nested(60, "(", "{A:}", " . {B:})*")),
    "SREMO, either of 500": sremo(numbers(500, "{{T{}:}}", " | ")),
    "SREMO, 100 registers": sremo(
        numbers(100, "{{A:}} -> r{}", " . ") + " . {B: " + numbers(100, "x > r{}.x", " AND ") + "}"
    ),
    "SREMO, any of any, 100 deep": sremo(nested(100, "any(", "{A:}", ", {B:})")),
    "SREMO, + behind +, 90 times": sremo("{A:}" + "+" * 90),
    "SREMO, 40 stars side by side": sremo(" & ".join(["({A:} . {B:})*"] * 40)),
    "SREMO, next in next, 30 deep": sremo(nested(30, "next({A:}, ", "{B:}", ")")),
    "SREMO, next of iterations, 30 deep": sremo(nested(30, "next(", "{A:}", "+)")),
    "SREMO, any of iterations, 30 deep": sremo(nested(30, "any(", "{A:}", "+)")),
    "SREMO, a megabyte": sremo("{A:} . " * (MEGABYTE // 7) + "{B:}"),
}

SASE = {
    "SASE+, 200 conditions": sase(
        "PATTERN SEQ(A a, B b) WHERE skip_till_any_match(a, b) { "
        + numbers(200, "a.x > {}", " AND ") + " } WITHIN 5 seconds"
    ),
    "SASE+, 1,000 conditions": sase(
        "PATTERN SEQ(A a, B b) WHERE skip_till_any_match(a, b) { "
        + numbers(1_000, "a.x > {}", " AND ") + " } WITHIN 5 seconds"
    ),
    "SASE+, 1,000 comparisons": sase(
        "PATTERN SEQ(A a, B b) WHERE skip_till_any_match(a, b) { "
        + numbers(1_000, "a.x + {} < b.x", " AND ") + " } WITHIN 5 seconds"
    ),
    "SASE+, UNION of 50": sase(
        numbers(50, "PATTERN SEQ(A a, B b) WITHIN 5 seconds RETURN a.x", " UNION ")
    ),
    "SASE+, UNION of 2,000": sase(
        numbers(2_000, "PATTERN SEQ(A a, B b) WITHIN 5 seconds RETURN a.x", " UNION ")
    ),
    "SASE+, 500 in a row": sase(f"PATTERN SEQ({numbers(500, 'T{0} t{0}', ', ')}) WITHIN 5 seconds"),
    "SASE+, 60 negations": sase(
        "PATTERN SEQ(A a, " + numbers(60, "~(C c{})", ", ") + ", B b) WITHIN 5 seconds"
    ),
    "SASE+, 40 iterations": sase(
        f"PATTERN SEQ({numbers(40, 'A+ a{}[]', ', ')}, B b) WITHIN 5 seconds"
    ),
    "SASE+, a megabyte": sase("PATTERN SEQ(" + "A a, " * (MEGABYTE // 5) + "B b)"),
}  # fmt: skip

PAR = {
    "PAR, 2,000 in a row": par(numbers(2_000, "T{0}[X{0}]", " ; ")),
    "PAR, repeat, 200 deep": par(nested(200, "repeat (", "A[X]", " ; B)")),
    "PAR, try, 60 deep": par(nested(60, "try (", "A[X]", ") unless B")),
    "PAR, 14 choices side by side": par(
        "repeat (" + numbers(14, "(A{0} ; B{0}[X{0}])", " | ") + ")"
    ),
    "PAR, 200 in parallel": par(numbers(200, "(A{0} ; B{0}[X{0}])", " || ")),
    "PAR, 90 rows side by side": par(numbers(90, "(A{0} ; B{0}[X{0}])", " | ")),
    "PAR, brackets, 5,000 deep": par(nested(5_000, "(", "A[X]", ")")),
    "PAR, a megabyte": par("A ; " * (MEGABYTE // 4) + "B[X]"),
}

ALGEBRA = {
    "algebra, 150 in sequence": algebra(numbers(150, "T{}", " ; ")),
    "algebra, either of 150": algebra(numbers(150, "T{}", " | ")),
    "algebra, all of 150": algebra(numbers(150, "T{}", " + ")),
    "algebra, 150 negations": algebra(numbers(150, "T{}", " - ")),
    "algebra, 150 restrictions": algebra("(" * 150 + "A" + " ; B)_9" * 150),
    "algebra, sequences to the right, 150 deep": algebra(nested(150, "A ; (", "B", ")")),
    "algebra, mixed, 150 deep": algebra(nested(75, "A ; (B + (", "C", "))")),
    "algebra, brackets, 5,000 deep": algebra(nested(5_000, "(", "A", ")")),
    "algebra, a megabyte": algebra("A ; " * (MEGABYTE // 4) + "B"),
}

ROWS = {
    "rows, PERMUTE of 7": rows(f"PERMUTE({numbers(7, 'v{}', ', ')})", "v0 AS x > 1"),
    "rows, PERMUTE of 500": rows(f"PERMUTE({numbers(500, 'v{}', ', ')})", "v0 AS x > 1"),
    "rows, PERMUTE in PERMUTE": rows(
        f"PERMUTE({', '.join(f'PERMUTE(a{n}, b{n}, c{n}, d{n}, e{n})' for n in range(5))})",
        "a0 AS x > 1",
    ),
    "rows, a{1,100000}": rows("a{1,100000} b"),
    "rows, a{100000}": rows("a{100000}"),
    "rows, a{0,999999999999}": rows("a{0,999999999999}"),
    "rows, counts in counts": rows("((a{1,50} b){1,50} c){1,50}"),
    "rows, quantifiers, 60 deep": rows(nested(60, "(", "a", "+ b)*")),
    "rows, empty iterations, 40 deep": rows(nested(40, "(", "a?", ")*")),
    "rows, either of 2,000": rows(numbers(2_000, "v{}", " | "), "v0 AS x > 1"),
    "rows, 2,000 in a row": rows(numbers(2_000, "v{}", " "), "v0 AS x > 1"),
    "rows, 20 optional and iterated": rows("a? " * 20 + "a* " * 20 + "b"),
    "rows, 6,000 optional loops": rows("a*? " * 6_000),
    "rows, 10,000 measures": rows("a", measures=numbers(10_000, "x AS m{}", ", ")),
    "rows, 2,000 aggregates": rows("a+", measures=numbers(2_000, "sum(a.x + {0}) AS m{0}", ", ")),
    "rows, 5,000 SUBSETs": rows(
        "a b", define="a AS x > 1, b AS x > 2",
        subset="SUBSET " + numbers(5_000, "s{} = (a, b)", ", "),
    ),
    "rows, 1,000 conditions": rows("a", define="a AS " + numbers(1_000, "x > {}", " AND ")),
    "rows, PREV of a million": rows("a", define="a AS PREV(x, 1000000) > 1"),
    "rows, PREV, 100 deep": rows("a", define=f"a AS {nested(100, 'PREV(', 'x', ')')} > 1"),
    "rows, FIRST in all of 30": rows(
        numbers(30, "v{}", " "),
        define=", ".join(f"v{n} AS x > FIRST(v{max(n - 1, 0)}.x)" for n in range(30)),
    ),
    "rows, brackets, 5,000 deep": rows(nested(5_000, "(", "a", ")")),
    "rows, a megabyte of pattern": rows("a " * (MEGABYTE // 2)),
    "rows, a megabyte of blanks in a count": rows("a {" + " " * MEGABYTE + "!"),
    "rows, a megabyte of blanks behind a comma": rows("a {1," + " " * MEGABYTE + "!"),
    "rows, a megabyte of quantifiers": rows("a" + "+" * MEGABYTE),
}  # fmt: skip

TEXTS: dict[str, Text] = {**CEQL, **SREMO, **SASE, **PAR, **ALGEBRA, **ROWS}
