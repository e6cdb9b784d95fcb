"""The public cases of MATCH_RECOGNIZE, of Trino, Oracle (through DuckDB), Flink, IoTDB, Calcite.

They are read from `../shared/conformance`, where that is there.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import cereus
from cereus.errors import CereusError
from cereus.languages.match_recognize.binding import bound
from cereus.languages.match_recognize.match import finding
from cereus.languages.match_recognize.match.program import automaton
from cereus.languages.match_recognize.match.sorting import SortedRows
from cereus.languages.match_recognize.text import parse, parse_only
from cereus.languages.match_recognize.tree import Rows
from cereus.limits import Limits
from cereus.reference import match_recognize as reference
from tests.languages.match_recognize import conformance
from tests.languages.match_recognize.conformance import answer, expected, of_scope, same, table_of

pytestmark = pytest.mark.skipif(
    not conformance.cases(), reason="the conformance cases are not here"
)
duckdb = pytest.importorskip("duckdb", reason="the statements around the clauses run in DuckDB")

FLINKS_WINDOWS = (
    "TUMBLE of Flink in the statement around the clause, which DuckDB runs and does not know; of "
    "Flink, section 5 takes WITHIN alone: 'the standard, plus WITHIN with Flink's meaning'"
)
FLINKS_LIMITS = (
    "section 5: in Flink 'the pattern must not be nullable nor end greedily', where it falls short "
    "of the standard; section 3 has both"
)
NO_COLUMN = "section 2: 'MEASURES may be missing (ONE ROW then needs partition columns)'"
NAMES = (
    "section 4 calls them FIRST and LAST; only IoTDB refuses these names (the case is marked "
    "engine_specific)"
)
EXCEPTIONS = {
    "trino-Analyzer-testSubqueries-01": "section 6: 'subquery 5 (path b, or refused)': refused by "
    "name",
    "flinksql-batch-testMatchRecognizeAppliedToWindowedGrouping": FLINKS_WINDOWS,
    "flinksql-batch-testWindowedGroupingAppliedToMatchRecognize": FLINKS_WINDOWS,
    "flinksql-stream-testMatchRecognizeAppliedToWindowedGrouping": FLINKS_WINDOWS,
    "flinksql-batch-testUserDefinedFunctions": "functions of the test's own, in Java",
    "flinksql-stream-testAccessingCurrentTime": "CURRENT_TIMESTAMP: section 4 knows values of rows "
    "only, and a run gives the same answer at any time",
    "flinksql-validation-testGreedyQuantifierAtTheEndIsNotSupported": FLINKS_LIMITS,
    "flinksql-validation-testPatternsProducingEmptyMatchesAreNotSupported": FLINKS_LIMITS,
    "duckdb-backtracking-22-aaa-a-0-0": "{0,0}: the cases testPatternQuantifiers-15 of Trino and "
    "testPatternQuantifiers-13 of IoTDB want it refused, as the standard does",
    "iotdb-analyzer-testPatternFunctions-02": NAMES,
    "iotdb-analyzer-testPatternFunctions-03": NAMES,
    "calcite-validator-match-recognize-defines3-1": NO_COLUMN,
    "calcite-validator-match-recognize-within-order-by-timestamp-with-local-time-zone-1": NO_COLUMN,
}
"""Cases that are left out, and why: the sections are those of the description of the language."""
AROUND = (
    "trino-Analyzer-testOutputTableNameAndAliases-03",
    "trino-Analyzer-testPartitionBy-02",
    "trino-Analyzer-testOrderBy-02",
    "flinksql-validation-testMatchProcTimeInSelect",
)
"""Cases whose clauses say nothing wrong, or that have none: what is wrong stands around them, and
DuckDB refuses it."""
EXPONENTIAL = "trino-RowPatternMatching-testPotentiallyExponentialMatch-01"
"""Linear here; the reference tries every way through the pattern."""


def known(*scopes: str) -> list[Any]:
    return [
        pytest.param(case, id=case["id"])
        for case in of_scope(*scopes)
        if case["id"] not in EXCEPTIONS
    ]


def by_engine(text: str, table: pa.Table) -> pa.Table:
    return cereus.compile(text, dialect="match_recognize", schema=table.schema).run(table).table


def by_reference(text: str, table: pa.Table) -> pa.Table:
    clause = parse(text)
    rows = reference.run(clause, table.to_pylist(), table.column_names)
    if rows:
        return pa.table({name: pa.array([row[name] for row in rows]) for name in rows[0]})
    names = [path[0] for path in clause.partition]
    every = clause.rows is not Rows.ONE
    names += [order.path[0] for order in clause.order] if every else []
    names += [measure.name for measure in clause.measures]
    names += [name for name in table.column_names if name not in names] if every else []
    return pa.table({name: pa.nulls(0) for name in dict.fromkeys(names)})


@pytest.mark.parametrize("case", known("rows"))
def test_the_engine_gives_the_rows(case: dict[str, Any]) -> None:
    assert same(answer(case, by_engine), expected(case), case["ordered"])


@pytest.mark.parametrize("case", [c for c in known("rows") if c.id != EXPONENTIAL])
def test_the_reference_gives_the_rows(case: dict[str, Any]) -> None:
    assert same(answer(case, by_reference), expected(case), case["ordered"])


def refusal(case: dict[str, Any]) -> CereusError | None:
    """What is said against a statement's clauses, if anything."""
    parse_only_case = "parse_only_ok" in case["features"]

    def refuse(text: str, table: pa.Table) -> pa.Table:
        only_parsed = parse_only_case or not table.num_columns
        clause = parse_only(text) if only_parsed else parse(text)
        if not only_parsed:
            bound(clause, table.schema)
        count = len(clause.partition) + len(clause.measures)
        return pa.table({f"c{n}": pa.array([], pa.int64()) for n in range(max(count, 1))})

    try:
        conformance.run_clauses(case, refuse)
    except CereusError as error:
        return error
    return None


@pytest.mark.parametrize("case", known("accept"))
def test_a_clause_is_accepted(case: dict[str, Any]) -> None:
    assert refusal(case) is None


@pytest.mark.parametrize("case", [c for c in known("reject") if c.id not in AROUND])
def test_a_clause_is_refused(case: dict[str, Any]) -> None:
    assert refusal(case) is not None


@pytest.mark.parametrize("case", [c for c in known("reject") if c.id in AROUND])
def test_a_statement_is_refused(case: dict[str, Any]) -> None:
    with pytest.raises(CereusError, match="DuckDB refuses"):
        cereus.sql(case["query"], **({case["table"]: table_of(case)} if case["table"] else {}))


@pytest.mark.parametrize("case", known("pattern"))
def test_a_pattern_labels_the_rows(case: dict[str, Any]) -> None:
    clause = parse(f"MATCH_RECOGNIZE (MEASURES MATCH_NUMBER() AS n {case['query']})")
    table = table_of(case)
    over, states = bound(clause, table.schema), automaton(clause.pattern)
    rows = SortedRows(table, (), ())
    found = finding.Finder(over, states, finding.Path.ROWS, Limits()).matches(rows)
    path = found.states[: found.ends[0]] if len(found) and found.starts[0] == 0 else None
    wanted = case["expected"]
    assert (path is None) == (not wanted)
    if path is not None:
        assert [states.labels[state] for state in path] == wanted[0]["labels"]
        ranges = wanted[0].get("excluded_ranges")
        if ranges is not None:
            left_out = {row for low, high in ranges for row in range(low, high)}
            assert {at for at, state in enumerate(path) if states.excluded[state]} == left_out
