"""The commonest mistakes in CEQL texts, as rules for `syntax_errors`."""

from __future__ import annotations

import re

from cereus.syntax.errors import HintRule, Trouble, plain_terminal

_SHAPE = "SELECT * FROM Stock WHERE SELL ; BUY"
COMPARISONS = ("=", "==", "!=", "<>", "<", "<=", ">=", "≤", "≥", "≠")
SIGNS = re.compile(r"[-/.][\w./-]*")
REPETITIONS = {
    "*": "+ is one or more; for none as well write A{0,}",
}


def missing_select(trouble: Trouble) -> str | None:
    return f"a query starts with SELECT: {_SHAPE}" if not trouble.before else None


def missing_selection(trouble: Trouble) -> str | None:
    if trouble.previous != "_SELECT":
        return None
    return "write * for whole matches, or the variables to select"


def missing_stream(trouble: Trouble) -> str | None:
    return "name the streams, or leave out FROM" if trouble.previous == "_FROM" else None


def missing_where(trouble: Trouble) -> str | None:
    if "_WHERE" not in trouble.accepted:
        return None
    return f"the pattern stands after WHERE: {_SHAPE}"


def selected_attribute(trouble: Trouble) -> str | None:
    selecting = trouble.before[-1:] and not any(t.type == "_WHERE" for t in trouble.before)
    if trouble.unexpected == "." and selecting:
        return f"attributes are selected in brackets: {trouble.before[-1]}[…]"
    return None


def arrow(trouble: Trouble) -> str | None:
    if trouble.rest.startswith(("->", "=>", "→")):
        return "write ; for «later» and : for «immediately after»"
    return None


def signs_in_a_type(trouble: Trouble) -> str | None:
    """`login-failed`"""
    rest = SIGNS.match(trouble.rest)
    if rest is None or trouble.previous != "NAME" or not _after_event(trouble):
        return None
    return f'put a type with such signs in double quotes: "{trouble.before[-1]}{rest[0]}"'


def second_where(trouble: Trouble) -> str | None:
    """`WHERE SELL AS s ; BUY WHERE s.price > 3`, as SQL has it."""
    types = [plain_terminal(token.type) for token in trouble.before]
    if (trouble.unexpected or "").upper() != "WHERE" or "_WHERE" not in types:
        return None
    return "the pattern stands after WHERE, conditions after FILTER: SELL AS s FILTER s[price > 3]"


def in_for_as(trouble: Trouble) -> str | None:
    word = (trouble.unexpected or "").upper()
    return "name events with AS: SELL AS a" if word == "IN" and _after_event(trouble) else None


def two_events(trouble: Trouble) -> str | None:
    if trouble.unexpected and _after_event(trouble) and trouble.unexpected.isidentifier():
        return "put ; (later) or : (immediately after) between two events, AS before a name"
    return None


def comma(trouble: Trouble) -> str | None:
    if trouble.unexpected == "," and _after_event(trouble):
        return "put ; (later) or : (immediately after) between two events"
    return None


def other_repetition(trouble: Trouble) -> str | None:
    """`SELL*`"""
    if trouble.unexpected not in REPETITIONS or not _after_event(trouble):
        return None
    return REPETITIONS[trouble.unexpected]


def type_as_string(trouble: Trouble) -> str | None:
    word = trouble.unexpected or ""
    if not word.startswith("'") or not {"STAR", "LPAR", "_NOT"} <= trouble.accepted:
        return None
    return "a type is a name: leave out the quotes, or make them double ones"


def bare_not(trouble: Trouble) -> str | None:
    if trouble.previous == "_NOT" and trouble.unexpected and trouble.unexpected.isidentifier():
        name = trouble.unexpected
        return (
            f"NOT({name}) is one event that is no {name}; (A ; C) WITHOUT {name} has none between"
        )
    return None


def group_by(trouble: Trouble) -> str | None:
    grouped = (trouble.unexpected or "").upper() == "GROUP"
    return "for each value on its own write PARTITION BY" if grouped else None


def clause_in_parentheses(trouble: Trouble) -> str | None:
    word = (trouble.unexpected or "").upper()
    if word in ("WITHIN", "PARTITION", "CONSUME", "LIMIT") and trouble.unclosed() == "(":
        part = ", or after a part: (A ; B) WITHIN 5 minutes ; C" if word == "WITHIN" else ""
        return f"{word} stands after the whole pattern: close the ( before it{part}"
    return None


def condition_in_pattern(trouble: Trouble) -> str | None:
    """`WHERE SELL[price > 3]`: brackets after a type are read as those of PROJECT."""
    types = [token.type for token in trouble.before]
    if "_WHERE" in types and "_FILTER" not in types and "LSQB" in types[-2:]:
        return "conditions stand after the pattern: SELL FILTER SELL[price > 3]"
    return None


def condition_for_pattern(trouble: Trouble) -> str | None:
    """`WHERE amount > 5`, `WHERE SELL AND price = 3`, as in SQL."""
    types = [plain_terminal(token.type) for token in trouble.before]
    if "_WHERE" not in types or "_FILTER" in types:
        return None
    compared = trouble.unexpected in COMPARISONS and _after_event(trouble)
    value = (trouble.unexpected or "")[:1]
    if not compared and not (types[-1] == "GREATER" and (value.isdigit() or value in "'-")):
        return None
    return (
        "a pattern names types of events; conditions stand after it: SELL AS s FILTER s[price > 3]"
    )


def pattern_after_filter(trouble: Trouble) -> str | None:
    signs = {";", ":", ":+", "UNLESS", "ALL", "AS"}
    if (trouble.unexpected or "").upper() in signs and "_FILTER" in trouble.accepted:
        return "FILTER binds loosest: put the part with its FILTER in parentheses"
    return None


def trailing_semicolon(trouble: Trouble) -> str | None:
    ended = trouble.unexpected is None or trouble.unexpected.upper() in {
        "WITHIN",
        "PARTITION",
        "FILTER",
    }
    if ended and trouble.previous == "SEMICOLON":
        return "; joins two events: drop it here"
    return None


def numbered_event(trouble: Trouble) -> str | None:
    """`b[1].price`, as in SASE+"""
    if trouble.unexpected == "." and trouble.previous == "RSQB":
        return "the events of a variable have no numbers here: name the one that you mean, B AS b"
    return None


def _after_event(trouble: Trouble) -> bool:
    return "SEMICOLON" in trouble.accepted


HINTS: tuple[HintRule, ...] = (
    missing_select,
    missing_selection,
    missing_stream,
    arrow,
    selected_attribute,
    missing_where,
    signs_in_a_type,
    second_where,
    in_for_as,
    group_by,
    clause_in_parentheses,
    two_events,
    comma,
    other_repetition,
    type_as_string,
    bare_not,
    condition_in_pattern,
    condition_for_pattern,
    pattern_after_filter,
    trailing_semicolon,
    numbered_event,
)
