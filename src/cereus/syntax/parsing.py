"""Runs a grammar over a text: the one place where lark is called and its errors are handled.

Grammars are `.lark` files of the package, LALR, built once per process; `grammar` is the path of
one below `cereus`, and `%import expr.grammar (…)` takes rules from the conditions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any

from lark import Lark, Token, UnexpectedInput
from lark.exceptions import UnexpectedToken
from lark.parsers.lalr_interactive_parser import InteractiveParser

from cereus.errors import LimitError, QueryError, QuerySyntaxError, not_utf8
from cereus.syntax.building import TreeBuilder
from cereus.syntax.errors import InWords, syntax_error
from cereus.syntax.parameters import LIST, ONE, Parameters, misplaced_list, refuse_surrogates
from cereus.syntax.trouble import HintRule, Trouble, plain_terminal

TOO_DEEP = "this text is nested too deeply"
MOST_TOKENS = 30_000
"""The most words and signs of a text: reading this many takes a few seconds."""
TOO_LONG = f"this text has more than {MOST_TOKENS:,} words and signs"


def read(
    grammar: str,
    start: str,
    text: str,
    builder: TreeBuilder,
    hints: Iterable[HintRule] = (),
    params: Mapping[str, Any] | None = None,
    words: InWords | None = None,
) -> Any:
    """Parse `text` and build its tree; every error shows its place in `text`.

    `hints` are the language's own rules for common mistakes (see `syntax.errors`), `words` its own
    words for what could come next; `params` are the values of the parameters in the text, each of
    which has to be used.
    """
    if not isinstance(text, str):
        raise QuerySyntaxError(
            f"a text is needed, not a {type(text).__name__}",
            hint="give the text of a query, or what a language has built",
        )
    refuse_surrogates(text, "the text")
    parameters = Parameters(params)
    with errors_in(text):
        tree = _parse(lark_of(grammar, start), text, tuple(hints), words, parameters)
    parameters.check_all_used()
    with errors_in(text):
        return builder.build(tree)


@contextmanager
def errors_in(text: str | None) -> Iterator[None]:
    """Let errors about a query show their place in its text. A query whose tree is too deep for the
    code inside is refused, and so are events with texts that are not UTF-8."""
    try:
        yield
    except QueryError as error:
        if text is None:
            raise
        raise located(error, text) from error.__cause__
    except RecursionError:
        raise QuerySyntaxError(TOO_DEEP, hint="split it, or write it with fewer brackets") from None
    except UnicodeDecodeError as error:
        raise not_utf8(error) from None


def located(error: QueryError, text: str) -> QueryError:
    """`error`, which was raised with a span only, with the text that it points into."""
    if error.text is not None or error.span is None:
        return error
    return type(error)(error.reason, text=text, span=error.span, hint=error.hint)


@cache
def lark_of(grammar: str, start: str) -> Lark:
    return Lark.open_from_package(
        "cereus",
        grammar,
        search_paths=("",),
        start=start,
        parser="lalr",
        propagate_positions=True,
        maybe_placeholders=False,
    )


def _parse(
    lark: Lark,
    text: str,
    hints: tuple[HintRule, ...],
    words: InWords | None,
    parameters: Parameters,
) -> Any:
    parser = lark.parse_interactive(text)
    tokens: list[Token] = []
    try:
        for token in parser.iter_parse():
            parameters.put(token, parser.choices())
            tokens.append(token)
            if len(tokens) > MOST_TOKENS:
                raise LimitError(TOO_LONG, hint="give a long list as a parameter: x IN :names")
        return parser.feed_eof(tokens[-1] if tokens else None)
    except UnexpectedInput as error:
        if isinstance(error, UnexpectedToken) and error.token.type.endswith(LIST):
            raise misplaced_list(error.token) from None
        trouble = _trouble(lark, text, parser, tokens, error)
    raise syntax_error(trouble, hints, words)


def _trouble(
    lark: Lark,
    text: str,
    parser: InteractiveParser,
    tokens: list[Token],
    error: UnexpectedInput,
) -> Trouble:
    unexpected: str | None = None
    start = len(text.rstrip())
    if not isinstance(error, UnexpectedToken):
        start = error.pos_in_stream or 0
        unexpected = _word_at(text, start)
    elif error.token.type != "$END":
        start = error.token.start_pos or 0
        unexpected = str(error.token)
        if tokens and tokens[-1] is error.token:
            tokens = tokens[:-1]
    span = (start, start + len(unexpected or " "))
    return Trouble(text, span, unexpected, tuple(tokens), _accepted(lark, parser))


def _word_at(text: str, start: int) -> str:
    word = re.compile(r"\w+").match(text, start)
    return word.group() if word else text[start]


def _accepted(lark: Lark, parser: InteractiveParser) -> frozenset[str]:
    """The terminals that could come next, without parameters, which can stand wherever a literal
    can. (lark's own `accepts` skips imported terminals, whose names are not all upper case.)"""
    terminals = {each.name for each in lark.terminals} | {"$END"}
    return frozenset(
        plain_terminal(name)
        for name in parser.choices()
        if name in terminals and not name.endswith((ONE, LIST)) and _takes(parser, name)
    )


def _takes(parser: InteractiveParser, terminal: str) -> bool:
    # reductions are tried on a copy: an LALR table also lists terminals that only fail later
    attempt = parser.copy(deepcopy_values=False)
    try:
        attempt.feed_token(Token(terminal, ""))
    except UnexpectedInput:
        return False
    return True
