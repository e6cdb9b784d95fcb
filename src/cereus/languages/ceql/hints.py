"""The commonest mistakes in CEQL texts, as rules for `syntax_errors`."""

from __future__ import annotations

import re

from cereus.syntax.trouble import HintRule, Trouble, plain_terminal

_SHAPE = "SELECT * FROM Stock WHERE SELL ; BUY"
COMPARISONS = ("=", "==", "!=", "<>", "<", "<=", ">=", "≤", "≥", "≠")
FOLLOWING = ("THEN", "FOLLOWED", "FOLLOWS", "BEFORE", "AFTER", "NEXT")
"""What people write for ;"""
SIGNS = re.compile(r"[-/.][\w./-]*")
SIGNS_OF_THE_PAPER = {
    "⊕": "write A:+ for a repetition without gaps",
    "π": "write PROJECT[a, b](…)",
    "φ": "write a pattern, as A ; B",
}
CLAUSES_OF_SQL = {
    "GROUP BY": "for each value on its own write PARTITION BY",
    "ORDER BY": 'matches come in the order in which they are found; order="time" sorts them',
    "HAVING": "conditions on matches stand after FILTER: FILTER count(b) > 3",
}
SEQUENCE_OF_EQL = re.compile(r"(sequence|sample)\b[^\[]*\[", re.IGNORECASE)
CLAUSE_WORDS = ("WITHIN", "PARTITION", "CONSUME", "LIMIT", "RETURN")


def missing_select(trouble: Trouble) -> str | None:
    if trouble.before:
        return None
    if SEQUENCE_OF_EQL.match(trouble.rest):
        return (
            "this is EQL: [A where x == 1] [B where y == 2] is "
            "SELECT * WHERE A AS a ; B AS b FILTER a[x = 1] AND b[y = 2]; "
            "by is PARTITION BY, and maxspan is WITHIN"
        )
    return f"a query starts with SELECT: {_SHAPE}"


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
        selected = trouble.before[-1]
        attribute = (re.match(r"\.\s*(\w+)", trouble.rest) or [None, "…"])[1]
        return (
            f"attributes are selected in brackets, {selected}[{attribute}], or stand after RETURN: "
            f"RETURN {selected}.{attribute}"
        )
    return None


def arrow(trouble: Trouble) -> str | None:
    if trouble.rest.startswith(("->", "=>", "→")):
        return "write ; for «later» and : for «immediately after»"
    return None


def signs_of_the_paper(trouble: Trouble) -> str | None:
    """`A ⊕`, `π_a(A AS a ; B)`"""
    return SIGNS_OF_THE_PAPER.get(trouble.rest[:1])


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
    word = trouble.unexpected
    if not word or not _after_event(trouble) or not word.isidentifier():
        return None
    hint = "put ; (later) or : (immediately after) between two events, AS before a name"
    named = str(trouble.before[-2]).upper() == "AS"
    if trouble.previous != "NAME" or named or word.upper() in FOLLOWING:
        return hint
    return f'{hint}; a type of several words stands in double quotes: "{trouble.before[-1]} {word}"'


def comma(trouble: Trouble) -> str | None:
    if trouble.unexpected == "," and _after_event(trouble):
        return "put ; (later) or : (immediately after) between two events"
    return None


def other_repetition(trouble: Trouble) -> str | None:
    """`SELL*`"""
    if trouble.unexpected != "*" or not _after_event(trouble):
        return None
    return "+ is one or more; for none as well write A{0,}"


def number_before_event(trouble: Trouble) -> str | None:
    """`3 SELL`"""
    number = (trouble.unexpected or "").isdigit() and {"STAR", "LPAR"} <= trouble.accepted
    return f"how often stands after the event: A{{{trouble.unexpected}}}" if number else None


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


def not_between(trouble: Trouble) -> str | None:
    """`A ; B NOT C`"""
    word = re.match(r"NOT\s+(\w+)", trouble.rest, re.IGNORECASE)
    if word is None or not _after_event(trouble):
        return None
    return (
        f"write A ; B WITHOUT {word[1]} for none in between, NOT FOLLOWED BY {word[1]} WITHIN "
        "5 minutes for none after"
    )


def unfollowed_event(trouble: Trouble) -> str | None:
    """`NOT FOLLOWED BY B AS b FILTER b[x > 3] WITHIN 5 minutes`"""
    types = [plain_terminal(token.type) for token in trouble.before]
    more = (trouble.unexpected or "").upper() in ("AS", "FILTER", "OR")
    if not more or types[-2:-1] != ["_NOT_FOLLOWED_BY"]:
        return None
    return (
        "put an event with a name or a condition in parentheses: "
        "NOT FOLLOWED BY (B AS b FILTER b[price > 3]) WITHIN 5 minutes"
    )


def clause_of_sql(trouble: Trouble) -> str | None:
    """`ORDER BY ts`"""
    words = " ".join(trouble.rest.upper().split()[:2])
    return next((CLAUSES_OF_SQL[each] for each in CLAUSES_OF_SQL if words.startswith(each)), None)


def filter_after_clause(trouble: Trouble) -> str | None:
    """`WITHIN 5 minutes FILTER a.x > 3`"""
    late = (trouble.unexpected or "").upper() == "FILTER" and _after_clause(trouble)
    return "FILTER stands right after the pattern, before all other clauses" if late else None


def _after_clause(trouble: Trouble) -> bool:
    return any(str(token).upper() in CLAUSE_WORDS for token in trouble.before)


def returned_values(trouble: Trouble) -> str | None:
    """`RETURN *`, `RETURN a.*`, `RETURN a.x b.x`"""
    types = [plain_terminal(token.type) for token in trouble.before]
    if "_RETURN" not in types:
        return None
    if trouble.unexpected == "*" and types[-1] in ("_RETURN", "DOT"):
        return "name the values: RETURN a.price, b.price; SELECT a, b has the events themselves"
    separate = (trouble.unexpected or "").isidentifier() and "COMMA" in trouble.accepted
    return "put a comma between two values, AS before a name" if separate else None


def counted_star(trouble: Trouble) -> str | None:
    """`FILTER count(*) > 3`, `count(b.*)`"""
    before = [str(token).lower() for token in trouble.before]
    if trouble.unexpected != "*" or "count" not in (before[-2:-1] + before[-4:-3]):
        return None
    return "count the events of a variable: count(b)"


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


def final_semicolon(trouble: Trouble) -> str | None:
    """`… WITHIN 5 minutes;`, as SQL ends a statement, and `A ; WITHIN 5 minutes`."""
    rest = trouble.rest.upper().split()
    if trouble.unexpected == ";" and (rest == [";"] or (rest[1:2] and rest[1] in CLAUSE_WORDS)):
        return "; joins two events: drop it here"
    ended = trouble.unexpected is None or trouble.unexpected.upper() in (*CLAUSE_WORDS, "FILTER")
    return "; joins two events: drop it here" if ended and trouble.previous == "SEMICOLON" else None


def pattern_after_filter(trouble: Trouble) -> str | None:
    signs = {";", ":", ":+", "UNLESS", "ALL", "AS"}
    if (trouble.unexpected or "").upper() in signs and "_FILTER" in trouble.accepted:
        return "FILTER binds loosest: put the part with its FILTER in parentheses"
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
    signs_of_the_paper,
    selected_attribute,
    missing_where,
    signs_in_a_type,
    second_where,
    in_for_as,
    clause_of_sql,
    filter_after_clause,
    clause_in_parentheses,
    not_between,
    unfollowed_event,
    two_events,
    comma,
    other_repetition,
    number_before_event,
    type_as_string,
    bare_not,
    condition_in_pattern,
    condition_for_pattern,
    final_semicolon,
    pattern_after_filter,
    returned_values,
    counted_star,
    numbered_event,
)
