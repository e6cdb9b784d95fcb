"""The meaning of MATCH_RECOGNIZE, in plain Python: slow and obvious. The engine is compared with
it. A pattern is a program whose choices are tried in order of preference; the first way through it
whose conditions hold is the match (SQL:2016, R010; ISO/IEC 19075-5, sections 4 to 7)."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cmp_to_key
from itertools import permutations
from typing import Any

from cereus.errors import DataError
from cereus.expr import tree as ex
from cereus.languages.match_recognize import tree
from cereus.reference import match_recognize_lists as lists
from cereus.reference.conditions import Known, compare, evaluate, read

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Match:
    """Rows `start` to `start + len(labels)` of a partition; `excluded` are inside `{- -}`."""

    start: int
    labels: tuple[str, ...]
    excluded: tuple[bool, ...]
    number: int | None = 0
    waiting_for: str | None = None
    """The variables that a match which timed out waited for; None for a complete one."""


@dataclass(frozen=True)
class View:
    """A match, or the beginning of one, seen from its row `current` (None: it has no rows)."""

    clause: tree.Clause
    rows: Sequence[Row]
    match: Match
    current: int | None


def run(clause: tree.Clause, rows: Sequence[Row], columns: Sequence[str]) -> list[dict[str, Any]]:
    """The rows that the clause emits, partition by partition."""
    emitted: list[dict[str, Any]] = []
    for partition in _partitions(clause, rows):
        emitted += _partition(clause, partition, columns)
    return emitted


def _partitions(clause: tree.Clause, rows: Sequence[Row]) -> list[list[Row]]:
    groups: dict[Any, list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(read(row, path) for path in clause.partition), []).append(row)
    return [sorted(group, key=cmp_to_key(_comparison(clause))) for group in groups.values()]


def _comparison(clause: tree.Clause) -> Callable[[Row, Row], int]:
    def compared(left: Row, right: Row) -> int:
        for order in clause.order:
            a, b = read(left, order.path), read(right, order.path)
            if a is None or b is None:
                if (a is None) != (b is None):
                    return 1 if (a is None) != bool(order.nulls_first) else -1
            elif a != b:
                return 1 if (a > b) != order.descending else -1
        return 0

    return compared


def _partition(
    clause: tree.Clause, rows: Sequence[Row], columns: Sequence[str]
) -> Iterator[dict[str, Any]]:
    covered: set[int] = set()
    for start, match in search(clause, rows):
        if match is None:
            if clause.rows is tree.Rows.UNMATCHED and start not in covered:
                yield _output(clause, rows[start], columns, None)
            continue
        covered.update(range(start, start + len(match.labels)))
        if not match.labels:
            if clause.rows is not tree.Rows.OMIT:
                view = View(clause, rows, match, None)
                yield _output(clause, rows[start], columns, view)
        elif clause.rows is tree.Rows.ONE:
            last = start + len(match.labels) - 1
            yield _output(clause, rows[last], columns, View(clause, rows, match, last))
        else:
            for at in range(start, start + len(match.labels)):
                if not match.excluded[at - start]:
                    yield _output(clause, rows[at], columns, View(clause, rows, match, at))


def _output(
    clause: tree.Clause, row: Row, columns: Sequence[str], view: View | None
) -> dict[str, Any]:
    every = clause.rows is not tree.Rows.ONE
    first = [path[0] for path in clause.partition]
    first += [order.path[0] for order in clause.order] if every else []
    cells = [(name, row[name]) for name in first]
    for measure in clause.measures:
        cells.append((measure.name, value(measure.value, view) if view else None))
    if _reports_timeouts(clause):
        cells += _timed_out(clause, view).items()
    if every:
        cells += [(name, row[name]) for name in columns if name not in first]
    return _named(cells)


def _named(cells: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """The cells by name. A column that PARTITION BY and ORDER BY name twice comes twice, the second
    time with a number after its name."""
    names = {name for name, _ in cells}
    output: dict[str, Any] = {}
    for name, cell in cells:
        free = name
        for n in range(1, len(cells)):
            if free not in output:
                break
            free = f"{name}_{n}" if f"{name}_{n}" not in names else free
        output[free] = cell
    return output


# ---------------------------------------------------------------- the search


def search(clause: tree.Clause, rows: Sequence[Row]) -> Iterator[tuple[int, Match | None]]:
    """Every row at which a match is looked for, and the match there."""
    program = compiled(clause.pattern)
    position, number, reported = 0, 1, 0
    while position < len(rows):
        attempts = ways(clause, program, rows, position, number)
        match = next(attempts, None)
        if match is None and _reports_timeouts(clause):
            # under SKIP TO NEXT ROW from every start; otherwise not from rows that were emitted in
            # this way before
            late = partial(clause, program, rows, position, number)
            if late and (position >= reported or clause.skip.to is tree.SkipTo.NEXT_ROW):
                reported = position + len(late.labels)
                yield position, late
        else:
            yield position, match
        if match is None:
            position += 1
        else:
            position = _skipped(clause, match)
            number += 1


def _skipped(clause: tree.Clause, match: Match) -> int:
    skip = clause.skip
    if not match.labels or skip.to is tree.SkipTo.NEXT_ROW:
        return match.start + 1
    if skip.to is tree.SkipTo.PAST_LAST_ROW:
        return match.start + len(match.labels)
    members = clause.members(skip.variable)
    places = [at for at, label in enumerate(match.labels) if label in members]
    if not places:
        raise DataError(f"AFTER MATCH SKIP: no row of the match is mapped to {skip.variable}")
    place = places[0 if skip.to is tree.SkipTo.FIRST else -1]
    if place == 0:
        raise DataError(f"AFTER MATCH SKIP: {skip.variable} is the first row of the match")
    return match.start + place


Instruction = tuple[Any, ...]
"""("row", variable, excluded) | ("fork", first, second) | ("start",) | ("end",) | ("done",)"""


def compiled(pattern: tree.Pattern) -> list[Instruction]:
    """The program of a pattern. Rounds are copied; `x+` is its body followed by the fork."""
    program: list[Instruction] = []

    def add(node: tree.Pattern, excluded: bool) -> None:
        match node:
            case tree.Variable(name):
                program.append(("row", name, excluded))
            case tree.PartitionStart():
                program.append(("start",))
            case tree.PartitionEnd():
                program.append(("end",))
            case tree.Concatenation(parts):
                for part in parts:
                    add(part, excluded)
            case tree.Alternation(parts):
                choose(parts, excluded)
            case tree.Permutation(parts):
                choose(_orders(parts), excluded)
            case tree.Exclusion(part):
                add(part, True)
            case tree.Quantified(part, low, high, reluctant):
                repeat(part, low, high, reluctant, excluded)

    def choose(parts: Sequence[tree.Pattern], excluded: bool) -> None:
        if len(parts) == 1:
            return add(parts[0], excluded)
        here = len(program)
        program.append(())
        add(parts[0], excluded)
        jump = len(program)
        program.append(())
        program[here] = ("fork", here + 1, jump + 1)
        choose(parts[1:], excluded)
        program[jump] = ("fork", len(program), len(program))

    def fork(here: int, into: int, past: int, reluctant: bool) -> None:
        program[here] = ("fork", past, into) if reluctant else ("fork", into, past)

    def repeat(
        part: tree.Pattern, low: int, high: int | None, reluctant: bool, excluded: bool
    ) -> None:
        begin = len(program)
        for _ in range(low):
            begin = len(program)
            add(part, excluded)
        if high is None:
            entry = len(program)
            if low == 0:
                program.append(())
                begin = len(program)
                add(part, excluded)
            program.append(())
            fork(len(program) - 1, begin, len(program), reluctant)
            if low == 0:
                fork(entry, begin, len(program), reluctant)
            return
        forks = []
        for _ in range(high - low):
            forks.append(len(program))
            program.append(())
            add(part, excluded)
        for each in forks:
            fork(each, each + 1, len(program), reluctant)

    add(pattern, False)
    return [*program, ("done",)]


def _orders(parts: tuple[tree.Pattern, ...]) -> list[tree.Pattern]:
    """The orders of PERMUTE, the preferred first. If no part has choices, orders that begin alike
    are one partial match so far, which waits for any of the other parts."""
    if any(_is_choice(node) for part in parts for node in part.walk()):
        return [tree.Concatenation(order) for order in permutations(parts)]
    rests = ((part, (*parts[:n], *parts[n + 1 :])) for n, part in enumerate(parts))
    return [
        tree.Concatenation((part, tree.Permutation(rest))) if rest else part for part, rest in rests
    ]


def _is_choice(node: tree.Pattern) -> bool:
    if isinstance(node, tree.Quantified):
        return node.low != node.high
    return isinstance(node, tree.Alternation | tree.Permutation)


def ways(
    clause: tree.Clause,
    program: Sequence[Instruction],
    rows: Sequence[Row],
    start: int,
    number: int,
    *,
    partial: bool = False,
) -> Iterator[Match]:
    """All matches at a row, those of higher preference first. No instruction is entered twice at
    one row: rounds that read nothing end there. With `partial`, the beginnings that wait for a row
    when their window ends, instead."""
    conditions = {each.variable: each.condition for each in clause.define}
    pending: list[tuple[int, Match, frozenset[int], int]] = [
        (0, Match(start, (), (), number), frozenset(), 0)
    ]
    while pending:
        at, match, entered, behind = pending.pop()
        if at in entered:
            continue
        entered |= {at}
        row = start + len(match.labels)
        match program[at]:
            case ("done",) if not partial:
                yield match
            case ("row", _, _) if (
                partial
                and match.labels
                and not (row < len(rows) and _in_time(clause, rows, start, row))
            ):
                names = " or ".join(_next_variables(program, behind))
                yield replace(match, number=None, waiting_for=names)
            case ("start",) if row == 0:
                pending.append((at + 1, match, entered, behind))
            case ("end",) if row == len(rows) and not partial:
                pending.append((at + 1, match, entered, behind))
            case ("fork", first, second):
                pending.append((second, match, entered, behind))
                pending.append((first, match, entered, behind))
            case ("row", variable, excluded) if row < len(rows):
                longer = Match(
                    start, (*match.labels, variable), (*match.excluded, excluded), number
                )
                view = View(clause, rows, longer, row)
                condition = conditions.get(variable)
                holds = condition is None or value(condition, view) is True
                if holds and _in_time(clause, rows, start, row):
                    pending.append((at + 1, longer, frozenset(), at + 1))


def _reports_timeouts(clause: tree.Clause) -> bool:
    return clause.within is not None and clause.within.timeouts


def partial(
    clause: tree.Clause,
    program: Sequence[Instruction],
    rows: Sequence[Row],
    start: int,
    number: int,
) -> Match | None:
    """The most preferred beginning of a match that still waits for a row when its window ends:
    the next row is outside it, or there is none."""
    return next(ways(clause, program, rows, start, number, partial=True), None)


def _next_variables(program: Sequence[Instruction], at: int) -> list[str]:
    """The variables that may be read next, the preferred first."""
    variables: dict[str, None] = {}
    pending, entered = [at], set[int]()
    while pending:
        here = pending.pop()
        if here in entered:
            continue
        entered.add(here)
        match program[here]:
            case ("fork", first, second):
                pending += [second, first]
            case ("row", variable, _):
                variables[variable] = None
    return list(variables)


def _timed_out(clause: tree.Clause, view: View | None) -> dict[str, Any]:
    match = view.match if view else None
    if view is None or match is None or match.waiting_for is None or clause.within is None:
        return dict.fromkeys(tree.TIMEOUTS) | {"timed_out": False}
    began = read(view.rows[match.start], clause.order[0].path)
    cells = (True, match.labels[-1], match.waiting_for, began + clause.within.length)
    return dict(zip(tree.TIMEOUTS, cells, strict=True))


def _in_time(clause: tree.Clause, rows: Sequence[Row], start: int, row: int) -> bool:
    if clause.within is None:
        return True
    first, last = (read(rows[at], clause.order[0].path) for at in (start, row))
    in_time: bool = last - first < clause.within.length
    return in_time


# ---------------------------------------------------------------- values


def value(node: ex.Expression, view: View) -> Any:
    """The value of an expression: parts about the match are looked up, the rest is a condition."""
    return evaluate(_looked_up(node, view), {})


def _looked_up(node: ex.Expression, view: View) -> ex.Expression:
    match node:
        case ex.Attribute() | tree.Classifier() | tree.Step():
            return Known(_navigated(node, view))
        case tree.Aggregate(function, arguments, star, variable, semantics):
            of = variable if star else _variable(*arguments)
            rows = _places(of, semantics is tree.Semantics.FINAL, view)
            return Known(len(rows) if star else _over(function, arguments, rows, view))
        case tree.Taken(function, collection, arguments):
            values = _looked_up(collection, view)
            assert isinstance(values, Known)
            return Known(lists.taken(function, values.value, [a.value for a in arguments]))
        case tree.MatchNumber():
            return Known(view.match.number)
    return ex.rebuild(node, lambda child: _looked_up(child, view))


def _navigated(node: ex.Expression, view: View) -> Any:
    """The value at another row: PREV and NEXT move from the row that the FIRST or LAST inside them
    found."""
    shift = 0
    if isinstance(node, tree.Step) and node.function in ("PREV", "NEXT"):
        shift = 1 if node.offset is None else node.offset
        shift, node = (-shift if node.function == "PREV" else shift), node.argument
    first, offset, final, argument = False, 0, False, node
    if isinstance(node, tree.Step):
        first, offset, argument = node.function == "FIRST", node.offset or 0, node.argument
        final = node.semantics is tree.Semantics.FINAL
    places = _places(_variable(argument), final, view)
    if offset >= len(places):
        return None
    row = places[offset if first else -1 - offset] + shift
    return _of_row(argument, row, view) if 0 <= row < len(view.rows) else None


def _variable(*arguments: ex.Expression) -> str | None:
    """The one variable that the arguments are about; None for all rows."""
    for argument in arguments:
        for node in argument.walk():
            if isinstance(node, ex.Attribute | tree.Classifier):
                return node.variable
    return None


def _places(variable: str | None, final: bool, view: View) -> list[int]:
    """The rows of the match mapped to a variable, up to the current one or all of them."""
    if view.current is None:
        return []
    members = view.clause.members(variable)
    last = None if final else view.current - view.match.start + 1
    labels = enumerate(view.match.labels[:last], view.match.start)
    return [row for row, label in labels if label in members]


def _of_row(argument: ex.Expression, row: int, view: View) -> Any:
    def named(node: ex.Expression) -> ex.Expression:
        match node:
            case tree.Classifier():
                at = row - view.match.start
                inside = 0 <= at < len(view.match.labels)
                return Known(view.match.labels[at] if inside else None)
            case tree.MatchNumber():
                return Known(view.match.number)
            case ex.Attribute(path):
                return Known(read(view.rows[row], path))
        return ex.rebuild(node, named)

    return evaluate(named(argument), {})


def _over(
    function: str, arguments: Sequence[ex.Expression], rows: Sequence[int], view: View
) -> Any:
    every, *more = ([_of_row(each, row, view) for row in rows] for each in arguments)
    if function in lists.COLLECTED:
        return lists.collected(function, every, more)
    if function in ("max_by", "min_by"):
        return _at_extreme(function, every, more[0])
    known = [each for each in every if each is not None]
    match function:
        case "count":
            return len(known)
        case "count_if":
            return sum(known)
    if not known:
        return None
    match function:
        case "sum":
            total = sum(known)
            return None if type(total) is int and not -(2**63) <= total < 2**63 else total
        case "avg":
            return sum(known) / len(known)
        case "min":
            return _extreme("<", known)
        case "max":
            return _extreme(">", known)
        case "string_agg" | "listagg":
            return (more[0][0] if more else "").join(known)
        case "percentile":
            return _percentile(known, more[0][0])
        case "variance" | "var_samp" | "stddev" | "stddev_samp":
            spread = _spread(statistics.variance, known) if len(known) > 1 else None
            return spread if spread is None or function.startswith("var") else spread**0.5
        case "var_pop" | "stddev_pop":
            return _spread(
                statistics.pvariance if function == "var_pop" else statistics.pstdev, known
            )
        case "bool_and" | "every":
            return all(known)
        case "bool_or":
            return any(known)
        case "arbitrary" | "any_value":
            return known[0]
    raise DataError(f"unknown aggregate {function}")


def _percentile(known: Sequence[Any], part: float) -> float | None:
    """percentile_cont: row number 1 + p (n - 1), between two rows in proportion."""
    ranked = sorted(float(each) for each in known if each == each)
    if not ranked:
        return None
    place = part * (len(ranked) - 1)
    low = int(place)
    high = min(low + 1, len(ranked) - 1)
    if ranked[low] == ranked[high] or place == low:
        return ranked[low]
    return (low + 1 - place) * ranked[low] + (place - low) * ranked[high]


def _spread(of: Callable[[Sequence[Any]], float], known: Sequence[Any]) -> float:
    """A spread; NaN if a number is infinite: it is infinitely far from the mean, which is
    infinite."""
    return of(known) if all(map(math.isfinite, known)) else math.nan


def _at_extreme(function: str, every: list[Any], compared: list[Any]) -> Any:
    """The value where another is greatest or least; of several, the first."""
    best = None
    for row, other in enumerate(compared):
        if (
            other is not None
            and other == other
            and (
                best is None or compare(">" if function == "max_by" else "<", other, compared[best])
            )
        ):
            best = row
    return None if best is None else every[best]


def _extreme(op: str, known: list[Any]) -> Any:
    """The least or greatest; a number comes before NaN."""
    best = known[0]
    for each in known[1:]:
        if best != best or compare(op, each, best):
            best = each
    return best
