"""The commonest mistakes in MATCH_RECOGNIZE texts, as rules for `syntax_errors`."""

from __future__ import annotations

from cereus.syntax.trouble import HintRule, Trouble

SHAPE = (
    "MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts MEASURES LAST(up.price) AS top "
    "PATTERN (down+ up+) DEFINE up AS price > PREV(price))"
)
CLAUSES = [
    "PARTITION",
    "ORDER",
    "MEASURES",
    "ONE",
    "ALL",
    "AFTER",
    "PATTERN",
    "WITHIN",
    "SUBSET",
    "DEFINE",
]


def missing_clause(trouble: Trouble) -> str | None:
    if trouble.before:
        return None
    if (trouble.unexpected or "").upper() in ("SELECT", "WITH"):
        return (
            'whole statements run with cereus.sql(statement, trades=table), with "cereus sql", '
            "and on Spark with cs.sql(spark, statement); here stands the clause alone"
        )
    return f"a clause reads {SHAPE}"


def window_function(trouble: Trouble) -> str | None:
    if (trouble.unexpected or "").upper() in ("OVER", "FILTER"):
        return "aggregates here range over the rows of the match: they take no OVER and no FILTER"
    return None


def subquery(trouble: Trouble) -> str | None:
    if any(token.type == "SELECT" for token in trouble.before) or (
        (trouble.unexpected or "").upper() == "SELECT"
    ):
        return "subqueries are not supported here: join the value to the input table first"
    return None


def ordered_aggregate(trouble: Trouble) -> str | None:
    inside = trouble.unclosed() is not None and "RPAR" in trouble.accepted
    if inside and (trouble.unexpected or "").upper() == "ORDER" and trouble.previous == "NAME":
        return "aggregates here see the rows in the order of the match: they take no ORDER BY"
    return None


def lambda_arrow(trouble: Trouble) -> str | None:
    return "functions of functions are not supported" if trouble.unexpected == ">" else None


def empty_pattern(trouble: Trouble) -> str | None:
    if trouble.unexpected == ")" and [t.type for t in trouble.before[-2:]][:1] == ["_PATTERN"]:
        return "the pattern of no row is (): PATTERN (())"
    return None


def unclosed_pattern(trouble: Trouble) -> str | None:
    """A hint for a pattern whose bracket is not closed: the words after it are read as names of
    variables, so that DEFINE b AS … fails at AS."""
    types = [token.type for token in trouble.before]
    if "_PATTERN" in types and "_DEFINE" not in types:
        inside = trouble.before[types.index("_PATTERN") :]
        for token in inside:
            if token.type == "NAME" and token.upper() in CLAUSES:
                return f"a ')' of PATTERN is missing before {token.upper()}"
    return None


def pattern_without_parentheses(trouble: Trouble) -> str | None:
    return "write PATTERN (a b+)" if trouble.previous == "_PATTERN" else None


def clause_order(trouble: Trouble) -> str | None:
    if (trouble.unexpected or "").upper() in CLAUSES:
        return (
            "the order is PARTITION BY, ORDER BY, MEASURES, rows per match, AFTER MATCH SKIP, "
            "PATTERN, WITHIN, SUBSET, DEFINE"
        )
    return None


def missing_alias(trouble: Trouble) -> str | None:
    if "_AS" in trouble.accepted and any(t.type == "_MEASURES" for t in trouble.before):
        in_measures = not any(t.type == "_PATTERN" for t in trouble.before)
        return "every measure has a name: LAST(a.x) AS x" if in_measures else None
    return None


HINTS: tuple[HintRule, ...] = (
    missing_clause,
    subquery,
    window_function,
    ordered_aggregate,
    lambda_arrow,
    empty_pattern,
    unclosed_pattern,
    pattern_without_parentheses,
    missing_alias,
    clause_order,
)
