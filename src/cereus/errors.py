"""Every error that Cereus raises on purpose: one root, a place, and a hint."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

Span = tuple[int, int]
"""Start and end offset of a piece of query text."""
MOST_BEFORE, MOST_AFTER = 200, 200
"""How much of a long line an error shows, before and after the place."""
LONGEST_MESSAGE = 5_000
"""The greatest length of a message or a hint."""
MOST_QUOTED = 300
"""How much of a word or a value an error quotes."""
MOST_LETTERS = 100
"""A longer name is never taken for a slip of another one."""
MOST_COMPARED = 2000
"""An unknown name is compared with at most this many known names."""


class CereusError(Exception):
    """The root of every error that Cereus raises.

    `hint` says what to do about it; it is printed on a line of its own.
    """

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        self.message = message = shortened(message, LONGEST_MESSAGE)
        self.hint = hint = None if hint is None else shortened(hint, LONGEST_MESSAGE)
        super().__init__(message if hint is None else f"{message}\nhint: {hint}")

    def name_subject(self, what: str) -> None:
        """Begin the message with what it is about."""
        CereusError.__init__(self, f"{shortened(what)}: {self.message}", hint=self.hint)


class CereusWarning(UserWarning):
    """Something to know about a query: it can never match, its state grows, no event has one of its
    types."""


class QueryError(CereusError):
    """An error in the text of a query: the message shows the line with a caret under the place."""

    def __init__(
        self,
        message: str,
        *,
        text: str | None = None,
        span: Span | None = None,
        hint: str | None = None,
    ) -> None:
        self.text = text
        self.span = span
        self.reason = message = shortened(message, LONGEST_MESSAGE // 2)
        if text is not None and span is not None:
            message = f"{message}\n{underline(text, span)}"
        super().__init__(message, hint=hint)


class QuerySyntaxError(QueryError):
    """The text does not follow the grammar of its language."""


class UnknownNameError(QueryError):
    """A variable, attribute, stream or function that is not known."""


class ConditionTypeError(QueryError):
    """An expression whose operands do not fit together."""


class RefusedError(QueryError):
    """The text is well formed, but a rule of its language refuses it."""


class DataError(CereusError):
    """The events do not fit the query: a missing column, a null time, time going backwards."""

    while_matching = False
    """Whether only matching shows it, when some of the events have been read. Otherwise they are
    refused before, and nothing has changed."""


class LimitError(CereusError):
    """A limit that the user can set was reached; nothing was lost silently."""


class SnapshotError(CereusError):
    """A snapshot that belongs to another query or another version."""


@contextmanager
def about(what: str) -> Iterator[None]:
    """Begin the errors raised inside with `what` they are about."""
    try:
        yield
    except CereusError as error:
        error.name_subject(what)
        raise


def underline(text: str, span: Span) -> str:
    """The line of `text` with `span` in it, numbered, with carets under the span."""
    start, end = span
    start = min(start, len(text))
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", start)
    line_end = len(text) if line_end < 0 else line_end
    number = text.count("\n", 0, start) + 1
    before, after = text[line_start:start], text[start:line_end]
    if len(before) > MOST_BEFORE:
        before = "…" + before[1 - MOST_BEFORE :]
    if len(after) > MOST_AFTER:
        after = after[: MOST_AFTER - 1] + "…"
    prefix = f"{number} | {before}"
    carets = "^" * max(1, min(end - start, len(after)))
    return f"{prefix}{after}\n{' ' * len(prefix)}{carets}"


def shortened(text: str, most: int = MOST_QUOTED) -> str:
    """The text, cut to `most` characters."""
    return text if len(text) <= most else text[: most - 1] + "…"


def switch(name: str, value: Any) -> bool:
    """Check an option that is True or False. A text such as "no" is refused, since Python takes any
    text for true."""
    kind = type(value)
    if kind is bool or (kind.__module__ == "numpy" and kind.__name__ in ("bool", "bool_")):
        return bool(value)
    raise CereusError(f"{name}= is True or False, not a {kind.__name__}", hint=f"write {name}=True")


def found_while_matching(message: str, *, hint: str) -> DataError:
    """The error for events that have been read in part."""
    error = DataError(message, hint=hint)
    error.while_matching = True
    return error


def not_utf8(error: UnicodeDecodeError) -> DataError:
    """The error for a text in the events that is not UTF-8."""
    return DataError(
        f"the events have a text that is not UTF-8: {shortened(repr(error.object))}",
        hint="read the column as binary, or decode it from the encoding that it is in",
    )


def did_you_mean(name: object, known: Iterable[str]) -> str | None:
    """A hint that names the known name nearest to `name`, or lists the known ones."""
    names = sorted({each for each in known if isinstance(each, str)})
    close = nearest(name, names) if isinstance(name, str) else None
    if close is not None:
        return f"did you mean {close!r}?"
    return known_names(names) if names else None


def known_names(names: Sequence[str]) -> str:
    """A hint that lists the names, as far as there is room."""
    listed = [shortened(each, MOST_LETTERS) for each in names[:12]]
    return f"known here: {', '.join(listed)}" + (", …" if len(names) > 12 else "")


def nearest(name: str, known: Sequence[str]) -> str | None:
    """The known name that `name` is most likely a slip of: few letters differ, or one is the
    beginning of the other. None if no name is near, or the name is too long to be a slip."""
    if len(name) > MOST_LETTERS:
        return None
    known = [each for each in known[:MOST_COMPARED] if len(each) <= MOST_LETTERS]
    typed = name.lower()
    most = max(1, round(len(typed) / 2.5))
    near_enough = (each for each in known if abs(len(each) - len(typed)) <= most)
    distances = [(distance(typed, each.lower()), each) for each in near_enough]
    near = min(
        (pair for pair in distances if pair[0] <= most and pair[0] < len(typed)), default=None
    )
    if near is not None:
        return near[1]
    begun = [each for each in known if _begins(typed, each.lower())]
    return min(begun, key=len, default=None)


def _begins(one: str, other: str) -> bool:
    """Whether one name is the beginning of the other: `vol` of `volume`."""
    short, long = sorted((one, other), key=len)
    return len(short) >= 3 and long.startswith(short)


def distance(one: str, other: str) -> int:
    """How many letters were left out, added, changed, or swapped with the next (optimal string
    alignment). Long texts are not compared: their distance is their length."""
    if max(len(one), len(other)) > MOST_LETTERS:
        return 0 if one == other else max(len(one), len(other))
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        before, last, row = row, before, [i]
        for j, wanted in enumerate(other, 1):
            cost = min(before[j] + 1, row[-1] + 1, before[j - 1] + (letter != wanted))
            if i > 1 < j and letter == other[j - 2] and one[i - 2] == wanted:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
    return row[-1]
