"""Warns about negation that people misread: UNLESS at the left end, NOT among `;`.

`A ; C UNLESS B` looks from where the pattern may begin, which is the beginning of the stream, so
that one B blocks all matches after it. `A ; NOT(B) ; C` takes one event that is not a B, and skips
any others. Both are CEL's and CORE's definitions; `WITHOUT` is what people mean.
"""

from __future__ import annotations

from collections.abc import Iterator

from cereus.errors import RefusedError
from cereus.languages.ceql import tree as cel
from cereus.languages.ceql.operators.absence import excluded
from cereus.languages.ceql.print import absence_text, formula_text


def misread(formula: cel.Formula) -> list[str]:
    """A warning for each part of a pattern that may not mean what was intended."""
    return list(dict.fromkeys([*_unless(formula), *_not(formula), *_without(formula)]))


# ---------------------------------------------------------------- UNLESS


def _unless(node: cel.Formula) -> Iterator[str]:
    """Warnings about UNLESS with nothing of the match before it; START begins where a match
    does."""
    match node:
        case cel.Unless(left, right):
            yield _from_the_beginning(left, right)
            yield from _unless(left)
        case cel.Start():
            return
        case cel.Sequence(left, _) | cel.ContiguousSequence(left, _):
            yield from _unless(left)
        case _:
            for child in node.children():
                yield from _unless(child)


def _from_the_beginning(left: cel.Formula, right: cel.Formula) -> str:
    kept_out = formula_text(right)
    return (
        f"UNLESS {kept_out} looks from the beginning of the stream on, not from the first event of "
        f"the match: after one, nothing matches any more; {_instead(left, right)}"
    )


def _instead(left: cel.Formula, right: cel.Formula) -> str:
    if not _has_several_events(left):
        event, kept_out = formula_text(left), formula_text(right)
        return f"say since when: X ; ({event} UNLESS {kept_out}) has none between X and {event}"
    try:
        without = formula_text(cel.Without(left, excluded(right)))
    except RefusedError:  # a whole pattern
        return "put it after the first event of the match: A ; (B UNLESS …)"
    return f"for none between the first and the last event write {without}"


def _has_several_events(formula: cel.Formula) -> bool:
    match formula:
        case cel.Type() | cel.Not():
            return False
        case cel.As(body) | cel.Filter(body) | cel.Optional(body) | cel.Project(_, body):
            return _has_several_events(body)
        case cel.Unless(left, _):
            return _has_several_events(left)
        case cel.Or(operands):
            return any(map(_has_several_events, operands))
    return True


def _without(formula: cel.Formula) -> Iterator[str]:
    """Warnings about WITHOUT on a single event, which has nothing between its first and its last
    event."""
    for node in formula.walk():
        if not isinstance(node, cel.Without) or node.through or _has_several_events(node.body):
            continue
        yield (
            f"{absence_text(node)} looks between the first and the last event of "
            f"{formula_text(node.body)}, which is one event: put the whole pattern before it in "
            "parentheses, as in (A ; C) WITHOUT B"
        )


# ---------------------------------------------------------------- NOT


def _not(formula: cel.Formula) -> Iterator[str]:
    """Warnings about NOT in a chain of events, with room for other events on both sides."""
    if isinstance(formula, cel.Sequence | cel.ContiguousSequence):
        parts, signs = _chain(formula)
    else:
        parts, signs = [formula], []
    rooms = [True, *(sign is cel.Sequence for sign in signs), True]
    for place, part in enumerate(parts):
        body = _repeated_not(part)
        if body is not None and (
            isinstance(part, cel.Iteration) or (rooms[place] and rooms[place + 1])
        ):
            yield _any_other_event(body, parts, place)
        elif isinstance(part, cel.Unless):
            yield from _not(part.left)
        elif part is formula or isinstance(part, cel.Sequence | cel.ContiguousSequence):
            for child in part.children():
                yield from _not(child)
        elif body is None:
            yield from _not(part)


def _chain(
    formula: cel.Formula,
) -> tuple[list[cel.Formula], list[type[cel.Formula]]]:
    """The parts of a chain of `;` and `:`, and the signs between them. Parentheses on the right of
    a sign belong to the chain: both signs are associative."""
    if not isinstance(formula, cel.Sequence | cel.ContiguousSequence):
        return [formula], []
    lefts, before = _chain(formula.left)
    rights, after = _chain(formula.right)
    return [*lefts, *rights], [*before, type(formula), *after]


def _repeated_not(part: cel.Formula) -> cel.Formula | None:
    """The body of a NOT, or of a repeated one."""
    if isinstance(part, cel.Iteration | cel.ContiguousIteration | cel.Repeated | cel.As):
        return _repeated_not(part.body)
    return part.body if isinstance(part, cel.Not) else None


def _any_other_event(body: cel.Formula, parts: list[cel.Formula], place: int) -> str:
    name = formula_text(body)
    what = "such an event" if isinstance(body, cel.Filter) else name
    text = f"NOT({name}) is some event that is not {what}, and {what} may come before or after it"
    before, after = others_around(parts, place)
    if before is not None and after is not None:
        without = cel.Without(cel.Sequence(before, after), excluded(body))
        return f"{text}; for none in between write {formula_text(without)}"
    if after is not None:
        since = formula_text(cel.Unless(after, body))
        return f"{text}; for none before, say since when: X ; ({since})"
    return f"{text}; that none comes between two events is said by (A ; C) WITHOUT {name}"


def others_around(
    parts: list[cel.Formula], place: int
) -> tuple[cel.Formula | None, cel.Formula | None]:
    """The nearest parts before and after a place that are not NOT."""
    before = [part for part in parts[:place] if _repeated_not(part) is None]
    after = [part for part in parts[place + 1 :] if _repeated_not(part) is None]
    return (before[-1] if before else None), (after[0] if after else None)
