"""What a MATCH_RECOGNIZE clause asks, in plain English."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

from cereus.explain.phrases import (
    condition_words,
    keys_words,
    listed,
    number_word,
    sentence,
)
from cereus.expr import tree as ex
from cereus.languages.match_recognize import tree
from cereus.languages.match_recognize.print import value_text
from cereus.plan.tests import conjuncts
from cereus.syntax.literals import duration_text

ROWS = {
    tree.Rows.ONE: "one row for each match",
    tree.Rows.SHOW: "every row of a match",
    tree.Rows.OMIT: "every row of a match that is not empty",
    tree.Rows.UNMATCHED: "every row, matched or not",
}


def words(clause: tree.Clause) -> str:
    return " ".join([sentence(_matching(clause)), sentence(_output(clause))])


def _matching(clause: tree.Clause) -> Iterator[str]:
    yield f"in rows that follow one another, {_part(clause.pattern)}"
    defined = {each.variable: each.condition for each in clause.define}
    for name in clause.variables():
        if name in defined:
            asked = (_condition(part, name) for part in conjuncts(defined[name]))
            yield f"where {name} is a row such that {listed(asked)}"
    if clause.order:
        yield f"in the order of {listed('.'.join(each.path) for each in clause.order)}"
    if clause.partition:
        yield keys_words(clause.partition)
    if clause.within is not None:
        length = duration_text(clause.within.length // timedelta(microseconds=1))
        yield f"all in less than {length}"


def _output(clause: tree.Clause) -> Iterator[str]:
    yield f"emit {ROWS[clause.rows]}"
    if clause.measures:
        yield f"with {listed(f'{value_text(m.value)} as {m.name}' for m in clause.measures)}"
    yield f"and go on {_skip(clause.skip)}"


def _skip(skip: tree.Skip) -> str:
    match skip.to:
        case tree.SkipTo.PAST_LAST_ROW:
            return "behind the match"
        case tree.SkipTo.NEXT_ROW:
            return "at the row behind its first"
        case tree.SkipTo.FIRST:
            return f"at the first {skip.variable}"
    return f"at the last {skip.variable}"


def _part(node: tree.Pattern) -> str:
    match node:
        case tree.Variable(name):
            return f"one {name}"
        case tree.Concatenation(parts):
            return ", then ".join(map(_part, parts))
        case tree.Alternation(parts):
            return "either " + listed(map(_part, parts), "or")
        case tree.Permutation(parts):
            return f"{listed(map(_part, parts))} in any order"
        case tree.Quantified(part, low, high):
            phrase = _part(part)
            few = " (as few as possible)" if node.reluctant else ""
            inner = (
                phrase.removeprefix("one ") if isinstance(part, tree.Variable) else f"({phrase})"
            )
            return f"{_times(low, high)} {inner}{few}"
        case tree.Exclusion(part):
            return f"{_part(part)} (left out of the output)"
        case tree.PartitionStart():
            return "at the very first row"
        case tree.PartitionEnd():
            return "at the very last row"
    return "nothing"


def _times(low: int, high: int | None) -> str:
    if high is None:
        return "any number of" if low == 0 else f"{number_word(low)} or more"
    if (low, high) == (0, 1):
        return "an optional"
    if low == high:
        return number_word(low)
    return f"{number_word(low)} to {number_word(high)}"


def _condition(part: ex.Expression, name: str) -> str:
    if any(isinstance(node, SPECIAL) for node in part.walk()):
        return value_text(part)

    def bare(node: ex.Expression) -> ex.Expression:
        if isinstance(node, ex.Attribute) and node.variable == name:
            return replace(node, variable=None)
        return node if isinstance(node, ex.Attribute) else ex.rebuild(node, bare)

    return condition_words(bare(part))


SPECIAL = (tree.Step, tree.Aggregate, tree.Classifier, tree.MatchNumber)
