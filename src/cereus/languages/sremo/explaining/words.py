"""What a SREMO asks, in plain English."""

from __future__ import annotations

from collections.abc import Sequence

from cereus.explain.phrases import (
    clause_words,
    condition_words,
    event_words,
    grouped,
    listed,
    sentence,
    window_words,
    with_article,
)
from cereus.expr import tree as ex
from cereus.languages.sremo import tree as sremo
from cereus.plan.tests import conjuncts


def words(query: sremo.SremoTree, keys: Sequence[tuple[str, ...]]) -> str:
    pattern = part_words(query.formula.expression)
    where = "the places where this ends: " if query.formula.detect else ""
    return sentence([where + pattern, *clause_words(query, keys)])


def part_words(node: sremo.Sremo) -> str:
    match node:
        case sremo.Terminal():
            return _event(node)
        case sremo.Concatenation(left, right):
            joined = "then" if sremo.SKIP_ANY in (left, right) else "directly followed by"
            return f"{part_words(left)}, {joined} {part_words(right)}"
        case sremo.Disjunction(left, right):
            return f"either {grouped(part_words(left))} or {grouped(part_words(right))}"
        case sremo.Intersection(left, right):
            return f"{part_words(left)}, which is at the same time {part_words(right)}"
        case sremo.Star(sremo.Terminal(marks=False) as skipped) if skipped.is_top:
            return "any number of other events"
        case sremo.Star(body):
            return f"any number of times in a row ({part_words(body)})"
        case sremo.Plus(body):
            return f"one or more times in a row ({part_words(body)})"
        case sremo.Optional(body):
            return f"optionally {part_words(body)}"
        case sremo.Complement(body):
            return f"any events that are not ({part_words(body)})"
        case sremo.Windowed(body, window):
            return f"{part_words(body)}, {window_words(window)}"
        case sremo.Any(parts):
            return ", then ".join(map(part_words, parts)) + " (with any events between)"
        case sremo.Next(parts):
            return ", then the next that is ".join(map(part_words, parts))
        case sremo.Epsilon():
            return "nothing"
    return "what never happens"


def _event(node: sremo.Terminal) -> str:
    parts = [part for part in conjuncts(node.condition) if part != sremo.TRUE]
    alone = [part for part in parts if not ex.variables(part)]
    others = [part for part in parts if ex.variables(part)]
    noun = event_words(node.type or "event", alone, node.register)
    between = f" and {listed(map(condition_words, others))}" if others else ""
    joined = f"{with_article(noun)}{between if alone else between.replace(' and', ' such that', 1)}"
    return joined if node.marks else f"{joined} (not reported)"
