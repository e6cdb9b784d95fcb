"""Funnels: worked examples, and every chain tried out against the one pass."""

from __future__ import annotations

import json
import random
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cereus
from cereus import show
from cereus.errors import CereusError, CereusWarning
from cereus.show.colours import PALETTE
from tests.volume import volume

EVENTS = pa.table(
    {
        "user": [1, 1, 1, 2, 2, 3, 3, 3],
        "type": ["VIEW", "CART", "PAY", "VIEW", "PAY", "CART", "VIEW", "CART"],
        "ts": [0, 10, 20, 0, 5, 0, 1, 100],
        "amount": [0, 0, 50, 0, 5, 0, 0, 0],
        "land": ["de", "at", "at", "fr", "fr", "fr", "fr", "fr"],
    }
)
STEPS = ["VIEW", "CART", "PAY"]
WHO: dict[str, Any] = {"key": "user", "time": "ts", "unit": "s"}


def counts(funnel: cereus.Funnel) -> list[int]:
    return list(funnel.steps["keys"].to_pylist())


def test_each_key_comes_as_far_as_its_longest_chain() -> None:
    funnel = cereus.funnel(EVENTS, STEPS, within="60 seconds", **WHO)
    assert counts(funnel) == [3, 1, 1]
    assert funnel.keys.to_pylist() == [
        {"user": 1, "level": 3, "entered": 0, "took": [10.0, 10.0]},
        {"user": 2, "level": 1, "entered": 0, "took": []},
        {"user": 3, "level": 1, "entered": 1, "took": []},
    ]
    assert counts(cereus.funnel(EVENTS, STEPS, **WHO)) == [3, 2, 1]


def test_the_steps_have_conversion_drop_off_and_times() -> None:
    first, second, last = cereus.funnel(EVENTS, STEPS, **WHO).steps.to_pylist()
    assert (first["conversion"], first["dropped"], first["median_seconds"]) == (1.0, 1, None)
    assert second["conversion"] == second["from_previous"] == pytest.approx(2 / 3)
    assert second["mean_seconds"] == second["median_seconds"] == (10 + 99) / 2
    assert last["from_previous"] == 0.5 and last["dropped"] == 0


def test_the_window_is_measured_from_the_first_step_and_gaps_from_the_one_before() -> None:
    assert counts(cereus.funnel(EVENTS, STEPS, within="20 seconds", **WHO)) == [3, 1, 1]
    assert counts(cereus.funnel(EVENTS, STEPS, within="19 seconds", **WHO)) == [3, 1, 0]
    assert counts(cereus.funnel(EVENTS, STEPS, gaps="10 seconds", **WHO)) == [3, 1, 1]
    assert counts(cereus.funnel(EVENTS, STEPS, gaps=[None, "9 seconds"], **WHO)) == [3, 2, 0]
    with pytest.raises(CereusError, match="there are 2 gaps between the steps, and 1 are given"):
        cereus.funnel(EVENTS, STEPS, gaps=["1 second"], **WHO)


def test_events_that_do_not_pass_a_condition_are_not_there() -> None:
    assert counts(cereus.funnel(EVENTS, STEPS, where="type != 'CART'", **WHO)) == [3, 0, 0]
    only = cereus.funnel(EVENTS, STEPS, where="user < 3", **WHO)
    assert only.keys["user"].to_pylist() == [1, 2]
    with pytest.raises(CereusError, match="usr"):
        cereus.funnel(EVENTS, STEPS, where="usr < 3", **WHO)


def test_a_later_first_step_may_be_the_better_one() -> None:
    """As in windowFunnel: the window slides."""
    table = pa.table({"user": [1] * 4, "type": ["A", "A", "B", "C"], "ts": [0, 50, 55, 60]})
    assert counts(cereus.funnel(table, ["A", "B", "C"], within="10 seconds", **WHO)) == [1, 1, 1]


def test_one_event_is_one_step() -> None:
    table = pa.table({"user": [1, 1], "type": ["A", "A"], "ts": [0, 1]})
    assert counts(cereus.funnel(table, {"one": "A", "two": "A", "three": "*"}, **WHO)) == [1, 1, 0]


def test_steps_have_conditions_names_and_parameters() -> None:
    steps = {"looked": "VIEW", "paid much": "PAY[amount > :much]"}
    funnel = cereus.funnel(EVENTS, steps, params={"much": 10}, **WHO)
    assert funnel.steps["name"].to_pylist() == ["looked", "paid much"] and counts(funnel) == [3, 1]
    with pytest.raises(CereusError, match=r"step 'x': .*amonut"):
        cereus.funnel(EVENTS, {"x": "PAY[amonut > 1]"}, **WHO)
    with pytest.raises(CereusError, match="is no step of a funnel"):
        cereus.funnel(EVENTS, ["VIEW ; PAY"], **WHO)


def test_segments_are_those_of_the_first_step() -> None:
    funnel = cereus.funnel(EVENTS, STEPS, by="land", **WHO)
    rows = [(row["land"], row["name"], row["keys"]) for row in funnel.steps.to_pylist()]
    assert rows == [
        ("de", "VIEW", 1), ("de", "CART", 1), ("de", "PAY", 1),
        ("fr", "VIEW", 2), ("fr", "CART", 1), ("fr", "PAY", 0),
    ]  # fmt: skip


def test_periods_are_those_of_the_first_step() -> None:
    day = datetime(2025, 3, 3, 23, 59)
    table = pa.table(
        {
            "user": [1, 2, 1, 2],
            "type": ["A", "A", "B", "B"],
            "ts": [day, day + timedelta(minutes=2), day + timedelta(minutes=3), day],
        }
    )
    with pytest.raises(CereusError, match="goes backwards"):
        cereus.funnel(table, ["A", "B"], key="user", time="ts", period="day")
    funnel = cereus.funnel(table, ["A", "B"], key="user", time="ts", period="day", sort=True)
    rows = [(row["period"].day, row["keys"]) for row in funnel.steps.to_pylist()]
    assert rows == [(3, 1), (3, 1), (4, 1), (4, 0)]
    with pytest.raises(CereusError, match="unknown period 'dya'"):
        cereus.funnel(table, ["A"], key="user", time="ts", period="dya")


def test_files_of_events_are_read_batch_by_batch(tmp_path: Path) -> None:
    pq.write_table(EVENTS, tmp_path / "e.parquet", row_group_size=3)
    funnel = cereus.funnel(tmp_path / "e.parquet", STEPS, by="land", **WHO)
    assert funnel.steps.equals(cereus.funnel(EVENTS, STEPS, by="land", **WHO).steps)


def test_no_events_are_no_keys() -> None:
    funnel = cereus.funnel(EVENTS.slice(0, 0), STEPS, **WHO)
    assert counts(funnel) == [0, 0, 0] and funnel.keys.num_rows == 0
    assert cereus.funnel(EVENTS.slice(0, 0), STEPS, by="land", **WHO).steps.num_rows == 0


def test_a_funnel_shows_itself() -> None:
    funnel = cereus.funnel(EVENTS, STEPS, **WHO)
    assert "66.7%" in repr(funnel) and ">66.7%</td>" in funnel._repr_html_()


@pytest.mark.parametrize("more", [{}, {"by": "land"}, {"period": "day"}])
def test_a_funnel_is_a_chart(more: dict[str, Any]) -> None:
    pytest.importorskip("altair")
    made = show.funnel_chart(cereus.funnel(EVENTS, STEPS, **more, **WHO)).to_dict()
    assert made["datasets"][made["data"]["name"]][0]["name"] == "VIEW"
    shown = json.dumps({name: each for name, each in made.items() if name != "datasets"})
    assert PALETTE[0] in shown and made["config"]["background"] == "transparent"


# ---------------------------------------------------------------- the definition


def longest(events: list[tuple[int, str]], steps: list[str], within: float, gap: float) -> int:
    """Every chain of events is tried."""

    def extended(chain: list[int]) -> int:
        level = len(chain)
        if level == len(steps):
            return level
        best = level
        for place in range(chain[-1] + 1 if chain else 0, len(events)):
            when, kind = events[place]
            first = events[chain[0]][0] if chain else when
            last = events[chain[-1]][0] if chain else when
            if kind == steps[level] and when - first <= within and when - last <= gap:
                best = max(best, extended([*chain, place]))
        return best

    return extended([])


@pytest.mark.parametrize("seed", range(volume(6, 75)))
def test_the_pass_finds_the_longest_chain_of_every_key(seed: int) -> None:
    draw = random.Random(seed)
    size, keys = draw.randint(1, 40), draw.randint(1, 4)
    times = sorted(draw.choices(range(30), k=size))
    rows = [(time, draw.choice("ABC"), draw.randrange(keys)) for time in times]
    steps = draw.choices("ABC", k=draw.randint(1, 4))
    within, gap = draw.choice([3, 8, 99]), draw.choice([1, 4, 99])
    table = pa.table(
        {"ts": [r[0] for r in rows], "type": [r[1] for r in rows], "user": [r[2] for r in rows]}
    )
    names = {f"{number} {step}": step for number, step in enumerate(steps)}
    found = cereus.funnel(table, names, within=f"{within} seconds", gaps=f"{gap} seconds", **WHO)
    for row in found.keys.to_pylist():
        of_key = [(when, kind) for when, kind, key in rows if key == row["user"]]
        assert row["level"] == longest(of_key, steps, within, gap)
        assert_is_a_chain(row, of_key, steps, within, gap)
    listed = set(found.keys["user"].to_pylist())
    assert listed == {key for _, kind, key in rows if kind in steps}


def assert_is_a_chain(
    row: dict[str, Any], events: list[tuple[int, str]], steps: list[str], within: float, gap: float
) -> None:
    """The times that are reported are those of events of the steps, near enough."""
    if not row["level"]:
        assert row["entered"] is None and row["took"] == []
        return
    times = [row["entered"]]
    for passed in row["took"]:
        times.append(times[-1] + passed)
    assert len(times) == row["level"] and times[-1] - times[0] <= within
    assert all(0 <= late - early <= gap for early, late in pairwise(times))
    assert all((time, step) in events for time, step in zip(times, steps, strict=False))


@pytest.mark.parametrize(
    "more",
    [
        {"gaps": 5},
        {"gaps": [5, 5]},
        {"gaps": object()},
        {"within": timedelta.max},
        {"within": 5},
        {"by": 5},
        {"by": [None]},
        {"by": {"a": 1}},
        {"by": "tags"},
        {"period": 5},
        {"period": ["day"]},
        {"unit": ["s"]},
        {"where": ["x"]},
        {"where": 5},
        {"sort": np.array([True, False])},
        {"sort": "no"},
        {"time": None},
        {"key": 5},
        {"type": ["type"]},
        {"params": [1]},
        {"params": {1: 2, "a": 1}},
        {"steps": [5]},
        {"steps": {1: "VIEW"}},
        {"steps": {"\ud800": "VIEW"}},
        {"steps": ["VIEW" * 100_000 + "["]},
    ],
    ids=range(25),
)
def test_what_is_no_argument_of_a_funnel_is_refused(more: dict[str, Any]) -> None:
    table = EVENTS.append_column("tags", pa.array([["a"]] * len(EVENTS)))
    with pytest.raises(CereusError) as caught:
        cereus.funnel(table, **{"steps": STEPS, **WHO, **more})
    assert len(str(caught.value)) < 2000


@pytest.mark.parametrize("name", ["keys", "step", "name", "dropped", "level", "took"])
def test_a_segment_that_is_called_as_a_column_of_the_answer_is_refused(name: str) -> None:
    table = EVENTS.rename_columns({"land": name})
    with pytest.raises(CereusError, match="has a column of this name already"):
        cereus.funnel(table, STEPS, by=name, **WHO)


def test_keys_without_a_number_are_one_segment() -> None:
    nan = float("nan")
    score = pa.array([nan, nan, nan, nan, nan, None, 1.0, 1.0], from_pandas=False)
    funnel = cereus.funnel(EVENTS.append_column("score", score), ["VIEW"], by="score", **WHO)
    assert repr(funnel.steps["score"].to_pylist()) == "[1.0, nan]"
    assert counts(funnel) == [1, 2]


def test_a_step_that_no_event_is_warns_in_python() -> None:
    with pytest.warns(CereusWarning, match="no event has the type 'PAYED'; did you mean 'PAY'"):
        funnel = cereus.funnel(EVENTS, ["VIEW", "PAYED"], **WHO)
    assert len(funnel.warnings) == 1


def test_thousands_of_steps_take_seconds() -> None:
    names = [f"S{n}" for n in range(3000)]
    table = pa.table({"user": [1] * 3000, "type": names, "ts": range(3000)})
    funnel = cereus.funnel(table, names, **WHO)
    assert counts(funnel) == [1] * 3000
