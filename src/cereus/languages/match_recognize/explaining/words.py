"""A MATCH_RECOGNIZE clause in plain English."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

from cereus.explain.phrases import (
    any_order_words,
    choice_words,
    condition_words,
    keys_words,
    listed,
    number_word,
    sentence,
)
from cereus.expr import tree as ex
from cereus.expr.tree import conjuncts
from cereus.languages.match_recognize import tree
from cereus.languages.match_recognize.print import value_text
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
    rows = [f"{name} is {_row(defined.get(name), name)}" for name in clause.variables()]
    subsets = [f"{each.name} is {listed(each.members, 'or')}" for each in clause.subsets]
    if rows or subsets:
        yield "where " + ", and ".join([*rows, *subsets])
    if clause.order:
        yield f"in the order of {listed(map(_order, clause.order))}"
    if clause.partition:
        yield keys_words(clause.partition)
    if clause.within is not None:
        length = duration_text(clause.within.length // timedelta(microseconds=1))
        yield f"all in less than {length}"


def _row(condition: ex.Expression | None, name: str) -> str:
    """`a row whose price is below the price of the row before`"""
    if condition is None:
        return "any row"
    conditions = [_condition(part, name) for part in conjuncts(condition)]
    if all(each.startswith("its ") for each in conditions):
        whose = " and whose ".join(each.removeprefix("its ") for each in conditions)
        return f"a row whose {whose}"
    return f"a row such that {listed(conditions)}"


def _order(column: tree.Order) -> str:
    return ".".join(column.path) + (", the largest first" if column.descending else "")


def _output(clause: tree.Clause) -> Iterator[str]:
    yield f"emit {ROWS[clause.rows]}"
    if clause.measures:
        yield f"with {listed(f'{value_text(m.value)} as {m.name}' for m in clause.measures)}"
    yield f"and go on {_skip(clause.skip)}"


def _skip(skip: tree.Skip) -> str:
    match skip.to:
        case tree.SkipTo.PAST_LAST_ROW:
            return "after the match"
        case tree.SkipTo.NEXT_ROW:
            return "at the row after its first"
        case tree.SkipTo.FIRST:
            return f"at the first {skip.variable}"
    return f"at the last {skip.variable}"


def _part(node: tree.Pattern) -> str:
    match node:
        case tree.Variable(name):
            return f"one {name}"
        case tree.Concatenation((tree.PartitionStart(), *rest)) if rest:
            return f"from the very first row on, {_part(tree.Concatenation(tuple(rest)))}"
        case tree.Concatenation((*rest, tree.PartitionEnd())) if rest:
            return f"{_part(tree.Concatenation(tuple(rest)))}, up to the very last row"
        case tree.Concatenation(parts):
            return ", then ".join(map(_part, parts))
        case tree.Alternation(parts):
            return choice_words(map(_part, parts))
        case tree.Permutation(parts):
            return any_order_words(map(_part, parts))
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
    if low == 0:
        return f"up to {number_word(high)}"
    return f"{number_word(low)} to {number_word(high)}"


def _condition(part: ex.Expression, name: str) -> str:
    def bare(node: ex.Expression) -> ex.Expression:
        match node:
            case ex.Attribute(_, variable):
                return replace(node, variable=None) if variable == name else node
            case tree.Step(_, ex.Attribute() as column) if _is_plain(node):
                return _of_row(node, column, name)
            case tree.Aggregate(function, (ex.Attribute((column,), str()) as read,)) if (
                function in TOTALS and node.semantics is None
            ):
                return replace(read, path=(f"{TOTALS[function]} {column}",))
        return node if isinstance(node, SPECIAL) else ex.rebuild(node, bare)

    plain = bare(part)
    if any(isinstance(node, SPECIAL) for node in plain.walk()):
        return value_text(part)
    return condition_words(plain)


def _is_plain(step: tree.Step) -> bool:
    """Whether a step has a plain name in English: some rows away, or the first or last of a
    variable."""
    if step.function in NEIGHBOURS:
        return step.offset != 0
    return step.offset is None and step.semantics is None


def _of_row(step: tree.Step, column: ex.Attribute, name: str) -> ex.Expression:
    """A column of another row, named as words say it: `the price of the row before`."""
    if step.function in NEIGHBOURS:
        known = column.variable in (None, name)
        far = "" if step.offset is None or step.offset == 1 else f"{number_word(step.offset)} "
        row = f"the row {far}{NEIGHBOURS[step.function]}"
        return replace(column, variable=row if known else f"{row} the last {column.variable}")
    return replace(column, variable=f"the {step.function.lower()} {column.variable or 'row'}")


NEIGHBOURS = {"PREV": "before", "NEXT": "behind"}
TOTALS = {"sum": "total", "avg": "average", "min": "smallest", "max": "largest"}
SPECIAL = (tree.Step, tree.Aggregate, tree.Classifier, tree.MatchNumber, tree.Taken)
