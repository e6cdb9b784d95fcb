"""Random clauses and tables, small enough for the reference."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from cereus.languages.match_recognize import tree
from cereus.languages.match_recognize.print import pattern_text

VARIABLES = ("A", "B", "C")

OF_ROW = (
    "x > 1",
    "x <= 2",
    "x > PREV(x)",
    "x < NEXT(x)",
    "{v}.x = 1 OR y IS NULL",
    "x <> PREV({v}.x, 2)",
    "y = 'p'",
    "CLASSIFIER() = 'A' OR x > 0",
    "true",
)
OF_SLOTS = (
    "x > FIRST(x)",
    "x >= LAST({o}.x)",
    "{o}.x IS NULL OR x <> {o}.x",
    "x > LAST({v}.x, 1) OR LAST({v}.x, 1) IS NULL",
    "x + FIRST({o}.x, 1) > 2",
    "PREV(CLASSIFIER()) = '{o}'",
    "CLASSIFIER(u) = 'A' AND x > 0",
    "MOD(MATCH_NUMBER(), 2) = 1 OR x = 2",
    "y = LAST({o}.y) OR x < 2",
    "x < PREV(FIRST({o}.x), 1) OR x > 1",
    "LAST(x, 2) IS NULL OR x >= LAST(x, 2)",
    "x BETWEEN FIRST({v}.x) AND LAST({o}.x) + 2",
    "ts < FIRST({v}.ts) + INTERVAL '3' SECOND",
    "NEXT({o}.x) > x",
)
OF_AGGREGATES = (
    "sum({v}.x) < 4",
    "sum({v}.x) <= sum({o}.x) + 2",
    "count(*) < 4",
    "count({o}.*) < 2",
    "avg(u.x) >= 1 OR x > 1",
    "max({o}.x) < x OR count({o}.x) = 0",
    "min({v}.x) >= 1",
    "sum(z) < 2.5",
    "max(z) > 0.5 OR x = 0",
    "bool_or({o}.x > 1) OR x > 0",
    "sum({v}.x) - min(x) < 3",
    "stddev_pop({v}.z) < 0.4 OR x > 1",
    "var_samp({o}.x) < 0.7 OR count({o}.x) < 2",
    "max_by({o}.y, {o}.x) = 'p' OR x > 1",
    "min_by(x, z) < 2",
    "arbitrary({v}.x) > 0 OR arbitrary({o}.y) = 'q'",
    "max({o}.y) = 'q' OR min(y) = 'p'",
    "LAST({v}.x, 9) IS NULL OR sqrt(x + min({v}.x)) < 2",
    "FIRST({v}.x, 8) IS NULL OR x > FIRST({v}.x, 1)",
    "count_if(CLASSIFIER(u) = '{o}') < 2",
    "sum(CASE WHEN CLASSIFIER() = '{o}' THEN x ELSE 1 END) < 5",
    "count({o}.y) < 2 OR x > 1",
    "z <= sum({o}.z * {o}.x) / sum({o}.x) OR x > 1",
    "max(CLASSIFIER()) = 'B' OR x > 1",
    "min(CLASSIFIER(u)) = max(CLASSIFIER()) OR min(CLASSIFIER({o})) IS NULL OR x > 1",
    "sum(MATCH_NUMBER()) < 6 AND avg(MATCH_NUMBER()) < 3.5",
    "cardinality(array_agg({o}.y)) IS NULL OR cardinality(array_agg(x)) < 5",
    "array_agg({o}.x)[2] IS NULL OR array_agg(u.x)[-2] <= x",
    "array_agg(y)[-1] = 'p' OR array_agg({v}.x)[1] < 2",
    "array_join(array_agg(CLASSIFIER()), '') <> 'AB' AND x < 3",
    "string_agg({v}.y, '-') = 'p' OR x = 2",
    "NOT string_agg(y, '') LIKE '%pp%'",
)
OF_SEARCH = (
    "max(lower(CLASSIFIER())) = 'b' OR x > 1",
    "count(CLASSIFIER(u)) < 3",
    "CASE WHEN sum(x) > 3 THEN FIRST({o}.x) ELSE x END > 0",
    "sum(x * MATCH_NUMBER()) < 6",
    "coalesce(LAST({o}.x), x) < 2",
    "max_by(CLASSIFIER(), x) = '{o}' OR x > 1",
    "lower(array_join(array_agg(CLASSIFIER()), '')) <> 'ab' AND x < 3",
    "median({v}.x) > 1 OR percentile({o}.z, 0.75) < 1",
    "string_agg({v}.y, '-') >= 'p' OR x = 2",
    "element_at(multimap_agg(y, CLASSIFIER()), 'p') IS NOT NULL AND x < 3",
    "histogram(CLASSIFIER())['{o}'] = 2 OR x > 1",
    "array_join(min_by({v}.x, {v}.z, 2), '-') <> '1-2'",
    "contains(array_agg({o}.x), 2) OR cardinality(max(x, 2)) = 1",
    "array_agg({o}.x) IS NULL OR array_agg({o}.x)[-1] < x",
)
MEASURES = (
    "MATCH_NUMBER() AS number",
    "CLASSIFIER() AS label",
    "CLASSIFIER(u) AS of_u",
    "FIRST(x) AS first_x",
    "FINAL LAST(x, 1) AS before_last",
    "B.x AS b_x",
    "FIRST(u.x, 1) AS second_u",
    "PREV(LAST(A.x), 2) AS back",
    "NEXT(FIRST(B.x)) AS on_x",
    "PREV(CLASSIFIER()) AS earlier",
    "count(*) AS rows_so_far",
    "FINAL count(B.x) AS all_b",
    "sum(A.x) AS sum_a",
    "FINAL sum(z) AS sum_z",
    "avg(u.x) AS avg_u",
    "min(x) AS min_x",
    "percentile(z, 0.25) AS lower_z",
    "FINAL median(u.x) AS middle_u",
    "FINAL max(y) AS max_y",
    "max(z) AS max_z",
    "array_agg(CLASSIFIER()) AS labels",
    "array_agg(u.x) AS xs",
    "bool_or(x > 1) AS any_big",
    "arbitrary(B.x) AS some_b",
    "x - FIRST(x) AS rise",
    "LAST(A.ts) - FIRST(ts) AS length",
    "coalesce(LAST(C.x), -1) AS or_none",
    "sum(A.x + 1) + count(*) AS mixed",
    "x AS here",
    "FINAL FIRST(A.ts) AS started",
    "max_by(y, x) AS y_of_most",
    "FINAL min_by(A.x, A.ts) AS x_of_first",
    "stddev(x) AS spread",
    "var_pop(z) AS spread_z",
    "FINAL stddev_pop(u.x) AS spread_u",
    "string_agg(y, ',') AS joined",
    "array_join(array_agg(x), '-', '?') AS joined_x",
    "concat_ws('', FINAL array_agg(lower(CLASSIFIER(u)))) AS word",
    "CAST(x AS double) AS as_double",
    "max(x, 2) AS most",
    "FINAL min_by(u.y, u.x, 2) AS of_least",
    "array_sort(array_agg(x)) AS in_order",
    "element_at(map_agg(y, x), 'q') AS at_q",
    "map_values(histogram(CLASSIFIER())) AS how_often",
    "array_max(element_at(multimap_agg(B.y, B.x), 'p')) AS most_of_p",
    "array_position(array_distinct(array_agg(x)), 2) AS place_of_2",
    "date_diff('second', FIRST(ts), ts) AS seconds",
    "MATCH_ROWTIME() AS time_of_match",
    "(x IS DISTINCT FROM PREV(x)) IS TRUE AS changed",
)


def patterns(depth: int = 3) -> st.SearchStrategy[tree.Pattern]:
    leaves: st.SearchStrategy[tree.Pattern] = st.one_of(
        st.sampled_from([tree.Variable(name) for name in VARIABLES]),
        st.sampled_from([tree.Variable(name) for name in VARIABLES]),
        st.sampled_from([tree.Variable(name) for name in VARIABLES]),
        st.sampled_from([tree.Empty(), tree.PartitionStart(), tree.PartitionEnd()]),
    )
    return st.recursive(leaves, _larger, max_leaves=4)


def _larger(inner: st.SearchStrategy[tree.Pattern]) -> st.SearchStrategy[tree.Pattern]:
    several = st.lists(inner, min_size=2, max_size=3).map(tuple)
    bounds = st.sampled_from([(0, None), (1, None), (0, 1), (2, None), (1, 2), (0, 2), (2, 2)])
    return st.one_of(
        several.map(tree.Concatenation),
        several.map(tree.Concatenation),
        several.map(tree.Alternation),
        st.builds(
            lambda part, limits, reluctant: tree.Quantified(part, *limits, reluctant),
            inner,
            bounds,
            st.booleans(),
        ),
        st.builds(
            lambda part, limits: tree.Quantified(part, *limits),
            inner,
            bounds,
        ),
        inner.map(tree.Exclusion),
        st.lists(inner, min_size=2, max_size=3).map(tuple).map(tree.Permutation),
    )


@st.composite
def clauses(draw: Any, conditions: tuple[str, ...], *, within: bool | None = None) -> str:
    """The text of a clause; its conditions are drawn from these and from those of the row."""
    pattern = draw(patterns())
    used = [node.name for node in pattern.walk() if isinstance(node, tree.Variable)]
    names = sorted(set(used))
    if not names:
        pattern = tree.Concatenation((tree.Quantified(tree.Variable("A"), 0, None), pattern))
        names = ["A"]
    excludes = any(isinstance(node, tree.Exclusion) for node in pattern.walk())
    rows = draw(
        st.sampled_from(
            [
                "ONE ROW PER MATCH",
                "ALL ROWS PER MATCH",
                "ALL ROWS PER MATCH OMIT EMPTY MATCHES",
                *([] if excludes else ["ALL ROWS PER MATCH WITH UNMATCHED ROWS"]),
            ]
        )
    )
    skips = ["PAST LAST ROW", "TO NEXT ROW", f"TO FIRST {names[-1]}", f"TO LAST {names[-1]}"]
    skip = draw(st.sampled_from([*skips[:2], *skips[:2], *skips, "TO u"]))
    members = draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
    define = [
        f"{name} AS {condition.format(v=name, o=other)}"
        for name in names
        for condition in [draw(st.sampled_from(conditions))]
        for other in [draw(st.sampled_from(names))]
        if draw(st.integers(0, 3))
    ]
    usable = [each for each in MEASURES if _only(each, names)]
    measures = draw(st.lists(st.sampled_from(usable), min_size=1, max_size=6, unique=True))
    timed = draw(st.booleans()) if within is None else within
    seconds = draw(st.integers(1, 4))
    timeouts = "" if "UNMATCHED" in rows else draw(st.sampled_from(["", " WITH TIMEOUTS"]))
    lines = [
        draw(st.sampled_from(["", "PARTITION BY k"])),
        "ORDER BY ts",
        f"MEASURES {', '.join(measures)}",
        rows,
        f"AFTER MATCH SKIP {skip}",
        f"PATTERN ({pattern_text(pattern)})",
        f"WITHIN INTERVAL '{seconds}' SECOND{timeouts}" if timed else "",
        f"SUBSET u = ({', '.join(members)})",
        f"DEFINE {', '.join(define)}" if define else "",
    ]
    return f"MATCH_RECOGNIZE ({' '.join(line for line in lines if line)})"


def _only(measure: str, names: list[str]) -> bool:
    return all(f"{name}." not in measure for name in VARIABLES if name not in names)


START = datetime(2024, 1, 1)


@st.composite
def tables(draw: Any, most: int = 7) -> pa.Table:
    size = draw(st.integers(0, most))
    cells = st.lists

    def column(values: st.SearchStrategy[Any]) -> list[Any]:
        return draw(cells(values, min_size=size, max_size=size))

    steps = column(st.integers(0, 2))
    times, now = [], START
    for step in steps:
        now += timedelta(seconds=step)
        times.append(now)
    if draw(st.booleans()):
        times = draw(st.permutations(times))
    return pa.table(
        {
            "k": pa.array(column(st.sampled_from(["a", "b", None])), pa.string()),
            "ts": pa.array(times, pa.timestamp("us")),
            "x": pa.array(column(st.sampled_from([0, 1, 1, 2, 2, 3, None])), pa.int64()),
            "y": pa.array(column(st.sampled_from(["p", "q", None])), pa.string()),
            "z": pa.array(column(st.sampled_from([0.0, 0.5, 1.25, None])), pa.float64()),
        }
    )
