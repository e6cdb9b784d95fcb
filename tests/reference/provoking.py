"""Examples that raise errors, as the pages of errors show them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path

import pytest

from cereus.errors import CereusError
from tests.reference.mistakes.model import Lines

VOLATILE = re.compile(r"'[0-9a-f]{16}'")
"""Fingerprints, which say nothing to a reader."""


def of_lines(mistakes: Sequence[Lines], kind: str, run: Callable[[str], object]) -> Iterator[str]:
    for title, some in groupby(mistakes, key=lambda each: each.title):
        yield f"## {title}"
        yield from examples(list(some), kind, run)


def examples(some: Sequence[Lines], kind: str, run: Callable[[str], object]) -> Iterator[str]:
    for each in some:
        error = raised(partial(run, each.wrong))
        run(each.right)
        yield shown(error, block(kind, each.wrong), block(kind, each.right))


def raised(run: Callable[[], object]) -> CereusError:
    with pytest.raises(CereusError) as caught:
        run()
    return caught.value


def shown(error: CereusError, wrong: str, right: str) -> str:
    """An error, what provokes it, and what does not."""
    reason = plain(getattr(error, "reason", error.message).splitlines()[0])
    text = plain(f"{type(error).__name__}: {error}")
    return "\n\n".join([f"### {heading(reason)}", wrong, block("", text), "Instead:", right])


def plain(text: str) -> str:
    """Without what differs from run to run."""
    return VOLATILE.sub("'…'", text.replace(f"{Path.cwd()}/", ""))


def heading(text: str) -> str:
    """A text as Markdown shows it, on the site and elsewhere."""
    return re.sub(r"([\\`*_{}\[\]#])", r"\\\1", text).replace("<", "&lt;")


def block(kind: str, text: str) -> str:
    return f"```{kind}\n{text.rstrip()}\n```"
