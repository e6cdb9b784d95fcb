"""What the command line warns of, Python does too: in the answer, and as a `CereusWarning` once."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cereus
from cereus.notices import types_in
from cereus.sources import source

EVENTS = pa.table({"type": ["BUY", "SELL", "SELL", "BUY"], "price": [1.0, 2.0, 3.0, 4.0]})
NEVER = "SELECT * WHERE BUY AS a ; SELL FILTER a[price > 3 AND price < 2] WITHIN 4 EVENTS"
GROWING = "SELECT * WHERE BUY ; SELL"
UNSEEN = "SELECT * WHERE BUY ; SALE WITHIN 4 EVENTS"


def run(text: str) -> cereus.Matches:
    return cereus.compile(text).run(EVENTS)


def test_a_pattern_that_never_matches_shows_in_the_answer() -> None:
    with pytest.warns(cereus.CereusWarning, match="can never match"):
        matches = run(NEVER)
    assert matches.warnings[0] in repr(matches).splitlines()[-1]
    assert repr(matches).startswith("0 matches\nwarning: this pattern can never match")
    assert "<b>Warning:</b> this pattern can never match" in matches._repr_html_()


def test_types_that_no_event_has_show_where_nothing_matches() -> None:
    with pytest.warns(cereus.CereusWarning) as raised:
        matches = run(UNSEEN)
    assert matches.warnings == ("no event has the type 'SALE'; did you mean 'SELL'?",)
    assert [str(each.message) for each in raised] == list(matches.warnings)
    with warnings.catch_warnings():
        warnings.simplefilter("error", cereus.CereusWarning)
        assert run("SELECT * WHERE BUY ; (SELL OR SALE) WITHIN 4 EVENTS").warnings == ()


def test_many_missing_types_are_one_warning() -> None:
    unknown = " OR ".join(f"T{n:03}" for n in range(200))
    with pytest.warns(cereus.CereusWarning) as raised:
        matches = run(f"SELECT * WHERE BUY ; ({unknown}) WITHIN 4 EVENTS")
    assert matches.warnings == (
        "no event has the types 'T000', 'T001', 'T002', 'T003', 'T004' and 195 more; "
        "known here: BUY, SELL",
    )
    assert len(raised) == 1
    with pytest.warns(cereus.CereusWarning):
        few = run("SELECT * WHERE BYU ; SALE ; QUUX WITHIN 4 EVENTS").warnings
    assert few == (
        "no event has the types 'BYU' (did you mean 'BUY'?), 'QUUX', 'SALE' (did you mean 'SELL'?)",
    )


def test_a_missing_window_shows_once_and_in_every_answer() -> None:
    query = cereus.compile(GROWING)
    with pytest.warns(cereus.CereusWarning, match="no WITHIN") as raised:
        answers = [query.run(EVENTS), query.run(EVENTS)]
    assert len(raised) == 1
    assert raised[0].filename == __file__, "the warning is about the line that runs the query"
    assert all("no WITHIN" in each.warnings[0] for each in answers)
    assert answers[0].head(1).warnings == answers[0].warnings


def test_every_way_to_run_warns_in_the_name_of_its_caller() -> None:
    for start in (
        lambda query: query.recognizer(),
        lambda query: query.run(EVENTS),
        lambda query: cereus.compile_many({"q": query}).run(EVENTS),
    ):
        with pytest.warns(cereus.CereusWarning, match="no WITHIN") as raised:
            start(cereus.compile(GROWING))
        assert [each.filename for each in raised] == [__file__]


@pytest.mark.parametrize("kind", ["table", "chunks", "file"])
def test_looking_for_types_ends_when_all_are_seen(kind: str, tmp_path: Path) -> None:
    """The last type is far behind, and seen only where another one is missing."""
    parts = [pa.table({"type": [*"AB", *"C" * 300_000, last]}) for last in "CD"]
    events: Any = pa.concat_tables(parts)
    if kind == "table":
        events = events.combine_chunks()
    elif kind == "file":
        pq.write_table(events, tmp_path / "events.parquet", row_group_size=100_000)
        events = tmp_path / "events.parquet"
    known = source(events, cereus.Stream())
    assert types_in(known, "type", {"A", "B"}) == {"A", "B", "C"}
    assert types_in(known, "type", {"A", "E"}) == {"A", "B", "C", "D"}


def test_types_are_looked_for_in_many_small_chunks() -> None:
    chunks = [pa.table({"type": ["A"] * 3, "t": [3 * n, 3 * n + 1, 3 * n + 2]}) for n in range(90)]
    query = cereus.compile("SELECT * WHERE A ; B", stream=cereus.Stream(time="t", unit="s"))
    with pytest.warns(UserWarning, match="B"):
        assert len(query.run(pa.concat_tables(chunks))) == 0


def test_a_count_tells_the_sum_of_its_counts() -> None:
    query = cereus.compile("SELECT COUNT(*) WHERE BUY ; SELL+ WITHIN 4 EVENTS")
    counts = query.run(EVENTS)
    assert len(counts) == 2 and counts.total == 3 == query.count(EVENTS)
    assert repr(counts).startswith("3 matches counted in 2 rows\n")
    assert "<b>3 matches counted in 2 rows</b>" in counts._repr_html_()


def test_counts_beyond_every_float_are_still_shown() -> None:
    query = cereus.compile("SELECT COUNT(*) WHERE A+ WITHIN 2000 EVENTS")
    counts = query.run(pa.table({"type": ["A"] * 1100}))
    assert repr(counts).startswith("inf matches counted in 1,100 rows")
