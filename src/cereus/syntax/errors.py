"""Errors and hints for a text that does not follow the grammar.

The parser knows which terminals it could have taken; here they become words that the person
knows, and the commonest mistakes become hints.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from lark import Token

from cereus.errors import QuerySyntaxError, Span, distance
from cereus.syntax.literals import RESERVED

LONGEST_WORD = 80
"""The most letters of a word that an error repeats."""


@dataclass(frozen=True)
class Trouble:
    """Where a parse stopped: `unexpected` is None at the end of the text, `before` are the tokens
    so far, `accepted` the terminals that could have come next."""

    text: str
    span: Span
    unexpected: str | None
    before: tuple[Token, ...]
    accepted: frozenset[str]

    @property
    def previous(self) -> str:
        """The terminal just before the trouble."""
        return plain_terminal(self.before[-1].type) if self.before else ""

    @property
    def rest(self) -> str:
        return self.text[self.span[0] :]

    def unclosed(self) -> Token | None:
        """The innermost bracket that was opened and not closed."""
        open_brackets: list[Token] = []
        for token in self.before:
            if token in CLOSING:
                open_brackets.append(token)
            elif token in CLOSING.values() and open_brackets:
                open_brackets.pop()
        return open_brackets[-1] if open_brackets else None


def plain_terminal(name: str) -> str:
    """The name of a terminal without the prefix that lark gives to imported ones."""
    return name.replace("expr__grammar__", "")


HintRule = Callable[[Trouble], str | None]
InWords = Callable[[frozenset[str]], str]
"""A function that says in words what can come next, given the accepted terminals."""
CONTINUING = frozenset(("AND", "OR", "THEN", "ELSE", "FILTER", "UNLESS", "WITHIN"))
"""Keywords that may follow a finished condition."""
CLOSING = {"(": ")", "[": "]", "{": "}"}

GROUPS: tuple[tuple[str, str, str], ...] = (
    # the terminals needed, the others that they cover, and the words for them
    (
        "NUMBER STRING NAME",
        "QUOTED LPAR PLUS MINUS _NOT _CASE _CAST _TRUE _FALSE _NULL",
        "an attribute or a value",
    ),
    ("NAME LPAR STAR _NOT", "QUOTED LSQB", "an event type, '(' or NOT"),
    ("_WHERE COMMA NAME", "QUOTED STAR LPAR GREATER LSQB", "',', WHERE"),
    ("NAME STAR", "QUOTED", "'*' or the variables to select"),
    ("NAME", "QUOTED", "a name"),
    # of the terminals that may follow a name, only those are named that a person would write there
    (
        "COMPARE",
        "GREATER _IN _LIKE _ILIKE _REGEXP _BETWEEN _IS _NOT LPAR LSQB DOT STRING NUMBER",
        "a comparison",
    ),
    ("PLUS MINUS", "STAR SLASH PERCENT CONCAT", "an arithmetic operator"),
    (
        "SEMICOLON COLON",
        "PLUS COLON_PLUS QMARK LBRACE COLON_BRACE _WITHOUT _UNTIL "
        "_AS _AND _ALL _OR _UNLESS _FILTER GREATER LPAR LSQB",
        "an operator (; : + AS AND OR UNLESS FILTER)",
    ),
    (
        "_PARTITION _WITHIN _CONSUME _LIMIT",
        "_RETURN _AFTER _NOT_FOLLOWED_BY _WITH_TIMEOUTS",
        "a clause (WITHIN, PARTITION BY …)",
    ),
)
WORDS = {
    "LPAR": "'('",
    "RPAR": "')'",
    "LSQB": "'['",
    "RSQB": "']'",
    "LBRACE": "'{'",
    "RBRACE": "'}'",
    "COMMA": "','",
    "DOT": "'.'",
    "DOTS": "'..'",
    "STAR": "'*'",
    "PLUS": "'+'",
    "MINUS": "'-'",
    "GREATER": "'>'",
    "SEMICOLON": "';'",
    "COLON": "':'",
    "COLON_PLUS": "':+'",
    "COLON_BRACE": "':{'",
    "QMARK": "'?'",
    "NUMBER": "a number",
    "STRING": "a 'string'",
    "QUOTED": "a name",
    "PERCENTAGE": "a percentage",
    "STRATEGY": "a strategy",
    "TILDE": "'~'",
    "VBAR": "'|'",
    "CIRCUMFLEX": "'^'",
    "DOLLAR": "'$'",
    "QUANTIFIER": "a quantifier",
    "_EXCLUSION_OPENS": "'{-'",
    "_EXCLUSION_CLOSES": "'-}'",
    "_COLONS": "'::'",
    "_IN_STREAM": "IN STREAM",
    "_WITH_TIMEOUTS": "WITH TIMEOUTS",
    "$END": "the end of the text",
}


def syntax_error(
    trouble: Trouble, hints: Iterable[HintRule], words: InWords | None = None
) -> QuerySyntaxError:
    """The error for a text that does not follow the grammar; `words` are a language's own words for
    what could come next."""
    broken = _broken_quote(trouble) or _broken_bracket(trouble)
    if broken is not None:
        return broken
    return _expecting((words or expected)(trouble.accepted), trouble, hints)


def _part(word: str) -> str:
    """A word in quotes; of a long one only the beginning."""
    return repr(word if len(word) <= LONGEST_WORD else f"{word[:LONGEST_WORD]}…")


def _expecting(words: str, trouble: Trouble, hints: Iterable[HintRule]) -> QuerySyntaxError:
    problem = (
        "the text ends" if trouble.unexpected is None else f"found {_part(trouble.unexpected)}"
    )
    return QuerySyntaxError(
        f"expected {words}, but {problem}",
        text=trouble.text,
        span=trouble.span,
        hint=next((hint for rule in (*FIRST, *hints, *HINTS) if (hint := rule(trouble))), None),
    )


def expected(accepted: frozenset[str]) -> str:
    """The accepted terminals in words: `an event type, '(' or NOT`."""
    phrases: list[str] = []
    left = set(accepted)
    for needed, absorbed, phrase in GROUPS:
        if set(needed.split()) <= left:
            phrases.append(phrase)
            left -= {*needed.split(), *absorbed.split()}
    phrases += sorted({WORDS.get(name, name.strip("_")) for name in left - {"$END"}})
    if "$END" in left:
        phrases.append(WORDS["$END"])
    if len(phrases) < 2:
        return "".join(phrases)
    return f"{', '.join(phrases[:-1])} or {phrases[-1]}"


def _broken_quote(trouble: Trouble) -> QuerySyntaxError | None:
    names = {"'": "string", '"': "quoted name", "`": "quoted name"}
    if trouble.unexpected in names:
        what, closer = names[trouble.unexpected], trouble.unexpected
    elif trouble.rest.startswith("/*"):
        what, closer = "comment", "*/"
    else:
        return None
    return QuerySyntaxError(
        f"this {what} is never closed",
        text=trouble.text,
        span=trouble.span,
        hint=f"end it with {closer}",
    )


def _broken_bracket(trouble: Trouble) -> QuerySyntaxError | None:
    opener = trouble.unclosed()
    if opener is None:
        if trouble.unexpected in CLOSING.values():
            return QuerySyntaxError(
                f"this {trouble.unexpected!r} closes nothing",
                text=trouble.text,
                span=trouble.span,
                hint="leave it out, or open it before",
            )
        return None
    closer = CLOSING[opener]
    wrong = trouble.unexpected in CLOSING.values() and trouble.unexpected != closer
    ended = trouble.unexpected is None and _takes_closer(closer, trouble.accepted)
    if not (wrong or ended):
        return None
    start = opener.start_pos or 0
    return QuerySyntaxError(
        f"this {str(opener)!r} is never closed",
        text=trouble.text,
        span=(start, start + 1),
        hint=f"close it with {closer!r}",
    )


def _takes_closer(closer: str, accepted: frozenset[str]) -> bool:
    return {")": "RPAR", "]": "RSQB", "}": "RBRACE"}[closer] in accepted


# ---------------------------------------------------------------- hints that fit every language


def keyword_as_attribute(trouble: Trouble) -> str | None:
    """`b[1].from`"""
    return keyword_as_name(trouble) if trouble.previous == "DOT" else None


def misspelt_keyword(trouble: Trouble) -> str | None:
    """`SELECT * form S`"""
    word = (trouble.unexpected or "").upper()
    keywords = {name[1:] for name in map(plain_terminal, trouble.accepted) if name[:1] == "_"}
    slips = {each for each in keywords if distance(word, each) == 1}
    return f"did you mean {min(slips)}?" if len(word) > 3 and slips else None


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
    for sign, word in (("&&", "AND"), ("||", "OR"), ("!", "NOT")):
        if trouble.rest.startswith(sign):
            return f"write {word}"
    return None


def keyword_as_name(trouble: Trouble) -> str | None:
    word = trouble.unexpected or ""
    if word.upper() not in RESERVED or "NAME" not in trouble.accepted:
        return None
    if _compares(trouble) and word.upper() in CONTINUING:
        return None
    return f'{word} is a keyword; write "{word}" to use it as a name'


def odd_quotes(trouble: Trouble) -> str | None:
    odd = trouble.text.count("'") % 2
    return "a string before this may not be closed: quotes come in pairs" if odd else None


def misplaced_parameter(trouble: Trouble) -> str | None:
    """`FROM :stream`"""
    if re.match(r":[^\W\d]", trouble.rest) is None:
        return None
    return "a parameter stands for a value, not for a name, a type or a keyword"


FIRST: tuple[HintRule, ...] = (keyword_as_attribute, misspelt_keyword)
"""These hints are better than those of a language."""
HINTS: tuple[HintRule, ...] = (
    odd_quotes,
    keyword_as_name,
    missing_value,
    chained_comparison,
    programmers_operator,
    misplaced_parameter,
)
