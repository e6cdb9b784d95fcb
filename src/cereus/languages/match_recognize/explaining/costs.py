"""Finds what may make a clause slow, as far as its text shows."""

from __future__ import annotations

from collections.abc import Iterator

from cereus.expr import tree as ex
from cereus.languages.match_recognize import tree
from cereus.languages.match_recognize.match.program import RowAutomaton
from cereus.languages.match_recognize.print import pattern_text

COUNTS = frozenset(("count", "count_if", "sum", "avg"))
"""Aggregates whose value depends on which of many rows were mapped to a variable."""
WIDE = frozenset(
    ("stddev", "stddev_pop", "stddev_samp", "variance", "var_pop", "var_samp", "percentile")
)
"""Aggregates that a few rows may change as much as many."""
COMPILED = COUNTS | {
    *("min", "max", "bool_and", "bool_or", "every", "arbitrary", "any_value", "max_by", "min_by"),
    *WIDE,
}
"""Aggregates that the compiled kernel computes."""
SEARCHED = (
    "slow: a condition of DEFINE asks for what the compiled kernel does not compute (lists, parts "
    "of texts, percentiles of a variable that comes again, aggregates of what is computed from "
    "CLASSIFIER() or MATCH_NUMBER()); runs are tried one by one, in Python, and "
    "Limits(steps_per_event=…) says when to stop"
)


def is_searched(clause: tree.Clause, automaton: RowAutomaton) -> bool:
    """Whether the text alone shows that a clause is searched in Python."""
    return any(
        not _is_distinct(node, clause, automaton)
        if isinstance(node, tree.Taken)
        else isinstance(node, tree.Aggregate) and not _is_compiled(node, clause, automaton)
        for each in clause.define
        for node in _not_rewritten(each.condition)
    )


def _not_rewritten(condition: ex.Expression) -> Iterator[ex.Expression]:
    """A condition and its parts, without those that are computed in another way
    (`match/rewriting.py`)."""
    parts = [condition]
    while parts:
        part = parts.pop()
        if not _is_rewritten(part):
            yield part
            parts.extend(() if isinstance(part, tree.Taken) else part.children())


def _is_rewritten(node: ex.Expression) -> bool:
    match node:
        case tree.Taken("cardinality", tree.Aggregate("array_agg")):
            return True
        case tree.Taken("element_at", tree.Aggregate("array_agg", (list_of,)), (key,)):
            return bool(key.value) and not any(map(_is_of_match_only, list_of.walk()))
        case tree.Aggregate("count" | "sum" | "avg" | "min" | "max", (tree.MatchNumber(),)):
            return True
        case tree.Aggregate("min" | "max", (tree.Classifier(),)):
            return True
        case ex.Like(text) | ex.IsNull(text) | ex.In(text):
            return _is_text(text)
        case ex.Comparison("=" | "!=", left, right):
            return any(
                _is_text(text) and isinstance(other, ex.Literal)
                for text, other in ((left, right), (right, left))
            )
    return False


def _is_text(node: ex.Expression) -> bool:
    """Whether this is a text of several rows whose states can be remembered."""
    match node:
        case tree.Aggregate("string_agg" | "listagg"):
            read: tuple[ex.Expression, ...] = node.arguments
        case tree.Taken("array_join", tree.Aggregate("array_agg", arguments)):
            read = arguments
        case _:
            return False
    return not any(isinstance(each, tree.MatchNumber) for of in read for each in of.walk())


def _is_distinct(node: tree.Taken, clause: tree.Clause, automaton: RowAutomaton) -> bool:
    """Whether this counts the different values of rows that lie together."""
    match node:
        case tree.Taken(
            "cardinality",
            tree.Taken("array_distinct", tree.Aggregate("array_agg", (list_of,)) as of),
        ):
            of_match = any(map(_is_of_match_only, list_of.walk()))
            return not of_match and _lie_together(of, clause, automaton)
    return False


def _is_of_match_only(node: ex.Expression) -> bool:
    return isinstance(node, tree.MatchNumber | tree.Classifier)


def _is_compiled(node: tree.Aggregate, clause: tree.Clause, automaton: RowAutomaton) -> bool:
    if node.function not in COMPILED or _is_of_match(node):
        return False
    return node.function != "percentile" or _lie_together(node, clause, automaton)


def _lie_together(node: tree.Aggregate, clause: tree.Clause, automaton: RowAutomaton) -> bool:
    """Whether the rows of an aggregate are consecutive."""
    members = clause.members(_variable(node))
    return automaton.lie_together({q for q, name in enumerate(automaton.labels) if name in members})


def _variable(node: tree.Aggregate) -> str | None:
    """The variable that an aggregate is about."""
    named = (
        each.variable
        for argument in node.arguments
        for each in argument.walk()
        if isinstance(each, ex.Attribute)
    )
    return node.variable or next(named, None)


def _is_of_match(aggregate: tree.Aggregate) -> bool:
    """Whether an aggregate is over something that only the match decides about a row, and is not
    added up."""
    added = aggregate.function in (*COUNTS, "bool_and", "bool_or", "every")
    return any(
        isinstance(node, tree.MatchNumber) or (isinstance(node, tree.Classifier) and not added)
        for argument in aggregate.arguments
        for node in argument.walk()
    )


def cost_warnings(clause: tree.Clause) -> Iterator[str]:
    """Warnings about what may take long, or have many runs."""
    yield from _ways(clause)
    yield from _long_waits(clause)
    yield from _keys(clause)


def _keys(clause: tree.Clause) -> Iterator[str]:
    """Warnings about endless loops over all rows in one partition, where conditions need rows to be
    equal in a column."""
    if clause.partition or not _endless(clause):
        return
    for each in clause.define:
        for node in _unnegated(each.condition):
            match node:
                case ex.Comparison(
                    "=", ex.Attribute((left,), here), ex.Attribute((right,), there)
                ) if left == right and (here or each.variable) != (there or each.variable):
                    yield (
                        f"rows of all values of {left} are one partition, and {each.variable} "
                        f"compares them: PARTITION BY {left} is faster, if rows of other values "
                        "are not to be part of a match"
                    )
                    return


def _unnegated(condition: ex.Expression) -> Iterator[ex.Expression]:
    """A condition and its parts, without those inside NOT."""
    parts = [condition]
    while parts:
        part = parts.pop()
        yield part
        if not isinstance(part, ex.Not):
            parts.extend(part.children())


def _long_waits(clause: tree.Clause) -> Iterator[str]:
    """Warnings about endless loops whose end depends on all of their rows in a way that blocks of
    rows have no narrow bounds for."""
    if clause.within is not None:
        return
    endless = _endless(clause)
    for each in clause.define:
        of = [members & endless for members in _wide_aggregates(clause, each.condition)]
        if any(names and each.variable not in names for names in of):
            yield (
                f"a start may read all rows behind it: what {each.variable} waits for depends on "
                "all rows of a loop without an end; WITHIN or {n,m} bounds the wait, and "
                "Limits(steps_per_event=…) says when to stop"
            )
            return


def _endless(clause: tree.Clause) -> set[str]:
    """The variables in loops without an end."""
    return {
        node.name
        for loop in clause.pattern.walk()
        if isinstance(loop, tree.Quantified) and loop.high is None
        for node in loop.part.walk()
        if isinstance(node, tree.Variable)
    }


def _wide_aggregates(clause: tree.Clause, condition: ex.Expression) -> list[frozenset[str]]:
    """The variables of the spreads and percentiles in a condition, and of its means if there are
    those of several, or something has to equal them."""
    over = [node for node in condition.walk() if isinstance(node, tree.Aggregate)]
    means = {clause.members(_variable(node)) for node in over if node.function == "avg"}
    wide = [clause.members(_variable(node)) for node in over if node.function in WIDE]
    equal = any(
        isinstance(side, tree.Aggregate) and side.function == "avg"
        for node in condition.walk()
        if isinstance(node, ex.Comparison) and node.op == "="
        for side in (node.left, node.right)
    )
    return [*wide, *(means if len(means) > 1 or equal else ())]


def _ways(clause: tree.Clause) -> Iterator[str]:
    """Warnings about loops in which a row may go one way or another, where conditions add up one of
    these: each way has a sum of its own, and in the worst case their number doubles with every
    row."""
    added = {
        clause.members(_variable(node))
        for each in clause.define
        for node in each.condition.walk()
        if isinstance(node, tree.Aggregate) and node.function in COUNTS
    }
    for loop in clause.pattern.walk():
        if not isinstance(loop, tree.Quantified) or loop.high in (0, 1):
            continue
        inside = {node.name for node in loop.part.walk() if isinstance(node, tree.Variable)}
        apart = any(inside & members and inside - members for members in added)
        if (
            apart
            and any(map(_has_ways, loop.part.walk()))
            and not _are_distinguished(clause, inside)
        ):
            yield (
                f"runs may multiply with every row: in {pattern_text(loop)} a row may be mapped "
                "to one variable or another, and conditions add up only some of these; "
                "Limits(configurations=…) says when to stop"
            )
            return


def _are_distinguished(clause: tree.Clause, names: set[str]) -> bool:
    """Whether variables need different values of one column, so that no row can be two of them."""
    conditions = {each.variable: each.condition for each in clause.define}
    values = [dict(_equalities(conditions[name])) if name in conditions else {} for name in names]
    return any(
        all(column in each for each in values)
        and len({each[column] for each in values}) == len(values)
        for column in values[0]
    )


def _equalities(condition: ex.Expression) -> Iterator[tuple[str, object]]:
    """The columns that must equal a value, in a conjunction."""
    match condition:
        case ex.And(operands):
            for each in operands:
                yield from _equalities(each)
        case ex.Comparison("=", ex.Attribute((name,), None), ex.Literal(value)):
            yield name, value


def _has_ways(node: tree.Pattern) -> bool:
    return isinstance(node, tree.Alternation | tree.Permutation) or (
        isinstance(node, tree.Quantified) and node.low != node.high
    )
