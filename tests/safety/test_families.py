"""Hostile texts by families: what becomes of each, in a bounded number of steps.

The table of outcomes is in `golden/families`, a file for each language: for every family, what its
texts come to. Nothing here looks at a clock: a step is a call of a function, and a text
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
from tests.safety.families import MEGABYTE, families
from tests.safety.surfaces import LANGUAGES, PLANNED, TEXT_USES, check_error, compiled

TABLES = Path(__file__).parent / "golden" / "families"
MOST_STEPS = 40_000_000
"""Calls that reading, planning, explaining and printing a text may take: each of them takes
seconds at most."""
ANSWER = "an answer"
USUAL = 90
"""How often something stands in most texts."""
SAMPLE, MEGABYTES = 20, 9
"""One in so many texts is in the short run, and one in so many families has a megabyte."""


class TooManySteps(BaseException):
    """No error that anything catches."""


@contextmanager
def counted_steps() -> Iterator[None]:
    left = MOST_STEPS

    def count(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal left
        left -= event in ("call", "c_call")
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
    for ask in TEXT_USES.values() if len(text) < MEGABYTE // 2 else ():
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


Case = tuple[str, str, int]
"""A language, a family, a size."""


def cases(dialect: str) -> list[Case]:
    """What the table of a language has. Most texts of a megabyte have too many words, so there are
    some of them only; `python -m bench.adversaries` has all sizes."""
    names = [name for language, name, _ in families() if language == dialect]
    some = [(dialect, name, MEGABYTE) for name in names[::MEGABYTES]]
    return [(dialect, name, USUAL) for name in names] + some


def text_of(case: Case) -> str:
    dialect, name, size = case
    return next(f for language, each, f in families() if (language, each) == (dialect, name))(size)


def line(case: Case) -> str:
    dialect, name, size = case
    return f"{name}, {size:,} → {outcome(text_of(case), dialect)}"


@pytest.mark.long
@pytest.mark.parametrize("dialect", LANGUAGES)
def test_what_becomes_of_each_text(dialect: str, golden: Golden) -> None:
    golden.text(TABLES / f"{dialect}.txt", "\n".join(map(line, cases(dialect))))


SOME = [case for dialect in LANGUAGES for case in cases(dialect) if case[2] < MEGABYTE][::SAMPLE]


@pytest.mark.parametrize("case", SOME, ids=lambda case: ", ".join(map(str, case)))
def test_a_text_comes_to_what_the_table_says(case: Case) -> None:
    assert line(case) in (TABLES / f"{case[0]}.txt").read_text("utf-8").splitlines()


def test_work_that_grows_out_of_bounds_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "MOST_STEPS", 1_000)
    with pytest.raises(TooManySteps):
        outcome("SELECT * WHERE A ; B", "ceql")
