"""A SREMO in plain English."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from cereus.explain.phrases import (
    choice_words,
    clause_words,
    condition_words,
    event_words,
    grouped,
    listed,
    noun_of,
    plural,
    sentence,
    window_words,
    with_article,
)
from cereus.expr import tree as ex
from cereus.expr.tree import conjuncts
from cereus.languages.sremo import tree as sremo


def words(query: sremo.SremoTree, keys: Sequence[tuple[str, ...]]) -> str:
    pattern = part_words(query.formula.expression)
    where = "the places where this ends: " if query.formula.detect else ""
    return sentence([where + pattern, *clause_words(query, keys)])


def part_words(node: sremo.Sremo) -> str:
    match node:
        case sremo.Terminal():
            return with_article(_event_words(node))
        case sremo.Concatenation(left, right):
            joined = "directly followed by"
            if any(each == sremo.SKIP_ANY or _avoids(each) for each in (_last(left), right)):
                joined = "then"
            return f"{part_words(left)}, {joined} {part_words(right)}"
        case sremo.Disjunction():
            return choice_words(map(part_words, _choices(node)))
        case sremo.Intersection(left, right):
            return f"{part_words(left)}, which is at the same time {part_words(right)}"
        case sremo.Star(sremo.Terminal(marks=False) as skipped) if skipped.is_top:
            return "any number of other events"
        case sremo.Star(sremo.Terminal() as event):
            return f"any number of {_event_words(event, many=True)}"
        case sremo.Plus(sremo.Terminal() as event):
            return f"one or more {_event_words(event, many=True)}"
        case sremo.Star(body):
            return f"any number of times in a row ({part_words(body)})"
        case sremo.Plus(body):
            return f"one or more times in a row ({part_words(body)})"
        case sremo.Optional(body):
            return f"optionally {part_words(body)}"
        case sremo.Complement() if (stop := sremo.stops_at(node)) is not None:
            return f"any events with no {_event_words(replace(stop, marks=True))} among them"
        case sremo.Complement() if (absent := sremo.absent(node)) is not None:
            return f"any events in which this does not occur: ({part_words(absent)})"
        case sremo.Complement(body):
            return f"any events that are not ({part_words(body)})"
        case sremo.Windowed(body, window):
            return f"{part_words(body)}, {window_words(window)}"
        case sremo.Any(parts):
            return ", then ".join(map(part_words, parts)) + " (with any events between)"
        case sremo.Next(parts):
            first, *others = map(part_words, parts)
            return ", then the next ".join([first, *map(_next, others)])
        case sremo.Epsilon():
            return "nothing"
    return "what never happens"


def _next(phrase: str) -> str:
    """The words after `the next`."""
    return noun_of(phrase) or f"that is {grouped(phrase)}"


def _avoids(node: sremo.Sremo) -> bool:
    return sremo.absent(node) is not None


def _last(node: sremo.Sremo) -> sremo.Sremo:
    """The last part of a concatenation."""
    return _last(node.right) if isinstance(node, sremo.Concatenation) else node


def _choices(node: sremo.Sremo) -> Iterator[sremo.Sremo]:
    if isinstance(node, sremo.Disjunction):
        yield from _choices(node.left)
        yield from _choices(node.right)
    else:
        yield node


def _event_words(node: sremo.Terminal, *, many: bool = False) -> str:
    """An event with all its conditions: the words after an article, or a number."""
    parts = [part for part in conjuncts(node.condition) if part != sremo.TRUE]
    alone = [part for part in parts if not ex.variables(part)]
    others = [condition_words(part) for part in parts if ex.variables(part)]
    noun = node.type or "event"
    noun = f"{plural(noun)} in a row" if many else noun
    phrase = event_words(noun, alone, node.register, many=many)
    if others and all(words.startswith("its ") for words in others):
        whose = " and whose ".join(words.removeprefix("its ") for words in others)
        phrase += f"{' and' if alone else ''} whose {whose}"
    elif others:
        phrase += f" {'and' if alone else 'such that'} {listed(others)}"
    return phrase if node.marks else f"{phrase} (not reported)"
