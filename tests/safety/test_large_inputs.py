"""Hostile inputs beside the texts of queries: what becomes of each, in so many steps at most."""

from __future__ import annotations

from pathlib import Path

import pytest

from cereus.errors import CereusError
from tests.golden import Golden
from tests.safety.large_inputs import INPUTS, Work
from tests.safety.test_families import ANSWER, counted_steps

TABLES = Path(__file__).parent / "golden" / "inputs"


def outcome(work: Work) -> str:
    try:
        with counted_steps():
            work()
    except CereusError as error:
        assert len(str(error)) < 20_000
        return type(error).__name__
    return ANSWER


@pytest.mark.long
@pytest.mark.parametrize("kind", INPUTS)
def test_what_becomes_of_each_input(kind: str, golden: Golden) -> None:
    lines = [f"{name} → {outcome(work)}" for name, work in INPUTS[kind].items()]
    golden.text(TABLES / f"{kind}.txt", "\n".join(lines))


SOME = [(kind, name) for kind, works in INPUTS.items() for name in list(works)[::5]]


@pytest.mark.parametrize(("kind", "name"), SOME)
def test_an_input_comes_to_what_the_table_says(kind: str, name: str) -> None:
    table = (TABLES / f"{kind}.txt").read_text("utf-8").splitlines()
    assert f"{name} → {outcome(INPUTS[kind][name])}" in table
