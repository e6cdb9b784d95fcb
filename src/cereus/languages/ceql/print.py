"""CEQL queries back to text: `parse(to_text(q)) == q`."""

from __future__ import annotations

from enum import IntEnum

from cereus.clauses.print import clause_lines, window_text
from cereus.clauses.tree import Output, Returned, Strategy, Unfollowed
from cereus.expr import tree as ex
from cereus.expr.print import condition_text, path_text
from cereus.languages.ceql import tree as cel
from cereus.syntax.literals import duration_text, quote_name


class CeqlLevel(IntEnum):
    """How tightly the outermost operator of a formula binds."""

    FILTER = 1
    UNLESS = 2
    OR = 3
    AND = 4
    SEQUENCE = 5
    POSTFIX = 6
    ATOM = 7


BINARY: dict[type[cel.Formula], tuple[CeqlLevel, str]] = {
    cel.Unless: (CeqlLevel.UNLESS, " UNLESS "),
    cel.And: (CeqlLevel.AND, " AND "),
    cel.All: (CeqlLevel.AND, " ALL "),
    cel.Sequence: (CeqlLevel.SEQUENCE, " ; "),
    cel.ContiguousSequence: (CeqlLevel.SEQUENCE, " : "),
}


def to_text(query: cel.CeqlTree) -> str:
    """The query as CEQL text, one clause a line."""
    lines = [_head(query)]
    if query.streams:
        lines.append(f"FROM {', '.join(map(quote_name, query.streams))}")
    lines.append(f"WHERE {formula_text(query.formula)}")
    if query.unfollowed is not None:
        lines.append(unfollowed_text(query.unfollowed))
    lines.extend(clause_lines(query))
    if query.returned:
        lines.append(f"RETURN {', '.join(map(_returned, query.returned))}")
    return "\n".join(lines)


def _head(query: cel.CeqlTree) -> str:
    words = ["SELECT"]
    if query.strategy is not Strategy.ALL:
        words.append(query.strategy)
    if query.count:
        words.append(", ".join(["COUNT(*)", *map(_total, query.totals)]))
    elif query.select is None:
        words.append("*")
    else:
        words.append(", ".join(map(_output, query.select)))
    return " ".join(words)


def _total(total: ex.Aggregate) -> str:
    path = (total.variable, *(total.attribute or ()))
    return f"{total.function.upper()}({path_text(path)})"


def _output(output: Output) -> str:
    attributes = ", ".join(map(path_text, output.attributes))
    return variable_text(output.variable) + (f"[{attributes}]" if attributes else "")


def unfollowed_text(node: Unfollowed) -> str:
    """`NOT FOLLOWED BY B WITHIN 5 minutes`"""
    events = tuple(each for each in node.events if isinstance(each, cel.Excluded))
    return f"NOT FOLLOWED BY {excluded_text(events)} WITHIN {window_text(node.window)}"


def _returned(each: Returned) -> str:
    text = condition_text(each.value)
    return text if each.name is None else f"{text} AS {quote_name(each.name)}"


def variable_text(variable: str) -> str:
    """The name of a variable; `S>R` may stand for the events of one stream."""
    stream, sign, event = variable.rpartition(">")
    if stream and event:
        return f"{quote_name(stream)}{sign}{quote_name(event)}"
    return quote_name(variable)


# ---------------------------------------------------------------- formulas


def formula_text(formula: cel.Formula) -> str:
    return _at(CeqlLevel.FILTER, formula)


def _at(level: CeqlLevel, formula: cel.Formula) -> str:
    operator, text = _formula(formula)
    return text if operator >= level else f"({text})"


def _formula(formula: cel.Formula) -> tuple[CeqlLevel, str]:
    match formula:
        case cel.Filter(body, predicate):
            return (
                CeqlLevel.FILTER,
                f"{_at(CeqlLevel.FILTER, body)} FILTER {predicate_text(predicate)}",
            )
        case cel.As(body, variable):
            return CeqlLevel.POSTFIX, f"{_at(CeqlLevel.POSTFIX, body)} AS {quote_name(variable)}"
        case cel.Iteration(body):
            return CeqlLevel.POSTFIX, f"{_at(CeqlLevel.POSTFIX, body)}+"
        case cel.ContiguousIteration(body):
            return CeqlLevel.POSTFIX, f"{_at(CeqlLevel.POSTFIX, body)}:+"
        case cel.Without(body, events, through=True):
            text = excluded_text(events)
            return CeqlLevel.POSTFIX, f"{_at(CeqlLevel.POSTFIX, body)} UNTIL {text}"
        case cel.Without(body, events):
            text = excluded_text(events)
            return CeqlLevel.UNLESS, f"{_at(CeqlLevel.UNLESS, body)} WITHOUT {text}"
        case cel.Optional(body):
            return CeqlLevel.POSTFIX, f"{_at(CeqlLevel.POSTFIX, body)}?"
        case cel.Repeated(body):
            return CeqlLevel.POSTFIX, _at(CeqlLevel.POSTFIX, body) + _rounds(formula)
        case cel.Or(operands):
            return CeqlLevel.OR, " OR ".join(_at(CeqlLevel.AND, each) for each in operands)
        case cel.Gapped(left, right, gap, contiguous):
            sign = f"{':' if contiguous else ';'}[{gap_text(gap)}]"
            sides = _at(CeqlLevel.SEQUENCE, left), _at(CeqlLevel.POSTFIX, right)
            return CeqlLevel.SEQUENCE, f"{sides[0]} {sign} {sides[1]}"
    if type(formula) in BINARY:
        return _binary(formula)
    return CeqlLevel.ATOM, _atom(formula)


def _rounds(node: cel.Repeated) -> str:
    """`{2,5}`, `:{2}[5 minutes]`, `+[5 minutes]`"""
    sign = ":" if node.contiguous else ""
    if node.gap is None:
        return f"{sign}{{{counts_text(node.least, node.most)}}}"
    if (node.least, node.most) == (1, None):
        return f"{sign}+[{gap_text(node.gap)}]"
    return f"{sign}{{{counts_text(node.least, node.most)}}}[{gap_text(node.gap)}]"


def gap_text(gap: cel.GapLength) -> str:
    """`5 minutes`, `1 minute..5 minutes`, `1 minute..`"""
    most = "" if gap.most is None else duration_text(gap.most)
    return most if gap.least is None else f"{duration_text(gap.least)}..{most}"


def absence_text(node: cel.Without) -> str:
    """`WITHOUT (B FILTER …)`"""
    return f"{'UNTIL' if node.through else 'WITHOUT'} {excluded_text(node.events)}"


def excluded_text(events: tuple[cel.Excluded, ...]) -> str:
    """The text after WITHOUT and UNTIL: a type, or several kinds in parentheses."""
    if len(events) == 1:
        text = _excluded(events[0])
        return text if events[0] == cel.Excluded(events[0].event) else f"({text})"
    texts = (f"({text})" if " " in (text := _excluded(each)) else text for each in events)
    return f"({' OR '.join(texts)})"


def _excluded(event: cel.Excluded) -> str:
    names = "".join(f" AS {quote_name(name)}" for name in event.names)
    text = _atom(event.event) + names
    return text if event.predicate is None else f"{text} FILTER {predicate_text(event.predicate)}"


def counts_text(least: int, most: int | None) -> str:
    """`2`, `2,`, `2,5`"""
    if least == most:
        return str(least)
    return f"{least}," if most is None else f"{least},{most}"


def _binary(formula: cel.Formula) -> tuple[CeqlLevel, str]:
    """A chain of operators of one level, which all group to the left. A loop, because a
    sequence may be longer than Python's stack is deep."""
    level = BINARY[type(formula)][0]
    parts: list[str] = []
    while type(formula) in BINARY and BINARY[type(formula)][0] is level:
        left, right = formula.children()
        parts.append(f"{BINARY[type(formula)][1]}{_at(CeqlLevel(level + 1), right)}")
        formula = left
    return level, _at(level, formula) + "".join(reversed(parts))


def _atom(formula: cel.Formula) -> str:
    match formula:
        case cel.Type(name, stream):
            event = "*" if name == "*" else quote_name(name)
            return event if stream is None else f"{quote_name(stream)}>{event}"
        case cel.Within(body, window):
            return f"(({formula_text(body)}) WITHIN {window_text(window)})"
        case cel.Not(body):
            return f"NOT({formula_text(body)})"
        case cel.Start(body):
            return f"START({formula_text(body)})"
        case cel.Project(variables, body):
            names = ", ".join(map(quote_name, sorted(variables)))
            return f"PROJECT[{names}]({formula_text(body)})"
        case cel.Select(strategy, body):
            return f"{strategy}({formula_text(body)})"
    raise TypeError(f"no text for {formula!r}")


# ---------------------------------------------------------------- predicates


def predicate_text(predicate: cel.Predicate) -> str:
    match predicate:
        case cel.AllOf(operands):
            return " AND ".join(map(_operand, operands))
        case cel.AnyOf(operands):
            return " OR ".join(map(_operand, operands))
        case cel.Holds(condition):
            return _holds(condition)
    raise TypeError(f"no text for {predicate!r}")


def _operand(predicate: cel.Predicate) -> str:
    text = predicate_text(predicate)
    match predicate:
        case cel.Holds(ex.Or() as condition) if not _is_boxed(condition):
            return f"({text})"
        case cel.Holds():
            return text
    return f"({text})"


def _holds(condition: ex.Expression) -> str:
    """`A[…]` if the condition is about single events of one variable, else the condition itself."""
    if _is_boxed(condition):
        return f"{variable_text(*ex.variables(condition))}[{condition_text(condition, bare=True)}]"
    return condition_text(condition)


def _is_boxed(condition: ex.Expression) -> bool:
    return len(ex.variables(condition)) == 1 and not ex.has_aggregates(condition)
