"""What MATCH_RECOGNIZE means, in plain Python: slow and obvious, and what the engine is compared
with. A pattern is a program whose choices are tried in order of preference; the first way through
it whose conditions hold is the match (SQL:2016, R010; ISO/IEC 19075-5, sections 4 to 7)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cmp_to_key
from itertools import permutations
from typing import Any

from cereus.errors import DataError
from cereus.lang import expression as ex
from cereus.languages.match_recognize import tree, values
from cereus.reference.conditions import compare, evaluate, read

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Match:
    """Rows `start` to `start + len(labels)` of a partition; `excluded` are inside `{- -}`."""

    start: int
    labels: tuple[str, ...]
    excluded: tuple[bool, ...]
    number: int = 0


@dataclass(frozen=True)
class View:
    """A match, or the beginning of one, seen from its row `current` (None: it has no rows)."""

    clause: tree.Clause
    rows: Sequence[Row]
    match: Match
    current: int | None


def run(clause: tree.Clause, rows: Sequence[Row], columns: Sequence[str]) -> list[dict[str, Any]]:
    """The rows that the clause puts out, partition by partition."""
    put_out: list[dict[str, Any]] = []
    for partition in _partitions(clause, rows):
        put_out += _partition(clause, partition, columns)
    return put_out


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
    found = {path[-1]: read(row, path) for path in clause.partition}
    if clause.rows is not tree.Rows.ONE:
        found |= {order.path[-1]: read(row, order.path) for order in clause.order}
    for measure in clause.measures:
        found[measure.name] = value(values.lowered(measure.value), view) if view else None
    if clause.rows is not tree.Rows.ONE:
        found |= {name: read(row, (name,)) for name in columns if name not in found}
    return found


# ---------------------------------------------------------------- the search


def search(clause: tree.Clause, rows: Sequence[Row]) -> Iterator[tuple[int, Match | None]]:
    """Every row at which a match is looked for, and the match there."""
    program = compiled(clause.pattern)
    position, number = 0, 1
    while position < len(rows):
        attempts = ways(clause, program, rows, position, number)
        match = next(attempts, None)
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
    """Rounds are copied; `x+` is its body and then the fork."""
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
                choose([tree.Concatenation(order) for order in permutations(parts)], excluded)
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


def ways(
    clause: tree.Clause,
    program: Sequence[Instruction],
    rows: Sequence[Row],
    start: int,
    number: int,
) -> Iterator[Match]:
    """All matches at a row, those of higher preference first. No instruction is entered twice
    at one row: rounds that read nothing end there."""
    conditions = {each.variable: values.lowered(each.condition) for each in clause.define}
    pending: list[tuple[int, Match, frozenset[int]]] = [
        (0, Match(start, (), (), number), frozenset())
    ]
    while pending:
        at, match, entered = pending.pop()
        if at in entered:
            continue
        entered |= {at}
        row = start + len(match.labels)
        match program[at]:
            case ("done",):
                yield match
            case ("start",) if row == 0:
                pending.append((at + 1, match, entered))
            case ("end",) if row == len(rows):
                pending.append((at + 1, match, entered))
            case ("fork", first, second):
                pending.append((second, match, entered))
                pending.append((first, match, entered))
            case ("row", variable, excluded) if row < len(rows):
                longer = Match(
                    start, (*match.labels, variable), (*match.excluded, excluded), number
                )
                view = View(clause, rows, longer, row)
                condition = conditions.get(variable)
                holds = condition is None or value(condition, view) is True
                if holds and _in_time(clause, rows, start, row):
                    pending.append((at + 1, longer, frozenset()))


def _in_time(clause: tree.Clause, rows: Sequence[Row], start: int, row: int) -> bool:
    if clause.within is None:
        return True
    first, last = (read(rows[at], clause.order[0].path) for at in (start, row))
    return first is not None and last is not None and last - first < clause.within.length


# ---------------------------------------------------------------- values


def value(node: ex.Expression, view: View) -> Any:
    """The value of a lowered expression: its places are looked up, the rest is a condition."""
    return evaluate(_looked_up(node, view), {})


def _looked_up(node: ex.Expression, view: View) -> ex.Expression:
    match node:
        case values.At(argument, place):
            return _constant(_at(argument, place, view))
        case values.Over(function, argument, variable, final):
            return _constant(_over(function, argument, variable, final, view))
        case values.Number():
            return _constant(view.match.number)
    return ex.rebuild(node, lambda child: _looked_up(child, view))


def _constant(found: Any) -> ex.Expression:
    return ex.Literal(found)


def _at(argument: ex.Expression, place: values.Place, view: View) -> Any:
    places = _places(place.variable, place.final, view)
    if place.offset >= len(places):
        return None
    row = places[place.offset if place.first else -1 - place.offset] + place.shift
    return _of_row(argument, row, view) if 0 <= row < len(view.rows) else None


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
            case values.Label():
                at = row - view.match.start
                inside = 0 <= at < len(view.match.labels)
                return _constant(view.match.labels[at] if inside else None)
            case values.Number():
                return _constant(view.match.number)
        return ex.rebuild(node, named)

    return evaluate(named(argument), view.rows[row])


def _over(
    function: str, argument: ex.Expression | None, variable: str | None, final: bool, view: View
) -> Any:
    rows = _places(variable, final, view)
    if argument is None:
        return len(rows)
    every = [_of_row(argument, row, view) for row in rows]
    if function == "array_agg":
        return every or None
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
            return sum(known)
        case "avg":
            return sum(known) / len(known)
        case "min":
            return _extreme("<", known)
        case "max":
            return _extreme(">", known)
        case "bool_and":
            return all(known)
        case "bool_or":
            return any(known)
        case "arbitrary":
            return known[0]
    raise DataError(f"unknown aggregate {function}")


def _extreme(op: str, known: list[Any]) -> Any:
    best = known[0]
    for each in known[1:]:
        if compare(op, each, best):
            best = each
    return best
