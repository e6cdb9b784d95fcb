"""Every error that Cereus raises on purpose: one root, a place, and a hint."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

Span = tuple[int, int]
"""Start and end offset of a piece of query text."""


class CereusError(Exception):
    """The root of every error that Cereus raises.

    `hint` says what to do about it; it is printed on a line of its own.
    """

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        self.message = message
        self.hint = hint
        super().__init__(message if hint is None else f"{message}\nhint: {hint}")

    def name_subject(self, what: str) -> None:
        """Begin the message with what it is about."""
        CereusError.__init__(self, f"{what}: {self.message}", hint=self.hint)


class CereusWarning(UserWarning):
    """What to know of a query: it can never match, its state grows, no event has a type of it."""


class QueryError(CereusError):
    """A query text is at fault: the message shows the line with a caret under the place."""

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
        self.reason = message
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


class LimitError(CereusError):
    """A limit that the user can set was reached; nothing was lost silently."""


class SnapshotError(CereusError):
    """A snapshot that belongs to another query or another version."""


@contextmanager
def about(what: str) -> Iterator[None]:
    """Errors raised inside begin with `what` they are about."""
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
    prefix = f"{number} | "
    carets = "^" * max(1, min(end, line_end) - start)
    indent = " " * (len(prefix) + start - line_start)
    return f"{prefix}{text[line_start:line_end]}\n{indent}{carets}"


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """A hint naming the known name nearest to `name`, or listing the known ones."""
    names = sorted(set(known))
    folded = {n.lower(): n for n in names}
    close = difflib.get_close_matches(name.lower(), folded, n=1, cutoff=0.5)
    if close:
        return f"did you mean {folded[close[0]]!r}?"
    if names:
        shown = ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
        return f"known here: {shown}"
    return None
