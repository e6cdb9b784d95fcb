"""The commonest mistakes in SASE+ texts, as rules for `syntax_errors`."""

from __future__ import annotations

from cereus.languages.sase.tree import Strategy
from cereus.syntax.trouble import HintRule, Trouble

_SHAPE = "PATTERN SEQ(A a, B+ b[]) WHERE b[i].x > a.x WITHIN 1 hour RETURN a.x, count(b[])"


def missing_pattern(trouble: Trouble) -> str | None:
    return f"a query reads {_SHAPE}" if not trouble.before else None


def missing_sequence(trouble: Trouble) -> str | None:
    return "write SEQ( … ) around the components" if trouble.previous == "_PATTERN" else None


def missing_variable(trouble: Trouble) -> str | None:
    in_pattern = not any(token.type in ("_WHERE", "_RETURN") for token in trouble.before)
    if in_pattern and trouble.unexpected in (",", ")") and "NAME" in trouble.accepted:
        return "every component has a type and a variable: STOCK b, or STOCK+ a[]"
    return None


def open_sequence(trouble: Trouble) -> str | None:
    keyword = (trouble.unexpected or "").isupper() and "RPAR" in trouble.accepted
    in_pattern = not any(token.type in ("_WHERE", "_RETURN") for token in trouble.before)
    return "close SEQ with )" if keyword and in_pattern else None


def other_negation(trouble: Trouble) -> str | None:
    """`NOT B b`, `!B b`"""
    if "TILDE" in trouble.accepted and (trouble.unexpected or "").upper() in ("!", "NOT"):
        return "a component that must not occur begins with ~: ~B b, or ~(B+ b[])"
    return None


def other_separator(trouble: Trouble) -> str | None:
    """`SEQ(A a ; B b)`, `SEQ(A a -> B b)`"""
    in_pattern = not any(token.type in ("_WHERE", "_RETURN") for token in trouble.before)
    if in_pattern and "COMMA" in trouble.accepted and trouble.rest.startswith((";", "->", ":")):
        return "commas separate the components: SEQ(A a, B b)"
    return None


def returned_in_parentheses(trouble: Trouble) -> str | None:
    """`RETURN (a.x, b.y)`"""
    returned = any(token.type == "_RETURN" for token in trouble.before)
    if returned and trouble.unexpected == "," and trouble.unclosed() == "(":
        return "RETURN has no parentheses around its values: RETURN a.x, b.y"
    return None


def strategy_without_variables(trouble: Trouble) -> str | None:
    """`WHERE skip_till_any_match { … }`"""
    name = str(trouble.before[-1]).lower() if trouble.before else ""
    if trouble.unexpected == "{" and name in list(Strategy):
        return f"say of which variables, as in {name}(a, b[]) {{ conditions }}"
    return None


def negated_sequence(trouble: Trouble) -> str | None:
    if [str(token).upper() for token in trouble.before[-2:]] == ["~", "SEQ"]:
        return "~ stands before one component: ~B b, or ~(B+ b[])"
    return None


def clause_order(trouble: Trouble) -> str | None:
    word = (trouble.unexpected or "").upper()
    if word in ("PATTERN", "WHERE", "WITHIN", "HAVING", "RETURN", "FROM"):
        return "the order is FROM, PATTERN, WHERE, WITHIN, HAVING, RETURN"
    return None


def second_strategy(trouble: Trouble) -> str | None:
    if "STRATEGY" in trouble.accepted and "COMPARE" not in trouble.accepted:
        where = "WHERE reads" if trouble.previous == "_WHERE" else "after AND comes another"
        return f"{where} strategy(variables) {{ conditions }}"
    return None


HINTS: tuple[HintRule, ...] = (
    missing_pattern,
    missing_sequence,
    missing_variable,
    other_negation,
    other_separator,
    returned_in_parentheses,
    strategy_without_variables,
    negated_sequence,
    open_sequence,
    clause_order,
    second_strategy,
)
