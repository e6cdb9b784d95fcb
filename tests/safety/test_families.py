"""Hostile texts by families: what becomes of each, in a bounded number of steps.

The table of outcomes is in `golden/families`, a file for each language: for every family, what each
size of text comes to. Nothing here looks at a clock: a step is a call of a function, and a text
whose work grows out of bounds takes more of them than there may be.
`python -m bench.adversaries` measures seconds and memory.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from cereus.errors import CereusError
from tests.golden import Golden
from tests.safety.families import SIZES, Family, families
from tests.safety.surfaces import LANGUAGES, PLANNED, TEXT_USES, check_error, compiled

TABLES = Path(__file__).parent / "golden" / "families"
MOST_STEPS = 30_000_000
"""Calls that reading, planning, explaining and printing a text may take: each of them takes
seconds at most."""
ANSWER = "an answer"
SAMPLE = 40
"""One in so many texts is in the short run."""


class TooManySteps(BaseException):
    """No error that anything catches."""


@contextmanager
def counted_steps() -> Iterator[None]:
    left = MOST_STEPS

    def count(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise TooManySteps(f"{frame.f_code.co_filename}:{frame.f_lineno}")

    sys.setprofile(count)
    try:
        yield
    finally:
        sys.setprofile(None)


def outcome(text: str, dialect: str) -> str:
    """What becomes of a text: an answer on every surface, or the error that refuses it. Surfaces
    may refuse what others answer, as a translation does."""
    for ask in TEXT_USES.values():
        with counted_steps(), suppress(CereusError):
            ask(text, dialect)
    try:
        with counted_steps():
            query = compiled(text, dialect)
            query.explain()
    except CereusError as error:
        check_error(error, "")
        return type(error).__name__
    for work in PLANNED.values():
        with counted_steps(), suppress(CereusError):
            work(query)
    return ANSWER


def line(name: str, outcomes: dict[int, str]) -> str:
    """Of each size that comes to something else than the one before it."""
    changes, last = [], ""
    for size, what in outcomes.items():
        if what != last:
            changes.append(f"from {size:,}: {what}" if last else what)
        last = what
    return f"{name} → {', '.join(changes)}"


def of(dialect: str) -> dict[str, Family]:
    return {name: family for language, name, family in families() if language == dialect}


@pytest.mark.long
@pytest.mark.parametrize("dialect", LANGUAGES)
def test_what_becomes_of_each_text(dialect: str, golden: Golden) -> None:
    lines = [
        line(name, {size: outcome(family(size), dialect) for size in SIZES})
        for name, family in of(dialect).items()
    ]
    golden.text(TABLES / f"{dialect}.txt", "\n".join(lines))


def expected(dialect: str, name: str, size: int) -> str:
    """What the table says."""
    table = dict(
        line.split(" → ") for line in (TABLES / f"{dialect}.txt").read_text("utf-8").splitlines()
    )
    first, *others = table[name].split(", from ")
    for each in others:
        begin, what = each.split(": ")
        first = what if int(begin.replace(",", "")) <= size else first
    return first


CASES = [(dialect, name, size) for dialect, name, _ in families() for size in SIZES[:-1]]


@pytest.mark.parametrize(("dialect", "name", "size"), CASES[::SAMPLE])
def test_a_text_comes_to_what_the_table_says(dialect: str, name: str, size: int) -> None:
    assert outcome(of(dialect)[name](size), dialect) == expected(dialect, name, size)


def test_work_that_grows_out_of_bounds_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "MOST_STEPS", 1_000)
    with pytest.raises(TooManySteps):
        outcome("SELECT * WHERE A ; B", "ceql")
