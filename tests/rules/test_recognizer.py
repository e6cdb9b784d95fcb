"""Rules that change while a stream runs: each answers as if it were alone, from when it was put."""

from __future__ import annotations

import gc
import json
import pickle
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest

import cereus
from cereus import Rule, RuleRecognizer
from cereus.errors import CereusError, DataError, LimitError, SnapshotError
from cereus.limits import Limits
from cereus.rules.rule import rules_in
from tests.rules.compiles import counted_compiles
from tests.volume import volume

STREAM = cereus.Stream(time="t", unit="s", keys=["k"])
SCHEMA = pa.schema({"type": pa.string(), "t": pa.int64(), "k": pa.string(), "x": pa.int64()})
PAIR = "SELECT * WHERE A ; B FILTER A[x > {}] WITHIN 20 seconds"
TEXTS = (
    PAIR,
    "SELECT a WHERE A AS a ; B AS b FILTER a[x > {}] WITHIN 20 seconds RETURN b.x - a.x AS d",
    "SELECT COUNT(*) WHERE A ; B+ FILTER A[x > {}] WITHIN 9 seconds",
    "SELECT * WHERE A : B FILTER B[x > {}]",
    "SELECT LAST * WHERE A ; B ; A FILTER B[x > {}] WITHIN 20 seconds",
    "SELECT * WHERE A FILTER A[x > {}] NOT FOLLOWED BY B WITHIN 5 seconds",
)


def recognizer(*rules: Any) -> RuleRecognizer:
    return RuleRecognizer(stream=STREAM, schema=SCHEMA, rules=list(rules))


def events(draw: Random, begin: int, size: int) -> list[dict[str, Any]]:
    return [
        {
            "type": draw.choice("AABBC"),
            "t": begin + n,
            "k": draw.choice("pq"),
            "x": draw.randrange(5),
        }
        for n in range(size)
    ]


def event(type: str, t: int, x: int = 1) -> dict[str, Any]:
    return {"type": type, "t": t, "k": "p", "x": x}


def rows(found: pa.Table) -> Counter[str]:
    kept = [{name: v for name, v in row.items() if name != "version"} for row in found.to_pylist()]
    return Counter(json.dumps(row, sort_keys=True) for row in kept)


def test_a_rule_answers_as_if_it_were_alone_from_when_it_was_put() -> None:
    for seed in range(volume(3, 6)):
        draw = Random(seed)
        together = recognizer()
        alone: dict[str, RuleRecognizer] = {}
        found: Counter[str] = Counter()
        expected: Counter[str] = Counter()
        for step in range(10):
            name = draw.choice("uvwxyz")
            if draw.randrange(4) == 0 and name in alone:
                together.remove(name)
                del alone[name]
            else:
                rule = Rule(name, draw.choice(TEXTS).format(draw.randrange(4)))
                (change,) = together.put(rule) or (None,)
                assert change is None or change.error is None
                if change is not None and change.change == "carried over":
                    assert [c.change for c in alone[name].put(rule)] == ["carried over"]
                elif change is not None:
                    alone[name] = recognizer(rule)
            if draw.randrange(3) == 0:
                saved = together.snapshot()
                together = RuleRecognizer.restored(saved, stream=STREAM, schema=SCHEMA)
            batch = events(draw, 12 * step, 12)
            found += rows(together.push(batch))
            for each in alone.values():
                expected += rows(each.push(batch))
        assert found == expected, seed
        assert found


def test_a_rule_whose_threshold_changes_goes_on_with_what_it_has_begun() -> None:
    found = recognizer(Rule("pair", PAIR.format(3)), Rule("other", PAIR.format(0)))
    found.push([event("A", 1, x=4), event("A", 2, x=1)])
    (change,) = found.put(Rule("pair", PAIR.format(9)))
    assert (change.change, change.version) == ("carried over", 2)
    matches = found.push([event("A", 3, x=4), event("B", 4)])
    assert Counter(zip(*(matches[n].to_pylist() for n in ("rule", "version")), strict=True)) == {
        ("pair", 2): 1,
        ("other", 1): 3,
    }


def test_a_rule_whose_output_changes_goes_on_with_what_it_has_begun() -> None:
    text = "SELECT * WHERE A AS a ; B AS b WITHIN 9 seconds RETURN {}"
    found = recognizer(Rule("r", text.format("a.x AS one")), Rule("s", text.format("a.x AS one")))
    found.push([event("A", 1, x=7)])
    (change,) = found.put(Rule("r", text.format("a.x + 1 AS two")))
    assert change.change == "carried over"
    values = {row["rule"]: row["values"] for row in found.push([event("B", 2)]).to_pylist()}
    assert values == {"r": '{"two": 8}', "s": '{"one": 7}'}


def test_a_rule_with_another_pattern_starts_afresh() -> None:
    found = recognizer(Rule("r", "SELECT * WHERE A ; B WITHIN 9 seconds"))
    found.push([event("A", 1)])
    (change,) = found.put(Rule("r", "SELECT * WHERE A ; B ; B WITHIN 9 seconds"))
    assert change.change == "replaced"
    assert found.push([event("B", 2), event("B", 3)]).num_rows == 0


def test_columns_of_the_stream_that_are_not_there_are_refused_at_once() -> None:
    for stream in (cereus.Stream(time="tt"), cereus.Stream(time="t", unit="s", keys=["kk"])):
        with pytest.raises(DataError, match=r"is not in the events\nhint: did you mean '[tk]'"):
            RuleRecognizer(stream=stream, schema=SCHEMA)


def test_a_rule_that_does_not_compile_is_reported_and_what_ran_goes_on() -> None:
    found = recognizer(Rule("r", "SELECT * WHERE A"), Rule("s", "SELECT * WHERE B"))
    changes = found.put(Rule("r", "SELECT * WHERE"), Rule("t", "SELECT * WHERE A FILTER A[y > 1]"))
    assert [(c.rule, c.version, c.change) for c in changes] == [
        ("r", 2, "refused"),
        ("t", 1, "refused"),
    ]
    assert all(change.error for change in changes)
    assert found.put(Rule("r", "SELECT * WHERE")) == []  # it is reported once
    matches = found.push([event("A", 1), event("B", 2)])
    assert matches["rule"].to_pylist() == ["r", "s"]
    assert matches["version"].to_pylist() == [1, 1]


def test_a_paused_rule_reads_nothing_and_begins_anew() -> None:
    rule = {"name": "r", "text": "SELECT * WHERE A ; B WITHIN 9 seconds"}
    found = recognizer(rule)
    found.push([event("A", 1)])
    assert [c.change for c in found.put({**rule, "enabled": False})] == ["paused"]
    assert found.push([event("B", 2)]).num_rows == 0
    assert [(c.change, c.version) for c in found.put(rule)] == [("resumed", 1)]
    assert found.push([event("B", 3), event("A", 4), event("B", 5)]).num_rows == 1


def test_rules_of_every_language_have_one_table() -> None:
    found = recognizer(
        Rule("ceql", "SELECT a WHERE A AS a RETURN a.x AS x"),
        Rule("sase", "PATTERN SEQ(A a, B b) WITHIN 9 seconds RETURN a.x", "sase"),
        Rule("par", "repeat A[seen]", "par"),
        Rule("limit", "SELECT * WHERE A FILTER A[x > :limit]", parameters={"limit": 0}),
    )
    matches = found.push([event("A", 1), event("B", 2)])
    assert set(matches["rule"].to_pylist()) == {"ceql", "sase", "par", "limit"}
    assert matches.schema == found.schema
    assert found.schema.names == [
        "rule",
        "version",
        "k",
        "start_time",
        "end_time",
        "values",
        "events",
    ]


def test_variables_of_every_language_are_events_and_no_row_numbers() -> None:
    rule = Rule("sase", "PATTERN SEQ(A a, B b) WITHIN 9 seconds", "sase")
    matches = recognizer(rule).push([event("C", 0), event("A", 1), event("B", 2)])
    (values,) = (json.loads(each) for each in matches["values"].to_pylist())
    assert [[each["type"] for each in values[name]] for name in "ab"] == [["A"], ["B"]]


def test_rules_are_the_files_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "first.ceql").write_text("SELECT * WHERE A")
    (tmp_path / "second.par").write_text("repeat A[seen]")
    (tmp_path / "notes.txt").write_text("not a rule")
    found = RuleRecognizer(stream=STREAM, schema=SCHEMA, rules=tmp_path)
    assert set(found.rules) == {"first", "second"}
    (tmp_path / "first.ceql").write_text("SELECT * WHERE B")
    (tmp_path / "second.par").rename(tmp_path / "second.par.off")
    (tmp_path / "third.ceql").write_text("SELECT * WHERE C")
    assert [(c.rule, c.change) for c in found.set(tmp_path)] == [
        ("first", "replaced"),
        ("second", "paused"),
        ("third", "added"),
    ]
    (tmp_path / "third.ceql").unlink()
    assert [(c.rule, c.change) for c in found.set(tmp_path)] == [("third", "removed")]
    assert found.set(tmp_path) == []


def test_a_file_that_is_not_utf_8_is_refused_and_harms_no_other(tmp_path: Path) -> None:
    (tmp_path / "first.ceql").write_text("SELECT * WHERE A")
    (tmp_path / "second.ceql").write_bytes(
        "SELECT *\nWHERE A FILTER A[k = 'Zürich']".encode("latin1")
    )
    found = RuleRecognizer(stream=STREAM, schema=SCHEMA, rules=tmp_path)
    assert [(c.rule, c.change) for c in found.changes] == [
        ("first", "added"),
        ("second", "refused"),
    ]
    assert "line 2 of the rule" in str(found.changes[1].error)
    assert found.push([event("A", 1)])["rule"].to_pylist() == ["first"]
    assert found.set(tmp_path) == []


def test_a_rule_may_ask_for_the_sign_of_characters_that_were_lost(tmp_path: Path) -> None:
    text = "SELECT * WHERE A FILTER A[k LIKE '%\N{REPLACEMENT CHARACTER}%']"
    (tmp_path / "lost.ceql").write_text(text, encoding="utf-8")
    for rules in (tmp_path, {"lost": text}):
        (change,) = RuleRecognizer(stream=STREAM, schema=SCHEMA, rules=rules).changes
        assert change.change == "added"


def test_rules_are_the_rows_of_a_table() -> None:
    table = pa.table(
        {
            "name": ["a", "b"],
            "text": ["SELECT * WHERE A FILTER A[x > :low]", "SELECT * WHERE B"],
            "parameters": ['{"low": 0}', None],
            "enabled": [True, None],
        }
    )
    found = RuleRecognizer(stream=STREAM, schema=SCHEMA, rules=table)
    assert found.push([event("A", 1), event("B", 2)])["rule"].to_pylist() == ["a", "b"]


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({"name": "a"}, "a rule needs a text"),
        ({"name": "", "text": "SELECT * WHERE A"}, "a rule needs a name"),
        ({"name": "a", "text": "SELECT * WHERE A", "query": 1}, "a rule has no 'query'"),
        ({"name": "a", "text": "SELECT * WHERE A", "parameters": "{"}, "not JSON"),
        ("SELECT * WHERE A", "a Rule or a mapping"),
    ],
)
def test_what_is_no_rule_is_refused(rule: Any, message: str) -> None:
    with pytest.raises(CereusError, match=message):
        recognizer().put(rule)


def test_a_rule_given_at_the_start_that_does_not_compile_is_reported() -> None:
    made = recognizer(Rule("good", "SELECT * WHERE A"), Rule("bad", "SELECT * WHERE A ;; B"))
    assert [(each.rule, each.change) for each in made.changes][1] == ("bad", "refused")


def test_a_snapshot_of_other_columns_is_refused() -> None:
    saved = recognizer(Rule("r", "SELECT * WHERE A")).snapshot()
    other = SCHEMA.append(pa.field("y", pa.int64()))
    with pytest.raises(SnapshotError, match="columns"):
        RuleRecognizer.restored(saved, stream=STREAM, schema=other)


def test_ctrl_c_half_way_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*arguments: object) -> None:
        raise KeyboardInterrupt

    made = recognizer(Rule("r", PAIR.format(0)))
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("cereus.rules.recognizer.output", interrupted)
        made.push([event("A", 1), event("B", 2)])
    with pytest.raises(CereusError, match="read no more: it was interrupted"):
        made.push([event("A", 3)])


def test_a_limit_that_is_reached_ends_it_and_refused_events_do_not() -> None:
    made = RuleRecognizer(
        stream=STREAM,
        schema=SCHEMA,
        rules=[Rule("big", "SELECT * WHERE A+"), Rule("z", "SELECT * WHERE A ; A ; A")],
        limits=Limits(matches_per_event=2),
    )
    with pytest.raises(DataError):
        made.push(pa.table({"other": [1]}))
    with pytest.raises(LimitError):
        made.push(pa.Table.from_pylist([{"type": "A", "t": 1, "k": "p", "x": 1}] * 4, SCHEMA))
    with pytest.raises(CereusError, match="read no more"):
        made.push(pa.Table.from_pylist([], SCHEMA))


def test_an_error_that_matching_finds_ends_it() -> None:
    """The sum that the second A begins does not fit 64 bits; that of the first, which was left out,
    would."""
    made = recognizer(Rule("r", "SELECT LAST * WHERE A AS a ; B AS a ; C FILTER sum(a.x) > 5"))
    given = [event("A", 1, 6), event("A", 2, 2**62 + 6), event("B", 3, 2**62), event("C", 4)]
    with pytest.raises(DataError, match="does not fit 64 bits"):
        made.push(given)
    with pytest.raises(CereusError, match="these rules read no more: a sum of integers"):
        made.push([event("A", 5)])


def test_time_is_a_number_or_a_datetime() -> None:
    with pytest.raises(DataError, match="not a str"):
        recognizer().advance("x")  # type: ignore[arg-type]


ROW: dict[str, Any] = {"name": "a", "text": "SELECT * WHERE A FILTER A[x > :low]"}


@pytest.mark.parametrize("value", ["false", "true", "", 0, 1.0, [False]])
def test_a_flag_that_is_no_boolean_is_refused_by_name(value: Any) -> None:
    with pytest.raises(CereusError, match="'enabled' of a rule is true or false"):
        recognizer().put({**ROW, "enabled": value})


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"parameters": "[" * 100_000}, "not JSON"),
        ({"parameters": '{"low":' * 50_000}, "not JSON"),
        ({"parameters": {"low": {"a": 1}}}, "the parameter :low is of the type dict"),
        ({"parameters": {"low": [[1]]}}, "the parameter :low is of the type list"),
        ({"parameters": {"low": object()}}, "the parameter :low is of the type object"),
        ({"parameters": {"low": {"datetime": "soon"}}}, "the parameter :low"),
        ({"parameters": {1: 2}}, "have names"),
        ({"parameters": [1, 2]}, "a mapping, not a list"),
        ({"options": {"stream": "s"}}, "no option 'stream'"),
        ({"options": {"schema": 1}}, "no option 'schema'"),
        ({"name": "\ud800"}, "the name of a rule holds half a letter"),
        ({"language": 5}, "the language of a rule is a text"),
    ],
)
def test_a_rule_with_hostile_values_is_refused_by_name(more: dict[str, Any], message: str) -> None:
    with pytest.raises(CereusError, match=message) as caught:
        recognizer().put({**ROW, **more})
    assert len(str(caught.value)) < 2000


def test_times_are_parameters_that_a_snapshot_keeps() -> None:
    stream = cereus.Stream(time="t")
    schema = pa.schema({"type": pa.string(), "t": pa.timestamp("us"), "n": pa.int64()})
    text = "SELECT * WHERE A FILTER A[t > :since AND t - :since < :most AND n IN :some]"
    given = {"since": datetime(2024, 1, 1), "most": timedelta(days=1), "some": (1, 2)}
    rule = Rule("r", text, parameters=given)
    made = RuleRecognizer(stream=stream, schema=schema, rules=[rule])
    assert [each.error for each in made.changes] == [None]
    again = RuleRecognizer.restored(made.snapshot(), stream=stream, schema=schema)
    assert again.rules == {"r": rule} and again.put(rule) == []
    row = {"type": "A", "t": datetime(2024, 1, 1, 12), "n": 2}
    assert again.push([row]).num_rows == 1
    assert Rule.of(json.loads(rule.written())) == rule


@pytest.mark.parametrize(
    "more", [{"stream": None}, {"stream": "t"}, {"limits": 5}, {"rules": 5}, {"rules": "x" * 5000}]
)
def test_arguments_of_a_rule_recognizer_are_checked(more: dict[str, Any]) -> None:
    with pytest.raises(CereusError):
        RuleRecognizer(**{"stream": STREAM, "schema": SCHEMA, **more})
    with pytest.raises(CereusError):
        recognizer().remove(["a"])  # type: ignore[arg-type]
    with pytest.raises(SnapshotError):
        RuleRecognizer.restored("x", stream=STREAM, schema=SCHEMA)  # type: ignore[arg-type]


def test_names_of_many_rules_are_compared_in_one_pass() -> None:
    rules = [{"name": str(n), "text": "x"} for n in range(30_000)]
    with pytest.raises(CereusError, match="two rules are called '29999'"):
        rules_in([*rules, rules[-1]])


def test_a_rule_is_compiled_once_however_many_recognizers_run_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compiled = counted_compiles(monkeypatch)
    texts = [PAIR.format(1000 + n) for n in range(3)]
    rules = [Rule(f"rule {n}", text) for n, text in enumerate(texts)]
    first = recognizer(*rules)
    second = RuleRecognizer.restored(first.snapshot(), stream=STREAM, schema=SCHEMA)
    third = recognizer({"name": "another name", "text": texts[0]})
    assert compiled == texts
    other = cereus.Stream(time="t", unit="ms", keys=["k"])
    RuleRecognizer(stream=other, schema=SCHEMA, rules=rules[:1])
    assert compiled == [*texts, texts[0]], "the text means something else there"
    del first, second, third
    gc.collect()
    recognizer(rules[0])
    assert len(compiled) == 5, "nobody runs it any more"


def test_a_recognizer_of_rules_is_pickled_with_what_it_has_seen() -> None:
    made = _half_way()
    again = pickle.loads(pickle.dumps(made))
    assert (again.rules, again.limits) == (made.rules, made.limits)
    rest = _recorded_events()[RECORDED_EVENTS:]
    assert rows(again.push(rest)) == rows(made.push(rest))


RECORDED = Path(__file__).parent / "recorded.snapshot"
"""Made by `python -m tests.rules.test_recognizer`, for later versions to read."""
RECORDED_EVENTS = 60


def _recorded_events() -> list[dict[str, Any]]:
    return events(Random(5), 0, 2 * RECORDED_EVENTS)


def _half_way() -> RuleRecognizer:
    made = recognizer(*(Rule(f"rule {n}", text.format(n % 3)) for n, text in enumerate(TEXTS)))
    made.put(Rule("rule 0", PAIR.format(2)), Rule("paused", PAIR.format(1), enabled=False))
    made.push(_recorded_events()[:RECORDED_EVENTS])
    return made


def test_a_snapshot_that_an_earlier_version_has_made_is_gone_on_from() -> None:
    again = RuleRecognizer.restored(RECORDED.read_bytes(), stream=STREAM, schema=SCHEMA)
    expected = _half_way()
    assert again.rules == expected.rules
    rest = _recorded_events()[RECORDED_EVENTS:]
    found = rows(again.push(rest)) + rows(again.finish())
    assert found == rows(expected.push(rest)) + rows(expected.finish())
    assert sum(found.values()) > 50


if __name__ == "__main__":
    RECORDED.write_bytes(_half_way().snapshot())
