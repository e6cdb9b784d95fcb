"""Whatever Arrow has in its columns, a query over it gives matches or a CereusError.

python -m tests.safety.data.test_tables FIRST LAST    cases number FIRST, …, LAST - 1
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import suppress
from random import Random

import pyarrow as pa
import pytest

import cereus
from cereus.errors import CereusError, DataError
from tests.safety.data import tables
from tests.volume import volume

NAMES = ("type", "ts", "x", "y", "s", "k")
CONDITIONS = (
    "x > 1", "x = y", "s = 'a'", "s LIKE 'A%'", "x IN (1, 2, 3)", "x IS NULL", "x + y > 2",
    "abs(x) < 5", "x BETWEEN 1 AND 3", "coalesce(x, y) = 1", "length(s) > 1", "NOT (x > 1)",
    "CAST(x AS BIGINT) > 0", "s = x", "x.a > 1", "x % 2 = 0", "x / y > 1", "-x < 0",
    "s || s = 'aa'", "x > 1.5", "x != 9223372036854775807", "y < 1e308", "upper(s) = 'A'",
    "year(ts) > 2000",
)  # fmt: skip
QUERIES = (
    ("ceql", "SELECT * WHERE A AS a ; B AS b FILTER a[{0}] PARTITION BY k WITHIN 5 seconds"),
    ("ceql", "SELECT a, b WHERE A AS a ; B AS b FILTER a.x < b.x AND b[{0}] WITHIN 9 EVENTS"),
    ("ceql", "SELECT COUNT(*), SUM(a.x), MIN(a.y) WHERE A+ AS a ; B WITHIN 5 seconds"),
    ("ceql", "SELECT MAX * WHERE A+ AS a ; B AS b FILTER a.s = b.s WITHIN 5 [x]"),
    ("ceql", "SELECT a[x, s], b WHERE A AS a : B AS b FILTER a[{0}] RETURN a.x, sum(b.y), a.k"),
    ("sremo", "{{A: {0}}} -> r . SKIP* . {{B: x > r.x}} PARTITION BY k"),
    ("sase", "PATTERN SEQ(A+ a[], B b) WHERE skip_till_next_match(a[], b) "
             "{{ [k] AND a[i].x >= a[i-1].x }} WITHIN 5 seconds RETURN avg(a[].x), b.s"),
    ("sase", "PATTERN SEQ(A a, ~(C c), B b) WHERE skip_till_any_match(a, b) "
             "{{ a.x = b.x AND c.y > a.y }} WITHIN 5 seconds"),
    ("par", "repeat (A({0})[X] ; try B[Y] unless C)"),
    ("algebra", "(A({0}) ; B) - C"),
    ("match_recognize", "MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES a.x AS m, sum(b.y) "
                        "AS t, LAST(b.s) AS l PATTERN (a b+) DEFINE a AS {0}, b AS x >= PREV(x))"),
    ("match_recognize", "MATCH_RECOGNIZE (ORDER BY ts MEASURES CLASSIFIER() AS c ALL ROWS PER "
                        "MATCH PATTERN (a | b) DEFINE a AS {0}, b AS b.s = 'B')"),
)  # fmt: skip


def outcomes(case: int) -> Iterator[int]:
    """The numbers of results of one random query, in several ways."""
    draw = Random(case)
    events = tables.table(draw, NAMES)
    dialect, pattern = draw.choice(QUERIES)
    text = pattern.format(draw.choice(CONDITIONS))
    unit = draw.choice(("s", "us", None))
    stream = cereus.Stream(time="ts", unit=unit)
    try:
        with suppress(CereusError):
            cereus.compile(text, dialect=dialect, schema=events.schema, stream=stream)
        query = cereus.compile(text, dialect=dialect, stream=stream)
        with suppress(CereusError):
            yield len(list(query.run(events, sort=draw.random() < 0.5)))
        with suppress(CereusError):
            query.run(events).events()
        with suppress(CereusError):
            yield int(query.count(events) > 0)
        with suppress(CereusError):
            yield from pushed(query, events, draw)
    except CereusError:
        pass
    except Exception as error:
        error.add_note(f"{dialect}: {text} over {events.schema}")
        raise


def pushed(query: cereus.Query, events: pa.Table, draw: Random) -> Iterator[int]:
    recognizer = query.recognizer(keep_events=draw.random() < 0.3)
    cut = draw.randrange(events.num_rows + 1)
    yield len(recognizer.push(events.slice(0, cut)))
    recognizer = query.restore(recognizer.snapshot())
    yield len(recognizer.push(events.slice(cut)))
    with suppress(CereusError):  # other columns
        recognizer.push(tables.table(draw, NAMES))
    yield len(recognizer.finish())


def test_only_a_cereus_error_escapes() -> None:
    cases = volume(45, 500)
    results = [list(outcomes(case)) for case in range(cases)]
    assert sum(map(bool, results)) > cases / 4, "hardly a query ran"
    assert any(sum(each) for each in results), "no query had a match"


def test_a_later_batch_of_other_types_is_refused_whatever_arrow_says_of_them() -> None:
    query = cereus.compile("SELECT a WHERE A AS a")
    lists = pa.array([[1]], pa.list_(pa.int64()))
    maps = pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64()))
    recognizer = query.recognizer(keep_events=True)
    recognizer.push(pa.table({"type": ["A"], "x": lists}))
    with pytest.raises(DataError, match="does not have the types of the first one"):
        recognizer.push(pa.table({"type": ["A"], "x": maps}))


def test_events_of_other_types_than_those_of_rules_are_refused() -> None:
    lists, maps = pa.list_(pa.int64()), pa.map_(pa.string(), pa.int64())
    schema = pa.schema({"type": pa.string(), "x": lists})
    recognizer = cereus.RuleRecognizer(stream=cereus.Stream(), schema=schema)
    with pytest.raises(DataError, match="do not have the types of the schema"):
        recognizer.push(pa.table({"type": ["A"], "x": pa.array([[("k", 1)]], maps)}))


def main() -> None:
    first, last = int(sys.argv[1]), int(sys.argv[2])
    warnings.simplefilter("ignore")
    for case in range(first, last):
        try:
            list(outcomes(case))
        except Exception as error:
            notes = " ".join(getattr(error, "__notes__", [])).replace("\n", ", ")
            where = error.__traceback__
            while where is not None and where.tb_next is not None:
                where = where.tb_next
            place = f"{where.tb_frame.f_code.co_filename}:{where.tb_lineno}" if where else ""
            print(f"case {case}: {type(error).__name__}: {str(error)[:200]} at {place} {notes}")


if __name__ == "__main__":
    main()
