"""Errors for a text that does not follow the grammar.

The parser knows which terminals it could have taken; here they become words that the person
knows. `hints` has the commonest mistakes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from cereus.errors import QuerySyntaxError
from cereus.syntax.hints import FIRST, HINTS
from cereus.syntax.trouble import CLOSING, HintRule, Trouble

LONGEST_WORD = 80
"""The most letters of a word that an error repeats."""


InWords = Callable[[frozenset[str]], str]
"""A function that says in words what can come next, given the accepted terminals."""
GROUPS: tuple[tuple[str, str, str], ...] = (
    # the terminals needed, the others that they cover, and the words for them
    (
        "NUMBER STRING NAME",
        "QUOTED LPAR PLUS MINUS _NOT _CASE _CAST _TRUE _FALSE _NULL",
        "an attribute or a value",
    ),
    ("NAME LPAR STAR _NOT", "QUOTED LSQB", "an event type, '(' or NOT"),
    ("_WHERE COMMA NAME", "QUOTED STAR LPAR GREATER LSQB", "',', WHERE"),
    # of the terminals that may follow a value, only those are named that a person would write there
    (
        "COMPARE",
        "GREATER _IN _LIKE _ILIKE _REGEXP _BETWEEN _IS _NOT LPAR LSQB DOT STRING NUMBER",
        "a comparison",
    ),
    ("PLUS MINUS", "STAR SLASH PERCENT CONCAT NAME QUOTED", "an arithmetic operator"),
    ("NAME STAR", "QUOTED", "a name or '*'"),
    ("NAME", "QUOTED", "a name"),
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
    text = trouble.unexpected == '"' and trouble.rest.startswith('""')
    return QuerySyntaxError(
        f"this {what} is never closed",
        text=trouble.text,
        span=trouble.span,
        hint="texts stand in single quotes: ''" if text else f"end it with {closer}",
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
