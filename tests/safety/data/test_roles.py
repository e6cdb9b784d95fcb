"""Each type that Arrow has, stored in each way, as each column that a query reads, in each
language, asked in every way: there are answers or a CereusError.

python -m tests.safety.data.test_roles PART PARTS    every PARTS-th case from number PART on
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
from typer.testing import CliRunner

import cereus
from cereus.cli.main import app
from cereus.errors import CereusError
from cereus.report import report
from tests.safety.data import tables
from tests.volume import volume

ROWS = 8
ROLES = ("ts", "type", "k", "x")
QUERIES = (
    ("ceql", "SELECT a, b WHERE A AS a ; B AS b FILTER a.x = b.x AND a[x > 1 OR x IS NULL] "
             "PARTITION BY k WITHIN 5 seconds"),
    ("ceql", "SELECT COUNT(*), MIN(a.x), SUM(a.x) WHERE A+ AS a ; B AS b FILTER a.x <= b.x "
             "PARTITION BY k WITHIN 5 seconds"),
    ("sremo", "{A: x = x} -> r . SKIP* . {B: x != r.x} PARTITION BY k"),
    ("sase", "PATTERN SEQ(A+ a[], B b) WHERE skip_till_next_match(a[], b) "
             "{ [k] AND a[i].x >= a[i-1].x } WITHIN 5 seconds RETURN max(a[].x), b.x"),
    ("par", "repeat (A(x = 1)[X] ; try B[Y] unless C)"),
    ("algebra", "(A(x IS NOT NULL) ; B) - C"),
    ("match_recognize", "MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES a.x AS m, "
                        "max(b.x) AS t, LAST(b.x) AS l, array_agg(b.x) AS g PATTERN (a b+) "
                        "DEFINE a AS x IS NULL OR x = x, b AS x >= PREV(x) OR x > FIRST(a.x))"),
    ("match_recognize", "MATCH_RECOGNIZE (ORDER BY ts MEASURES sum(x) AS m, min_by(a.x, a.k) AS t "
                        "ALL ROWS PER MATCH PATTERN (a b*) "
                        "DEFINE b AS sum(b.x) > a.x OR b.k = a.k)"),
)  # fmt: skip


def _with_nulls_in_a_dictionary(values: pa.Array) -> pa.Array:
    entries = pa.concat_arrays([values.slice(0, 1), pa.nulls(1, values.type)])
    places = pa.array([0, 1, 0, 1, 0, None, 1, 0], pa.int8())
    return pa.DictionaryArray.from_arrays(places, entries)


def _run_end_encoded(values: pa.Array) -> pa.Array:
    return pa.RunEndEncodedArray.from_arrays(pa.array([2, 5, 8], pa.int32()), values.slice(0, 3))


STORED: dict[str, Callable[[pa.Array], Any]] = {
    "plain": lambda values: values,
    "sliced": tables.sliced,
    "in a dictionary": tables.encoded,
    "in a dictionary with nulls": _with_nulls_in_a_dictionary,
    "in chunks": lambda values: pa.chunked_array([values.slice(0, 3), values.slice(3)]),
    "run-end encoded": _run_end_encoded,
    "in lists": lambda values: pa.ListArray.from_arrays(list(range(ROWS + 1)), values),
    "in structs": lambda values: pa.StructArray.from_arrays([values], ["a"]),
}
CASES = list(product(tables.PLAIN, STORED, ROLES, QUERIES))


def events(kind: pa.DataType, stored: str, role: str, draw: Random) -> pa.Table:
    columns: dict[str, Any] = {
        "type": pa.array(list("ABABABCB")),
        "ts": pa.array(range(ROWS), pa.timestamp("s")),
        "x": pa.array([1, 2, 2, 2, None, 3, 1, 5]),
        "k": pa.array([1, 1, 2, 2, 1, 1, 2, 2]),
    }
    values = tables.values(draw, kind, ROWS)
    columns[role] = values
    with suppress(pa.ArrowException):  # what Arrow does not store in this way
        columns[role] = STORED[stored](values)
    return pa.table(columns)


def shown(matches: cereus.Matches) -> None:
    list(matches)
    matches.events()
    str(matches)


def pushed(query: cereus.Query, table: pa.Table) -> None:
    recognizer = query.recognizer(keep_events=True)
    recognizer.push(table.slice(0, 3))
    recognizer = query.restore(recognizer.snapshot())
    recognizer.push(table.slice(3))
    recognizer.finish()


def typed(query: cereus.Query, table: pa.Table, dialect: str) -> None:
    """On the command line, over a file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "events.arrow"
        with suppress(pa.ArrowException), pa.ipc.new_file(path, table.schema) as file:
            file.write_table(table)
        given = ["--time", "ts", "--dialect", dialect]
        for command in ("run", "why"):
            result = CliRunner().invoke(app, [command, query.text, str(path), *given])
            if result.exception and not isinstance(result.exception, SystemExit):
                raise result.exception


USES: dict[str, Callable[[cereus.Query, pa.Table], Any]] = {
    "run": lambda query, table: shown(query.run(table)),
    "sort": lambda query, table: query.run(table, sort=True),
    "count": lambda query, table: query.count(table),
    "push": pushed,
    "why": lambda query, table: str(query.why(table)),
    "why not": lambda query, table: str(query.why_not(table, [0, 1])),
}
ONE_IN = 10
"""Reports and the command line take longer, and are tried for one case in so many."""


def answers(number: int) -> Iterator[str]:
    """The ways to ask that have an answer, in one case."""
    kind, stored, role, (dialect, text) = CASES[number % len(CASES)]
    draw = Random(number)
    table = events(kind, stored, role, draw)
    unit = draw.choice((None, "s")) if role == "ts" else None
    stream = cereus.Stream(time="ts", unit=unit)
    with suppress(CereusError):
        cereus.compile(text, dialect=dialect, stream=stream, schema=table.schema)
    query = cereus.compile(text, dialect=dialect, stream=stream)
    uses = dict(USES)
    if draw.random() * ONE_IN < 1:
        uses["report"] = report
        uses["command line"] = lambda query, table: typed(query, table, dialect)
    for name, use in uses.items():
        try:
            use(query, table)
            yield name
        except CereusError:
            pass
        except Exception as error:
            error.add_note(f"{number}: {name} of {dialect} where {role} is {kind}, {stored}")
            raise


def test_only_a_cereus_error_escapes() -> None:
    count = volume(20, 2_500)
    drawn = Random(1).sample(range(len(CASES)), count)
    answered = [list(answers(number)) for number in drawn]
    assert sum(map(bool, answered)) > count / 4, "hardly a query had an answer"


def main() -> None:
    warnings.simplefilter("ignore")
    part, parts = map(int, sys.argv[1:3])
    for number in range(part, len(CASES), parts):
        try:
            list(answers(number))
        except Exception as error:
            notes = " ".join(getattr(error, "__notes__", []))
            print(f"{notes}: {type(error).__name__}: {str(error)[:200]}", flush=True)
    print(len(range(part, len(CASES), parts)), "cases")


if __name__ == "__main__":
    main()
