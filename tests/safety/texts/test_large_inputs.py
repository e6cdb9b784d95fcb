"""Hostile inputs beside the texts of queries: what becomes of each, in so many steps at most."""

from __future__ import annotations

import pytest

from cereus.errors import CereusError
from tests.safety.texts.large_inputs import INPUTS, Work
from tests.safety.texts.test_families import ANSWER, counted_steps

OUTCOMES: dict[str, dict[str, str]] = {
    "parameters": {
        "ceql, 100,000 of two kinds": "ConditionTypeError",
        "ceql, an integer of 4,000 digits": "CereusError",
        "ceql, lists in lists": "CereusError",
        "a million parameters that the text does not have": "QueryError",
    },
    "pipelines": dict.fromkeys(INPUTS["pipelines"], "PipelineError"),
    "rules": {"lists in lists, 5,000 deep": "CereusError"},
    "funnels": {
        "50,000 steps": "LimitError",
        "a step of a megabyte": "LimitError",
        "a step of brackets": "CereusError",
        "a step of blanks": "CereusError",
        "a step of quotes": "CereusError",
        "a length of a megabyte": "CereusError",
        "a length of blanks": "CereusError",
    },
    "statements": {
        "brackets": "LimitError",
        "brackets, closed": "LimitError",
        "dollars": "LimitError",
        "open comments": "QuerySyntaxError",
        "open clauses": "QuerySyntaxError",
    },
}
"""What is refused, and by which error; the rest comes to an answer. A rule that cannot be read is
an answer too: it is reported, and the others run."""
EVERY = [(kind, name) for kind, works in INPUTS.items() for name in works]
SOME = [
    ("statements", "1,000 clauses"),
    ("funnels", "50,000 steps"),
    ("pipelines", "a megabyte of numbers"),
    ("pipelines", "a chain of a thousand queries"),
]


def outcome(work: Work) -> str:
    try:
        with counted_steps():
            work()
    except CereusError as error:
        assert len(str(error)) < 20_000
        return type(error).__name__
    return ANSWER


@pytest.mark.parametrize(
    ("kind", "name"),
    [pytest.param(*each, marks=[] if each in SOME else pytest.mark.long) for each in EVERY],
)
def test_what_becomes_of_each_input(kind: str, name: str) -> None:
    assert outcome(INPUTS[kind][name]) == OUTCOMES[kind].get(name, ANSWER)
