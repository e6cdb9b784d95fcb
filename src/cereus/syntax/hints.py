"""The commonest mistakes that can happen in every language, as rules for `syntax_error`."""

from __future__ import annotations

import re

from cereus.errors import distance
from cereus.syntax.literals import RESERVED
from cereus.syntax.trouble import HintRule, Trouble, plain_terminal

CONTINUING = frozenset(("AND", "OR", "THEN", "ELSE", "FILTER", "UNLESS", "WITHIN"))
"""Keywords that may follow a finished condition."""
CURLY_QUOTES = "‘’‚“”„«»"
SIGNS = {
    **dict.fromkeys(("&&", "&", "∧"), "AND"),
    **dict.fromkeys(("||", "|", "∨"), "OR"),
    **dict.fromkeys(("!", "¬"), "NOT"),
}
OTHER_PARAMETER = re.compile(r"[$@{%]\W*(?P<name>[^\W\d]\w*)?|\?")
"""`$1`, `@limit`, `{limit}`, `%(limit)s`, `?`"""
OTHER_TESTS = {
    "CONTAINS": "contains({}, 'text')",
    "STARTSWITH": "starts_with({}, 'text')",
    "ENDSWITH": "ends_with({}, 'text')",
    "STARTS": "starts_with({}, 'text')",
    "ENDS": "ends_with({}, 'text')",
    "MATCHES": "{} REGEXP 'pattern'",
    "SIMILAR": "{} REGEXP 'pattern'",
    "GLOB": "{} LIKE 'text%'",
    "~": "{} REGEXP 'pattern'",
}
"""Tests of other languages between two values, and what to write."""


def keyword_as_attribute(trouble: Trouble) -> str | None:
    """`b[1].from`"""
    return keyword_as_name(trouble) if trouble.previous == "DOT" else None


def misspelt_keyword(trouble: Trouble) -> str | None:
    """`SELECT * form S`"""
    word = (trouble.unexpected or "").upper()
    keywords = {name[1:] for name in map(plain_terminal, trouble.accepted) if name[:1] == "_"}
    slips = {each for each in keywords if distance(word, each) == 1}
    return f"did you mean {min(slips)}?" if len(word) > 3 and slips else None


def curly_quotes(trouble: Trouble) -> str | None:
    """`name = ‘INTC’`, as word processors and chats write it."""
    if (trouble.unexpected or " ")[0] not in CURLY_QUOTES:
        return None
    return "write straight quotes: 'text' for a string, \"name\" for a name"


def other_comment(trouble: Trouble) -> str | None:
    """`# text`, `// text`"""
    return "a comment begins with --" if trouble.rest.startswith(("#", "//")) else None


def quoted_length(trouble: Trouble) -> str | None:
    """`WITHIN '10 minutes'`"""
    if trouble.previous != "_WITHIN" or not (trouble.unexpected or "").startswith("'"):
        return None
    return f"leave out the quotes: WITHIN {(trouble.unexpected or '').strip(chr(39))}"


def list_in_brackets(trouble: Trouble) -> str | None:
    """`name IN ['a', 'b']`"""
    if trouble.unexpected != "[" or trouble.previous != "_IN":
        return None
    return "a list stands in parentheses: IN ('a', 'b')"


def is_value(trouble: Trouble) -> str | None:
    """`ok IS TRUE`"""
    if trouble.previous != "_IS" or trouble.unexpected is None:
        return None
    return f"IS asks only for NULL: write = {trouble.unexpected}, or IS NULL"


def missing_value(trouble: Trouble) -> str | None:
    if not _compares(trouble) or "NUMBER" not in trouble.accepted:
        return None
    return f"write what to compare with after {trouble.before[-1]}"


def _compares(trouble: Trouble) -> bool:
    return trouble.previous in ("COMPARE", "GREATER")


def chained_comparison(trouble: Trouble) -> str | None:
    chained = trouble.unexpected in {"<", "<=", ">", ">=", "=", "=="} and "_AND" in trouble.accepted
    if chained and any(plain_terminal(token.type) == "CONCAT" for token in trouble.before):
        return "|| joins texts: between conditions write OR"
    return "compare twice: a < b AND b < c" if chained else None


def programmers_operator(trouble: Trouble) -> str | None:
    """`x > 3 && y > 4`, `x > 3 ∧ y > 4`"""
    return next((f"write {SIGNS[each]}" for each in SIGNS if trouble.rest.startswith(each)), None)


def decimal_comma(trouble: Trouble) -> str | None:
    """`price > 1,5`"""
    digits = re.match(r",(\d+)", trouble.rest)
    if digits is None or trouble.previous != "NUMBER":
        return None
    return f"a number has a point: {trouble.before[-1]}.{digits[1]}; between conditions write AND"


def comma_between_conditions(trouble: Trouble) -> str | None:
    """`FILTER a.x > 3, b.x > 4`"""
    compared = {"COMPARE", "GREATER"} & {plain_terminal(each.type) for each in trouble.before[-4:]}
    between = trouble.unexpected == "," and "COMMA" not in trouble.accepted
    return "between conditions write AND" if between and compared else None


def other_test(trouble: Trouble) -> str | None:
    """`name CONTAINS 'x'`, `name =~ 'x'`"""
    instead = OTHER_TESTS.get((trouble.unexpected or "").upper())
    if instead is None or not ("_AND" in trouble.accepted or _compares(trouble)):
        return None
    return f"write {instead.format('name')}, for the name of a column"


def method(trouble: Trouble) -> str | None:
    """`a.name.contains('x')`"""
    if trouble.unexpected != "(" or "_AND" not in trouble.accepted or len(trouble.before) < 3:
        return None
    name, dot = trouble.before[-1], trouble.before[-2]
    if dot != "." or not str(name).isidentifier():
        return None
    return f"a function stands before its values: {name}(a.x, …)"


def keyword_as_name(trouble: Trouble) -> str | None:
    word = trouble.unexpected or ""
    if word.upper() not in RESERVED or "NAME" not in trouble.accepted:
        return None
    if _compares(trouble) and word.upper() in CONTINUING:
        return None
    return f'{word} is a keyword; write "{word}" to use it as a name'


def string_as_name(trouble: Trouble) -> str | None:
    """`PARTITION BY 'user'`"""
    word = trouble.unexpected or ""
    if not word.startswith("'") or "NAME" not in trouble.accepted or "STRING" in trouble.accepted:
        return None
    return f'single quotes make strings: write "{word.strip(chr(39))}" for a name'


def name_of_several_words(trouble: Trouble) -> str | None:
    """`PARTITION BY user id`, `a[order id = 3]`"""
    word = trouble.unexpected or ""
    if trouble.previous != "NAME" or not word.isidentifier() or word.upper() in RESERVED:
        return None
    if trouble.before[-1].upper() == "DISTINCT":
        return "there is no DISTINCT: every value counts"
    return f'a name of several words stands in double quotes: "{trouble.before[-1]} {word}"'


def odd_quotes(trouble: Trouble) -> str | None:
    odd = trouble.text.count("'") % 2
    return "a string before this may not be closed: quotes come in pairs" if odd else None


def misplaced_parameter(trouble: Trouble) -> str | None:
    """`FROM :stream`"""
    if re.match(r":[^\W\d]", trouble.rest) is None:
        return None
    return "a parameter stands for a value, not for a name, a type or a keyword"


def other_parameter(trouble: Trouble) -> str | None:
    """`price > $1`, `price > {limit}`"""
    written = OTHER_PARAMETER.match(trouble.rest)
    if written is None or "NUMBER" not in trouble.accepted or "STRING" not in trouble.accepted:
        return None
    name = written["name"] or "name"
    return f'a parameter is written :{name}; give its value with params={{"{name}": …}}'


FIRST: tuple[HintRule, ...] = (keyword_as_attribute, misspelt_keyword, curly_quotes, other_comment)
"""These hints are better than those of a language."""
HINTS: tuple[HintRule, ...] = (
    quoted_length,
    list_in_brackets,
    is_value,
    odd_quotes,
    keyword_as_name,
    other_test,
    other_parameter,
    missing_value,
    chained_comparison,
    programmers_operator,
    decimal_comma,
    comma_between_conditions,
    method,
    string_as_name,
    name_of_several_words,
    misplaced_parameter,
)
