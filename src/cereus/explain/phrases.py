"""Conditions, windows and clauses in plain English: the common part of the sentences of all
languages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta

from cereus.clauses.tree import (
    AnyQuery,
    AttributeWindow,
    Consume,
    EventWindow,
    Skip,
    Strategy,
    TimeWindow,
    Window,
)
from cereus.expr import tree as ex
from cereus.expr.print import condition_text
from cereus.syntax.literals import duration_text, time_text

COMPARED = {
    "=": "is",
    "!=": "is not",
    "<": "is below",
    "<=": "is at most",
    ">": "is above",
    ">=": "is at least",
}
BEFORE_OR_AFTER = {
    "<": "is before",
    "<=": "is not after",
    ">": "is after",
    ">=": "is not before",
}
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
AN_LETTERS = "AEFHILMNORSX"
"""Letters whose names begin with a vowel when they are spoken."""
CHOSEN = {
    Strategy.ANY: "for each last event only one match",
    Strategy.NEXT: "for each last event only the match with the earliest events",
    Strategy.LAST: "for each last event only the match with the latest events",
    Strategy.MAX: "for each last event only the matches that no other contains",
    Strategy.STRICT: "without a gap",
}


SKIPPED = {
    Skip.PAST_LAST: "and after a match the next one begins after its last event",
    Skip.TO_NEXT: "and after a match the next one begins after its first event",
}


def listed(parts: Iterable[str], last: str = "and") -> str:
    """`a, b and c`"""
    every = list(parts)
    if len(every) < 2:
        return "".join(every)
    return f"{', '.join(every[:-1])} {last} {every[-1]}"


def grouped(words: str) -> str:
    """Words in parentheses, if they could be read together with the words around them."""
    return f"({words})" if ", " in words or " and " in words else words


def choice_words(parts: Iterable[str]) -> str:
    """`either a, b or c`"""
    return f"either {listed(map(grouped, parts), 'or')}"


def any_order_words(parts: Iterable[str]) -> str:
    """`a, b and c, in any order`"""
    return f"{listed(map(grouped, parts))}, in any order"


def number_word(count: int) -> str:
    return NUMBERS[count] if count < len(NUMBERS) else f"{count:,}"


def with_article(noun: str) -> str:
    """`a BUY`, `an ORDER`, `an H`"""
    word = noun.partition(" ")[0].upper()
    vowel = word in AN_LETTERS if len(word) == 1 else word[:1] in "AEIOU"
    return f"{'an' if vowel else 'a'} {noun}"


def noun_of(phrase: str) -> str | None:
    """`a BUY whose …` without its article; None if the phrase is something else."""
    article, _, noun = phrase.partition(" ")
    return noun if article in ("a", "an") and ", " not in noun else None


def plural(noun: str) -> str:
    """`BUYs`, `events`; for a noun with more words after it, the first is changed."""
    name, _, rest = noun.partition(" ")
    ending = "es" if name.endswith(("s", "S", "x", "X")) else "s"
    return f"{name}{ending} {rest}".rstrip()


# ---------------------------------------------------------------- conditions


def condition_words(condition: ex.Expression) -> str:
    """`the price of b is above 10`; without a variable, `its price is above 10`."""
    match condition:
        case ex.And(operands):
            return listed(map(_operand_words, operands))
        case ex.Or(operands):
            return "either " + listed(map(_operand_words, operands), "or")
        case ex.Not(ex.IsNull(operand)):
            return f"{value_words(operand)} is given"
        case ex.Not(operand):
            return _denied_words(operand)
        case ex.Comparison(op, left, right):
            return f"{value_words(left)} {_compared(op, right)} {value_words(right)}"
        case ex.IsNull(operand):
            return f"{value_words(operand)} is missing"
        case ex.In(operand, items):
            return f"{value_words(operand)} is {listed(map(value_words, items), 'or')}"
        case ex.Between(operand, low, high):
            return f"{value_words(operand)} is {_bounds(low, high)}"
        case ex.Like(operand, pattern):
            return f"{value_words(operand)} is like '{pattern}'"
        case ex.Regexp(operand, pattern):
            return f"{value_words(operand)} has the form '{pattern}'"
        case ex.Attribute():
            return f"{value_words(condition)} is true"
    return f"{value_words(condition)} holds"


def _compared(op: str, right: ex.Expression) -> str:
    """`is above`; of times `is after`"""
    if isinstance(right, ex.Literal) and isinstance(right.value, datetime):
        return BEFORE_OR_AFTER.get(op, COMPARED[op])
    return COMPARED[op]


def _denied_words(condition: ex.Expression) -> str:
    """`its price is not above 10`"""
    match condition:
        case ex.Comparison(op, left, right):
            return f"{value_words(left)} {_denied(_compared(op, right))} {value_words(right)}"
        case ex.In(operand, items):
            return f"{value_words(operand)} is {_none_of([*map(value_words, items)])}"
        case ex.Between(operand, low, high):
            return f"{value_words(operand)} is not {_bounds(low, high)}"
        case ex.Like(operand, pattern):
            return f"{value_words(operand)} is not like '{pattern}'"
        case ex.Regexp(operand, pattern):
            return f"{value_words(operand)} does not have the form '{pattern}'"
        case ex.Attribute():
            return f"{value_words(condition)} is false"
    return f"it is not true that {_operand_words(condition)}"


def _denied(compared: str) -> str:
    """`is not above`, and `is above` again"""
    if compared.startswith("is not "):
        return compared.replace("is not", "is", 1)
    return compared.replace("is", "is not", 1)


def _none_of(values: list[str]) -> str:
    """`neither 1 nor 2`"""
    if len(values) == 1:
        return f"not {values[0]}"
    return f"neither {listed(values, 'nor')}" if len(values) == 2 else f"none of {listed(values)}"


def _operand_words(condition: ex.Expression) -> str:
    words = condition_words(condition)
    return f"({words})" if isinstance(condition, ex.And | ex.Or) else words


def _bounds(low: ex.Expression | None, high: ex.Expression | None) -> str:
    if low is not None and high is not None:
        return f"between {value_words(low)} and {value_words(high)}"
    if low is not None:
        return f"at least {value_words(low)}"
    return "anything" if high is None else f"at most {value_words(high)}"


def value_words(value: ex.Expression) -> str:
    match value:
        case ex.Literal(literal):
            return _literal_words(literal)
        case ex.Attribute(path, None):
            return f"its {'.'.join(path)}"
        case ex.Attribute(path, variable):
            return f"the {'.'.join(path)} of {variable}"
        case ex.Aggregate("prev", variable, tuple(attribute)):
            return f"the {'.'.join(attribute)} of the {variable} before"
        case ex.Aggregate(function, variable, attribute):
            of = variable if attribute is None else f"the {'.'.join(attribute)} of {variable}"
            return f"the {AGGREGATES.get(function, function)} {of}"
        case ex.Arithmetic(op, left, right):
            return f"{value_words(left)} {SIGNS[op]} {value_words(right)}"
        case ex.Call(function, arguments):
            return f"{function}({', '.join(map(value_words, arguments))})"
    try:
        return condition_text(value)
    except TypeError:  # a node of one language alone
        return "a value"


AGGREGATES = {
    "sum": "sum of",
    "avg": "average of",
    "min": "smallest of",
    "max": "largest of",
    "count": "number of events of",
    "first": "first of",
    "last": "last of",
}
SIGNS = {"+": "plus", "-": "minus", "*": "times", "/": "divided by", "%": "modulo"}


def _literal_words(value: ex.LiteralValue) -> str:
    match value:
        case None:
            return "missing"
        case bool():
            return str(value).lower()
        case str():
            return repr(value)
        case timedelta():
            return duration_text(value // timedelta(microseconds=1))
        case datetime():
            return time_text(value)
    return f"{value:,}"


def event_words(
    noun: str,
    conditions: Sequence[ex.Expression],
    variable: str | None = None,
    *,
    many: bool = False,
) -> str:
    """`SELL (s) whose price is above 3`: what follows an article or a number."""
    name = noun if variable is None or variable == noun else f"{noun} ({variable})"
    if not conditions:
        return name
    bare = [condition_words(ex.without_variable(each)) for each in conditions]
    whose = [words.removeprefix("its ") for words in bare]
    if all(words.startswith("its ") for words in bare):
        return f"{name} whose {' and whose '.join(whose)}"
    return f"{name}{', each' if many else ''} such that {listed(bare)}"


# ---------------------------------------------------------------- clauses


def window_words(window: Window) -> str:
    match window:
        case TimeWindow(microseconds):
            return f"all within {duration_text(microseconds)}"
        case EventWindow(size):
            return f"all within {size:,} events"
        case AttributeWindow(size, attribute):
            return f"with {'.'.join(attribute)} rising by at most {size:,}"


def keys_words(paths: Iterable[tuple[str, ...]]) -> str:
    return f"all of the same {listed('.'.join(path) for path in paths)}"


def clause_words(query: AnyQuery, keys: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """The words after the pattern, part by part."""
    if keys:
        yield keys_words(keys)
    if query.window is not None:
        yield window_words(query.window)
    if query.timeouts:
        yield "and also partial matches that are not complete by then"
    if query.strategy is not Strategy.ALL:
        yield CHOSEN[query.strategy]
    if query.consume is Consume.ANY:
        yield "and after a match everything begins anew"
    if query.consume is Consume.PARTITION:
        yield "and after a match its key begins anew"
    if query.skip is not None:
        yield SKIPPED[query.skip]
    if query.limit is not None:
        matches = "one match" if query.limit == 1 else f"{query.limit:,} matches"
        yield f"with at most {matches} for each last event"
    if query.count:
        yield "counted, not listed"
    if query.totals:
        yield f"with {listed(map(value_words, query.totals))} over all matches"


def sentence(parts: Iterable[str]) -> str:
    """One sentence: a capital letter, commas between the parts, a full stop."""
    text = ", ".join(part for part in parts if part)
    begin = len(text) - len(text.lstrip("("))
    return f"{text[:begin]}{text[begin : begin + 1].upper()}{text[begin + 1 :]}." if text else ""
