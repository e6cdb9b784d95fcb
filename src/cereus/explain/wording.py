"""Tests, letters and labels in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import and_, or_

from cereus.automata.model import NOTHING, PLACE_ONLY, Label, unstamped
from cereus.automata.selection import BEGINS_UNSEEN
from cereus.expr.print import condition_text
from cereus.expr.tree import Comparison, Expression, IsNull, Not, conjunction
from cereus.plan.tests import EventTest
from cereus.syntax.literals import quote_name


def several(count: int, what: str) -> str:
    """`1 value`, `2 values`"""
    return f"{count} {what}{'' if count == 1 else 's'}"


def test_text(test: EventTest) -> str:
    """`SELL where volume >= 1000`, `any event of S1`, `not (BUY where price > 3)`"""
    name = "any event" if test.type is None else quote_name(test.type)
    if test.stream is not None:
        name += f" of {quote_name(test.stream)}"
    condition = conjunction(map(_in_words, test.conditions))
    if condition is not None:
        name += f" where {condition_text(condition)}"
    return f"not ({name})" if test.negated else name


def _in_words(condition: Expression) -> Expression:
    """`x IS NOT NULL` for `x = x`, which is the rest of an equality that became a key."""
    match condition:
        case Comparison("=", left, right) if left == right:
            return Not(IsNull(left))
    return condition


def letters_text(chosen: Iterable[int], letters: Iterable[int], names: Sequence[str]) -> str:
    """Some letters described by what they have in common: `t1`, `t1 and not t2`, `any event`.

    `names` are those of the tests; if no conjunction describes them, the letters are listed.
    """
    some, all_ = frozenset(chosen), frozenset(letters)
    if some == all_:
        return "any event"
    if some == {0}:
        return "no test passed"
    passed = reduce(and_, some)
    failed = ~reduce(or_, some) & ((1 << len(names)) - 1)
    apart = {letter & failed | passed & ~letter for letter in all_ - some}
    if 0 in apart:  # one that is not among them passes and fails what they do
        return " or ".join(_letter_text(letter, names) for letter in sorted(some))
    needed = _needed(passed | failed, passed, apart)
    texts = [name for bit, name in enumerate(names) if (needed & passed) >> bit & 1]
    texts += [f"not {name}" for bit, name in enumerate(names) if (needed & failed) >> bit & 1]
    return " and ".join(texts)


def _needed(tests: int, passed: int, apart: set[int]) -> int:
    """Fewer of the tests that distinguish some letters from all others: failed tests are dropped
    first. `apart` has, for each of the others, the tests by which it differs."""
    bits = [bit for bit in range(tests.bit_length()) if tests >> bit & 1]
    for bit in sorted(bits, key=lambda bit: (not passed >> bit & 1, bit), reverse=True):
        alone = 1 << bit
        if alone not in apart and tests != alone:
            tests &= ~alone
            apart = {differs & ~alone for differs in apart}
    return tests


def _letter_text(letter: int, names: Sequence[str]) -> str:
    passed = [name for bit, name in enumerate(names) if letter >> bit & 1]
    return f"({'+'.join(passed)})" if len(passed) > 1 else (passed or ["no test passed"])[0]


def label_text(label: Label) -> str:
    """What a move does with the event it reads."""
    if label == NOTHING:
        return "skips it"
    if label == PLACE_ONLY:
        return "takes it unmarked"
    if label == BEGINS_UNSEEN:
        return "begins (not selected)"
    label = unstamped(label)
    names = sorted(name for name in label if ">" not in name) or sorted(label)
    return f"marks {', '.join(names)}"
