"""PAR through the public API: what the reference says, however the events come."""

from __future__ import annotations

import pickle
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cereus
from cereus.errors import (
    CereusError,
    ConditionTypeError,
    DataError,
    SnapshotError,
    UnknownNameError,
)
from cereus.languages.par.tree import Atom, Completion, Program, atoms
from cereus.reference import par as reference
from tests.languages.par.random_programs import programs
from tests.languages.streams import Row, by_key, cuts, in_pieces, rows, satisfies, table

streams = st.sampled_from(
    [
        cereus.Stream(),
        cereus.Stream(time="t"),
        cereus.Stream(keys="k"),
        cereus.Stream(time="t", keys="k"),
    ]
)


def symbol(program: Program, row: Row) -> frozenset[Atom]:
    return frozenset(a for a in atoms(program) if satisfies(row, a.type, a.condition))


def expected(program: Program, found: list[Row], stream: cereus.Stream) -> list[Row]:
    """The rule-by-rule reference, one program for each key, as rows of the result."""
    results = []
    for numbers in by_key(found, bool(stream.keys)):
        shown = reference.run(program, [symbol(program, found[n]) for n in numbers])
        for number, (output, completion) in zip(numbers, shown, strict=True):
            if output or completion is not Completion.INCOMPLETE:
                row: dict[str, Any] = {"position": number, "outputs": sorted(output)}
                row["completion"] = completion.name.lower()
                row |= {"k": found[number]["k"]} if stream.keys else {}
                row |= {"time": found[number]["t"]} if stream.time else {}
                results.append(row)
    return sorted(results, key=lambda row: row["position"])


def compiled(text: str, **options: Any) -> cereus.Query:
    return cereus.compile(text, dialect="par", **options)


@given(programs(), rows("abc"), streams, cuts)
def test_running_is_the_reference(
    program: Program, found: list[Row], stream: cereus.Stream, cut: list[int]
) -> None:
    query = compiled(str(program), stream=stream)
    answer = expected(program, found, stream)
    events = table(found)
    assert list(query.run(events)) == answer
    assert in_pieces(query, events, cut) == answer
    assert list(pickle.loads(pickle.dumps(query)).run(events)) == answer


def test_more_atoms_than_a_mask_word_has() -> None:
    names = [f"e{n}" for n in range(70)]
    program = " | ".join(f"{name}[{name.upper()}]" for name in names)
    events = pa.table({"type": names[::-1]})
    found = compiled(f"repeat ({program})").run(events)
    assert found.table.column("outputs").to_pylist() == [[n.upper()] for n in names[::-1]]


def test_a_sorted_run_calls_rows_by_their_own_numbers() -> None:
    events = pa.table({"type": ["b", "a"], "t": [2, 1]})
    query = compiled("a ; b[A]", stream=cereus.Stream(time="t"))
    with pytest.raises(DataError, match="goes backwards"):
        query.run(events)
    assert [row["position"] for row in query.run(events, sort=True)] == [0]


def test_events_are_those_with_output() -> None:
    events = pa.table({"type": ["a", "b", "a"], "v": [1, 2, 3]})
    query = compiled("repeat (a ; b[A])")
    assert query.run(events).events().to_pylist() == [
        {"match": 0, "position": 1, "type": "b", "v": 2}
    ]
    recognizer = query.recognizer(keep_events=True)
    assert recognizer.push(events).events().column("v").to_pylist() == [2]


def test_a_program_that_has_completed_is_silent() -> None:
    found = compiled("a[A]").run(pa.table({"type": ["a", "a"]}))
    assert [row["completion"] for row in found] == ["success"]


def test_a_snapshot_belongs_to_its_program() -> None:
    recognizer = compiled("a ; b").recognizer()
    recognizer.push(pa.table({"type": ["a"]}))
    with pytest.raises(SnapshotError):
        compiled("a ; c").restore(recognizer.snapshot())


def test_an_unknown_column_is_pointed_at() -> None:
    schema = pa.schema([("type", pa.string()), ("price", pa.int64())])
    with pytest.raises(UnknownNameError) as raised:
        compiled("a ; b(prize > 1)", schema=schema)
    assert "1 | a ; b(prize > 1)\n          ^^^^^\n" in str(raised.value)
    assert "did you mean 'price'?" in str(raised.value)


def test_a_wrong_type_is_pointed_at() -> None:
    query = compiled("a(v > 'x')")
    with pytest.raises(ConditionTypeError, match=r"\^\^\^"):
        query.run(pa.table({"type": ["a"], "v": [1]}))


def test_missing_columns_of_the_stream_are_named() -> None:
    query = compiled("a", stream=cereus.Stream(keys="kye"))
    with pytest.raises(UnknownNameError, match="did you mean 'key'"):
        query.run(pa.table({"type": ["a"], "key": [1]}))


def test_unknown_options_and_dialects_are_refused() -> None:
    with pytest.raises(CereusError, match="no option 'values'"):
        compiled("a", values=True)
    with pytest.raises(CereusError, match="did you mean 'par'"):
        cereus.compile("a", dialect="pra")


def test_explain_says_sizes_and_warns() -> None:
    said = compiled("repeat a[A] ; b[B]").explain()
    assert "minimise  1 states" in said
    assert "no input ever brings about the output B" in said
    assert "no output" in compiled("a ; b").warnings[0]
