"""SREMO back to text: `parse(to_text(q)) == q`."""

from __future__ import annotations

from enum import IntEnum

from cereus.clauses.print import clause_lines, window_text
from cereus.clauses.tree import EventWindow
from cereus.expr import tree as ex
from cereus.expr.print import condition_text
from cereus.languages.sremo import tree as sremo
from cereus.syntax.literals import quote_name


class SremoLevel(IntEnum):
    """How tightly the outermost operator of a text binds."""

    WITHIN = 0
    OR = 1
    AND = 2
    SEQUENCE = 3
    PREFIX = 4
    POSTFIX = 5
    ATOM = 6


BINARY: dict[type[sremo.Sremo], tuple[SremoLevel, str]] = {
    sremo.Disjunction: (SremoLevel.OR, " | "),
    sremo.Intersection: (SremoLevel.AND, " & "),
    sremo.Concatenation: (SremoLevel.SEQUENCE, " . "),
}
POSTFIX: dict[type[sremo.Sremo], str] = {
    sremo.Star: "*",
    sremo.Plus: "+",
    sremo.Optional: "?",
}


def to_text(query: sremo.SremoTree) -> str:
    """A query, one clause a line."""
    pattern = query.formula
    lines = [("DETECT " if pattern.detect else "") + _at(SremoLevel.OR, pattern.expression)]
    return "\n".join([*lines, *clause_lines(query)])


def expression_text(expression: sremo.Sremo) -> str:
    return _at(SremoLevel.WITHIN, expression)


def _at(level: SremoLevel, expression: sremo.Sremo) -> str:
    operator, text = _written(expression)
    return text if operator >= level else f"({text})"


def _written(node: sremo.Sremo) -> tuple[SremoLevel, str]:
    if type(node) in BINARY:
        level, sign = BINARY[type(node)]
        left, right = node.children()
        return level, f"{_at(level, left)}{sign}{_at(SremoLevel(level + 1), right)}"
    if type(node) in POSTFIX:
        (body,) = node.children()
        return SremoLevel.POSTFIX, _at(SremoLevel.POSTFIX, body) + POSTFIX[type(node)]
    match node:
        case sremo.Complement(body):
            return SremoLevel.PREFIX, f"!{_at(SremoLevel.PREFIX, body)}"
        case sremo.Windowed(body, EventWindow(size)):
            return SremoLevel.POSTFIX, f"{_at(SremoLevel.POSTFIX, body)}[1..{size}]"
        case sremo.Windowed(body, window):
            return SremoLevel.WITHIN, f"{_at(SremoLevel.WITHIN, body)} WITHIN {window_text(window)}"
        case sremo.Any(parts):
            return SremoLevel.ATOM, f"any({', '.join(map(expression_text, parts))})"
        case sremo.Next(parts):
            return SremoLevel.ATOM, f"next({', '.join(map(expression_text, parts))})"
        case sremo.Terminal():
            return SremoLevel.ATOM, _terminal(node)
        case sremo.Epsilon():
            return SremoLevel.ATOM, "eps"
        case sremo.Nothing():
            return SremoLevel.ATOM, "empty"
    raise TypeError(f"no text for {node!r}")


def _terminal(node: sremo.Terminal) -> str:
    parts = [] if node.type is None else [f"{quote_name(node.type)}:"]
    if node.condition != ex.Literal(True):
        parts.append(condition_text(node.condition))
    inside = f"{{{' '.join(parts)}}}"
    text = inside if node.marks else "skip" + (inside if parts else "")
    return text if node.register is None else f"{text} -> {quote_name(node.register)}"
