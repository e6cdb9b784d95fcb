"""Random clauses over random tables: every path gives what the reference gives."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from cereus.errors import DataError
from cereus.languages.match_recognize.binding import bound
from cereus.languages.match_recognize.match import finding, matching
from cereus.languages.match_recognize.match.program import automaton
from cereus.languages.match_recognize.output import batch
from cereus.languages.match_recognize.text import parse
from cereus.limits import Limits
from cereus.reference import match_recognize as reference
from tests.languages.match_recognize.random_clauses import (
    OF_AGGREGATES,
    OF_ROW,
    OF_SEARCH,
    OF_SLOTS,
    clauses,
    tables,
)

POOLS = {
    "rows": OF_ROW,
    "slots": OF_ROW[:4] + OF_SLOTS,
    "aggregates": OF_ROW[:3] + OF_SLOTS[:4] + OF_AGGREGATES,
    "search": OF_ROW[:3] + OF_SEARCH,
}


def expected(text: str, table: pa.Table) -> list[dict[str, Any]] | None:
    """What the reference puts out; None where SKIP TO goes nowhere."""
    try:
        return reference.run(parse(text), table.to_pylist(), table.column_names)
    except DataError:
        return None


def put_out(text: str, table: pa.Table, path: finding.Path | None = None) -> Any:
    clause = parse(text)
    over = bound(clause, table.schema)
    states = automaton(clause.pattern)
    try:
        chosen = path or finding.path_of(over, states)
        return batch.run(over, states, chosen, table, Limits()).to_pylist()
    except DataError:
        return None


def comparable(rows: list[dict[str, Any]] | None) -> Any:
    """Rows as texts. The reference has times with a zone, and sums in another order of adding."""
    if rows is None:
        return None
    return [{name: _plain(value) for name, value in row.items()} for row in rows]


def _plain(value: Any) -> Any:
    if hasattr(value, "tzinfo"):
        return value.replace(tzinfo=None)
    return round(value, 9) if isinstance(value, float) else value


def by_partition(rows: Any) -> Any:
    """The order of partitions is not fixed; that inside them is."""
    if rows is None or not rows or "k" not in rows[0]:
        return rows
    return sorted(rows, key=lambda row: repr(row["k"]))


@pytest.mark.parametrize("pool", POOLS)
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=800)
@given(data=st.data())
def test_the_engine_puts_out_what_the_reference_puts_out(pool: str, data: st.DataObject) -> None:
    text = data.draw(clauses(POOLS[pool]))
    table = data.draw(tables())
    wanted = comparable(expected(text, table))
    assert by_partition(comparable(put_out(text, table))) == by_partition(wanted), text


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=150)
@given(text=clauses(OF_ROW, within=False), table=tables())
def test_a_clause_of_rows_gives_the_same_on_every_path(text: str, table: pa.Table) -> None:
    by_rows = put_out(text, table, finding.Path.ROWS)
    for path in (finding.Path.SLOTS, finding.Path.SEARCH):
        assert put_out(text, table, path) == by_rows, text


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=150)
@given(text=clauses(OF_ROW, within=False), table=tables())
def test_without_numbered_sets_the_matches_are_the_same(text: str, table: pa.Table) -> None:
    by_sets = put_out(text, table)
    clause = parse(text)
    over, states = bound(clause, table.schema), automaton(clause.pattern)
    assume(len(states))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cereus.languages.match_recognize.match.look_ahead.MOST_SETS", 0)
        try:
            by_states = batch.run(over, states, finding.Path.ROWS, table, Limits()).to_pylist()
        except DataError:
            by_states = None
    assert by_states == by_sets
    assert matching.MOST_NUMBERS
