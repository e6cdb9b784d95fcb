"""PERMUTE: each part once, in any order; orders are preferred as a dictionary would list them."""

from __future__ import annotations

from random import Random

import pyarrow as pa
import pytest

import cereus
from cereus.languages.match_recognize import tree
from cereus.languages.match_recognize.match.program import automaton
from tests.languages.match_recognize.test_conformance import by_reference
from tests.volume import volume


@pytest.mark.parametrize(("parts", "states"), [(2, 4), (3, 12), (6, 192), (7, 448)])
def test_states_are_those_of_sets_and_not_of_orders(parts: int, states: int) -> None:
    variables = tuple(tree.Variable(name) for name in "abcdefg"[:parts])
    assert len(automaton(tree.Permutation(variables))) == states


@pytest.mark.parametrize(
    "pattern", ["PERMUTE(a, b, c, d)", "PERMUTE(a, b d, c{2}) e?", "PERMUTE(a, b?, c+, d?) e"]
)
def test_the_preferred_order_is_taken(pattern: str) -> None:
    clause = f"""MATCH_RECOGNIZE (ORDER BY t MEASURES array_agg(CLASSIFIER()) AS labels
        PATTERN ({pattern}) DEFINE a AS x < 3, b AS x > 1, c AS x = 2 OR x = 4, d AS x <> 2)"""
    query = cereus.compile(clause, dialect="match_recognize")
    for seed in range(volume(12, 125)):
        draw = Random(seed)
        rows = 12
        table = pa.table({"t": list(range(rows)), "x": [draw.randrange(5) for _ in range(rows)]})
        assert query.run(table).table.to_pylist() == by_reference(clause, table).to_pylist(), seed
