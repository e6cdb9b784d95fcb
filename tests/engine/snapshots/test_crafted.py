"""Crafted snapshots of queries, rules and live buckets: each is refused, or a run goes on."""

from __future__ import annotations

import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cereus
from cereus.engine import snapshot
from cereus.engine.rules.substreams import MOST_RULES
from cereus.errors import SnapshotError
from cereus.state import codec
from tests.engine.snapshots import crafted, fuzz
from tests.engine.snapshots.cases import CASES
from tests.volume import volume

ROOT = Path(__file__).parents[3]
STATES = volume(100, 1_500)


def test_a_crafted_state_never_crashes() -> None:
    """In a process of its own, with bounded memory: a crash is a failure and not the end."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.engine.snapshots.crafted", "0", str(STATES)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 0, (done.stdout.splitlines()[-1:], done.stderr[-3000:])
    assert "went on" in done.stdout and "refused" in done.stdout


def test_what_is_not_changed_goes_on() -> None:
    for make in dict.fromkeys(crafted.TARGETS):
        target = make()
        target.go_on(target.written(target.value()))


# ---------------------------------------------------------------- rules


def restored(change: Any) -> None:
    header, state = crafted.inside(crafted.rules_taken())
    change(state)
    crafted.of_rules().go_on(crafted.outside((header, state)))


def number(unit: dict[str, Any], value: object) -> None:
    (_, name), *others = unit["rules"]
    unit["rules"] = [(value, name), *others]


@pytest.mark.parametrize("value", [-1, MOST_RULES, 2**40, "0", None])
def test_the_number_of_a_rule_is_in_its_range(value: object) -> None:
    """A number of many digits once made a list of all numbers below it."""
    with pytest.raises(SnapshotError, match="the number of a rule"):
        restored(lambda state: number(state["units"][0], value))


def test_rules_of_a_unit_have_one_shape() -> None:
    def mixed(state: dict[str, Any]) -> None:
        group, *others = state["units"]
        group["rules"] += [(7, others.pop()["rules"][0][1])]
        state["units"] = [group, *others]

    with pytest.raises(SnapshotError, match="another shape"):
        restored(mixed)


def test_a_unit_has_rules_and_every_rule_a_unit() -> None:
    with pytest.raises(SnapshotError, match="no numbers"):
        restored(lambda state: state["units"][0].update(rules=[]))
    with pytest.raises(SnapshotError, match="a rule has no state"):
        restored(lambda state: state["units"].pop())


def test_a_match_of_a_rule_that_is_not_there_is_refused() -> None:
    """The kernel of a group has partial matches of a rule that the state does not name. What they
    became was looked up among the rules: a KeyError."""

    def forgotten(state: dict[str, Any]) -> None:
        group = state["units"][0]
        *kept, (_, name) = group["rules"]
        group["rules"] = kept
        state["rules"] = [each for each in state["rules"] if name not in str(each[0])]

    with pytest.raises(SnapshotError, match="a match is of a rule that has no state"):
        restored(forgotten)


@pytest.mark.parametrize("version", [[1], "1", -1, 2**63])
def test_the_version_of_a_rule_is_a_number(version: object) -> None:
    def other(state: dict[str, Any]) -> None:
        state["rules"] = [(text, version, runs) for text, _, runs in state["rules"]]

    with pytest.raises(SnapshotError, match="the version of a rule"):
        restored(other)


def test_rules_with_gaps_in_their_numbers_are_restored_and_added_to() -> None:
    texts = [{**crafted.RULES[0], "name": str(n)} for n in range(6)]
    rules = cereus.RuleRecognizer(stream=crafted.STREAM, schema=crafted.SCHEMA, rules=texts)
    rules.push(crafted.events(0, 20))
    rules.remove("1", "4")
    again = cereus.RuleRecognizer.restored(
        rules.snapshot(), stream=crafted.STREAM, schema=crafted.SCHEMA
    )
    for each in (rules, again):
        each.put(*({**crafted.RULES[0], "name": name} for name in "xyz"))
    found, expected = (
        sorted(map(repr, each.push(crafted.events(20, 20)).to_pylist())) for each in (again, rules)
    )
    assert found and found == expected


# ---------------------------------------------------------------- queries


def case_of(name: str) -> int:
    return next(place for place, case in enumerate(CASES) if case.name == name)


def test_a_state_that_says_to_be_two_billion_values_is_refused() -> None:
    """It was listed once, before it was looked at."""
    place = case_of("pending")
    before, _ = fuzz.parts(fuzz.taken(place))
    header, _ = codec.decode(fuzz.parts(fuzz.taken(place))[1])
    data = codec.encode((header, crafted.SMALL_AND_LONG[0]()))
    with pytest.raises(SnapshotError, match="its state is not a dict"):
        CASES[place].query.restore(fuzz.joined(before, data))


@pytest.mark.parametrize(
    ("name", "wrong"), [("labels", 2**22), ("labels", 0), ("cells", -1), ("cells", 2**40)]
)
def test_a_match_that_waits_refers_to_what_is_there(name: str, wrong: int) -> None:
    """Labels and events of matches that wait were looked up without a check: an IndexError."""
    target = crafted.of_query(case_of("not followed"))
    header, state = target.value()
    assert len(state["waiting"][name])
    state["waiting"][name][-1] = wrong
    with pytest.raises(SnapshotError, match="what waits"):
        target.go_on(target.written((header, state)))


def test_a_chosen_match_over_values_of_another_type_is_refused() -> None:
    """The automaton that chooses begins in states of the snapshot."""
    target = crafted.of_query(case_of("max of many by values"))
    value = target.value()
    for path in list(crafted.paths(value)):
        if isinstance(crafted.at(value, path), Decimal):
            value = crafted.changed(value, path, lambda _: 2.5)
    with pytest.raises(SnapshotError, match="not those of this query"):
        target.go_on(target.written(value))


def test_the_header_is_looked_at_before_it_is_compared() -> None:
    place = case_of("plain")
    before, _ = fuzz.parts(fuzz.taken(place))
    for content in ((), [{}, {}], ({}, {}, {}), np.zeros(2), ([], {})):
        with pytest.raises(SnapshotError):
            CASES[place].query.restore(fuzz.joined(before, codec.encode(content)))
    assert snapshot.load(snapshot.dump({}, {}), {}) == {}
