"""Every worked example runs on each way of evaluating a text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import pytest

from cereus.lang.sase import UserAggregate
from cereus.lang.sase_text import parse
from cereus.reference.sase import Answer, answers

Event = Mapping[str, Any]


class Evaluate(Protocol):
    """The answers of a text, one per query; `type` and `time` are columns of the events."""

    def __call__(
        self,
        text: str,
        events: Sequence[Event],
        *,
        type: str = ...,
        aggregates: Mapping[str, UserAggregate] | None = ...,
    ) -> Sequence[Answer]: ...


def by_reference(
    text: str,
    events: Sequence[Event],
    *,
    type: str = "type",
    aggregates: Mapping[str, UserAggregate] | None = None,
) -> Sequence[Answer]:
    own = aggregates or {}
    return answers(parse(text, own), events, type=type, aggregates=own)


EVALUATORS: dict[str, Evaluate] = {"reference": by_reference}


@pytest.fixture(params=sorted(EVALUATORS))
def evaluate(request: pytest.FixtureRequest) -> Evaluate:
    return EVALUATORS[request.param]
