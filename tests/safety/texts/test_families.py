"""Hostile texts by families: each comes to an answer or a CereusError, in so many steps at most.

Nothing here looks at a clock: a step is a call of a function, and a text whose work grows out of
bounds takes more of them than there may be. `tests/test_adversaries.py` has a table of what becomes
of single texts; `python -m bench.adversaries` measures seconds and memory, of all sizes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

import pytest

from cereus.errors import CereusError, UnknownNameError
from tests.safety.surfaces import LANGUAGES, PLANNED, TEXT_USES, check_error, compiled
from tests.safety.texts.families import MEGABYTE, families

MOST_STEPS = 40_000_000
"""Calls that reading, planning, explaining and printing a text may take: each of them takes
seconds at most."""
ANSWER = "an answer"
USUAL = 90
"""How often something stands in most texts."""
SOME = 12
"""One family in so many is tried, and one in its square with a text of a megabyte."""


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
    """What is tried of a language; `python -m bench.adversaries` has all families and sizes. Most
    texts of a megabyte have too many words."""
    names = [name for language, name, _ in families() if language == dialect]
    usual = [(dialect, name, USUAL) for name in names[::SOME]]
    return usual + [(dialect, name, MEGABYTE) for name in names[SOME - 1 :: SOME * SOME]]


def text_of(case: Case) -> str:
    dialect, name, size = case
    return next(f for language, each, f in families() if (language, each) == (dialect, name))(size)


@pytest.mark.long
@pytest.mark.parametrize("dialect", LANGUAGES)
def test_every_text_comes_to_an_end(dialect: str) -> None:
    outcomes = [outcome(text_of(case), dialect) for case in cases(dialect)]
    assert 0 < outcomes.count(ANSWER) < len(outcomes)


@pytest.mark.parametrize("dialect", LANGUAGES)
def test_a_name_of_a_megabyte_is_shortened_so_that_place_and_hint_remain(dialect: str) -> None:
    with pytest.raises(UnknownNameError, match="hint: ") as refused:
        compiled(text_of((dialect, "condition, a quoted name", MEGABYTE)), dialect)
    check_error(refused.value, "")


def test_work_that_grows_out_of_bounds_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "MOST_STEPS", 1_000)
    with pytest.raises(TooManySteps):
        outcome("SELECT * WHERE A ; B", "ceql")
