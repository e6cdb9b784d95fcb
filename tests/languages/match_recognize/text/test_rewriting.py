"""The greatest and the least CLASSIFIER() of a condition, told by cases while there are few."""

from __future__ import annotations

import pyarrow as pa
import pytest

import cereus
from cereus.languages.match_recognize.binding import bound
from cereus.languages.match_recognize.match import rewriting
from cereus.languages.match_recognize.match.needs import parts
from cereus.languages.match_recognize.text import parse

ROWS = pa.table({"t": range(12), "x": [n % 5 for n in range(12)]})
LEAVES = ("max(classifier())", "min(classifier())", "max(classifier(u))", "min(classifier(u))")


def clause(names: str, leaves: tuple[str, ...]) -> str:
    """A row of one of the names after the other, and a condition of some leaves."""
    asked = " OR ".join(f"{leaf} > 'B'" for leaf in leaves)
    chosen = ", ".join(f"{name} AS x = {n % 5}" for n, name in enumerate(names))
    return (
        f"MATCH_RECOGNIZE (ORDER BY t MEASURES count(*) AS n, classifier() AS c "
        f"PATTERN (({' | '.join(names)})+ z) SUBSET u = ({', '.join(names)}) "
        f"DEFINE {chosen}, z AS {asked})"
    )


def size(text: str) -> int:
    """Nodes of the condition as it is searched."""
    every = parts(bound(parse(text), ROWS.schema), "Z")
    return sum(len([*each.expression.walk()]) for each in every)


def test_cases_that_multiply_are_not_told_apart() -> None:
    """Four leaves of nine names each would be thousands of cases, each with the condition."""
    assert size(clause("abc", LEAVES[1:3])) > size(clause("abc", LEAVES[1:2])) > 3
    assert size(clause("abcdefghi", LEAVES)) < 100


@pytest.mark.parametrize("leaves", [LEAVES[:1], LEAVES[1:3]])
def test_with_and_without_cases_the_rows_are_the_same(
    leaves: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for most in (0, 64):
        monkeypatch.setattr(rewriting, "MOST_CASES", most)
        text = clause("abcd", leaves)
        found.append(cereus.compile(text, dialect="match_recognize").run(ROWS).table.to_pylist())
    assert found[0] == found[1]
    assert len(found[0]) > 0


ONLY = (("a b+ z", True), ("(a | y a) b z", True), ("a y a b z", False), ("(a b)+ z", False),
        ("a+ b z", False), ("(a b?){1} z", True), ("PERMUTE(a, b) z", True),
        ("PERMUTE(a, b, a) z", False))  # fmt: skip


@pytest.mark.parametrize(("pattern", "same"), ONLY)
def test_the_first_row_of_a_variable_with_one_row_is_the_last(pattern: str, same: bool) -> None:
    """So that a wait reads a value that never changes."""
    conditions, found = [], []
    for read in ("a.x", "FIRST(a.x)"):
        text = (
            "MATCH_RECOGNIZE (ORDER BY t MEASURES count(*) AS n, MATCH_NUMBER() AS m "
            "AFTER MATCH SKIP TO NEXT ROW "
            f"PATTERN ({pattern}) DEFINE a AS x < 4, b AS x > PREV(x) OR x = 0, z AS x > {read})"
        )
        conditions.append([part.leaves for part in parts(bound(parse(text), ROWS.schema), "Z")])
        found.append(cereus.compile(text, dialect="match_recognize").run(ROWS).table.to_pylist())
    assert (conditions[0] == conditions[1]) == same
    assert not same or found[0] == found[1]
