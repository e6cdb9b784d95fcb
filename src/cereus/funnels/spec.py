"""The specification of a funnel: its steps, the columns, and the time limits."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pyarrow as pa

from cereus.clauses.tree import TimeWindow
from cereus.engine.ingest.clock import Clock
from cereus.errors import CereusError, LimitError, about, did_you_mean, shortened
from cereus.expr.text import parse_condition
from cereus.expr.tree import Expression
from cereus.plan.atoms import check_stream, columns_read, event_test
from cereus.plan.tests import EventTest
from cereus.stream import Stream
from cereus.syntax.literals import Length, length_of, name_of
from cereus.syntax.parameters import by_name, check_all_mentioned, for_text, refuse_surrogates

Steps = Mapping[str, str] | Sequence[str]
"""Steps in their order: `"VIEW"`, `"PAY[amount > 10]"`, `"*[page = '/']"`; or by their names."""
STEP = re.compile(r"""\s*+(\*|"[^"]+"|`[^`]+`|[^\W\d]\w*+)\s*+(?:\[(.*)\])?\s*""", re.DOTALL)
MOST_STEPS = 10_000
PERIODS = ("hour", "day", "week", "month", "quarter", "year")
OF_STEPS = (
    *("step", "name", "keys", "conversion", "from_previous", "dropped"),
    *("mean_seconds", "median_seconds", "period"),
)
OF_KEYS = ("level", "entered", "took")
"""Column names that the tables of steps and of keys already have."""


@dataclass(frozen=True)
class FunnelStep:
    """A step: its name, and which events can be it."""

    name: str
    type: str | None
    condition: Expression | None

    def test(self, schema: pa.Schema | None = None) -> EventTest:
        return event_test(self.type, self.condition, schema)


@dataclass(frozen=True)
class FunnelSpec:
    """A funnel over a stream with keys and a time.

    within   the most microseconds from the first step to any other; None: no limit
    gaps     the most from each step to the next, for all steps but the last
    by       columns whose value at the first step puts a key into a segment
    period   the unit of time in which a key began its funnel, if those are told apart
    """

    steps: tuple[FunnelStep, ...]
    stream: Stream
    within: int | None
    gaps: tuple[int | None, ...]
    by: tuple[str, ...]
    period: str | None

    @property
    def names(self) -> list[str]:
        return [step.name for step in self.steps]

    def check(self, schema: pa.Schema) -> None:
        check_stream(self.stream, schema)
        for name in self.by:
            if name not in schema.names:
                hint = did_you_mean(name, schema.names)
                raise CereusError(f"the events have no column {name!r}", hint=hint)
            if pa.types.is_nested(schema.field(name).type):
                raise CereusError(
                    f"the column {name!r} holds lists or structs, which are no segments",
                    hint="name a column of texts, numbers or times in by=",
                )
        self.span(0, schema)  # refuses a column that has no times
        for step in self.steps:
            with about(f"step {step.name!r}"):
                step.test(schema)

    def columns(self, schema: pa.Schema) -> list[str]:
        """The columns that are read, in the order of the schema."""
        tests = [step.test() for step in self.steps]
        needed = {path[0] for path in columns_read(tests, self.stream)} | set(self.by)
        return [name for name in schema.names if name in needed]

    def span(self, length: int | None, schema: pa.Schema) -> float | None:
        """A length in the units of the time column."""
        if length is None:
            return None
        return Clock(TimeWindow(length), self.stream, schema).span


def funnel_spec(
    steps: Steps,
    *,
    key: str | Iterable[str],
    time: str,
    within: Length | None = None,
    gaps: Length | Sequence[Length | None] | None = None,
    type: str | None = "type",
    unit: str | None = None,
    where: str | None = None,
    by: str | Iterable[str] = (),
    period: str | None = None,
    params: Mapping[str, Any] | None = None,
) -> FunnelSpec:
    """The funnel that the arguments describe."""
    made = _steps(steps, by_name(params))
    if period is not None and not (isinstance(period, str) and period in PERIODS):
        shown = shortened(repr(period))
        raise CereusError(f"unknown period {shown}", hint=did_you_mean(period, PERIODS))
    if not isinstance(time, str):
        raise CereusError("a funnel needs a time column", hint='write time="…", its name')
    stream = Stream(type=type, time=time, keys=key, unit=unit, where=where)
    _refuse_taken(stream.keys, OF_KEYS, "key")
    segments = _segments(by)
    _refuse_taken(segments, (*OF_STEPS, *OF_KEYS), "by")
    return FunnelSpec(
        made,
        stream,
        None if within is None else length_of(within, "within"),
        _gaps(gaps, len(made) - 1),
        segments,
        period,
    )


def _segments(by: str | Iterable[str]) -> tuple[str, ...]:
    names = (by,) if isinstance(by, str) or not isinstance(by, Iterable) else tuple(by)
    for name in names:
        if not isinstance(name, str):
            raise CereusError(
                f"by= names columns, and {shortened(repr(name))} is no name",
                hint='write by="…", or by=["…", "…"]',
            )
    return tuple(dict.fromkeys(names))


def _refuse_taken(names: Iterable[str], taken: Iterable[str], what: str) -> None:
    """Refuse a column name that the result already has."""
    for name in names:
        if name in taken:
            raise CereusError(
                f"{what}={name!r}: the answer has a column of this name already",
                hint="rename the column of the events",
            )


def _steps(steps: Steps, params: Mapping[str, Any]) -> tuple[FunnelStep, ...]:
    if isinstance(steps, str) or not isinstance(steps, Mapping | Sequence) or len(steps) < 1:
        raise CereusError("a funnel has steps", hint='write steps=["VIEW", "PAY[amount > 10]"]')
    if len(steps) > MOST_STEPS:
        raise LimitError(f"a funnel has up to {MOST_STEPS:,} steps, and this one {len(steps):,}")
    pairs = list(steps.items()) if isinstance(steps, Mapping) else [(each, each) for each in steps]
    check_all_mentioned(params, [text for _, text in pairs])
    return tuple(_step(name, text, params) for name, text in pairs)


def _step(name: str, text: str, params: Mapping[str, Any]) -> FunnelStep:
    if isinstance(name, str):
        refuse_surrogates(name, "the name of a step")
    matched = STEP.fullmatch(text) if isinstance(text, str) else None
    if matched is None or not isinstance(name, str):
        raise CereusError(
            f"{shortened(repr(text))} is no step of a funnel",
            hint="write a type, VIEW, one with a condition, PAY[amount > 10], or *[page = '/']",
        )
    kind, condition = matched[1], matched[2]
    with about(f"step {name!r}"):
        parsed = None if condition is None else parse_condition(condition, for_text(params, text))
    return FunnelStep(name, None if kind == "*" else name_of(kind), parsed)


def _gaps(gaps: Length | Sequence[Length | None] | None, count: int) -> tuple[int | None, ...]:
    one = isinstance(gaps, str | timedelta) or not isinstance(gaps, Iterable)
    each: list[Any] = [gaps] * max(count, 1) if one else list(gaps)  # type: ignore[arg-type]
    made = tuple(None if gap is None else length_of(gap, "gaps") for gap in each)
    if one:
        return made[:count]
    if len(each) != count:
        raise CereusError(
            f"there are {count} gaps between the steps, and {len(each)} are given",
            hint='one for each, None for no limit; or one for all: gaps="1 hour"',
        )
    return made
