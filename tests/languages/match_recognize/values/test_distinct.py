"""How many different values rows have, in DEFINE: compiled, and as the reference says."""

from __future__ import annotations

from random import Random

import pyarrow as pa
import pytest

from cereus.languages.match_recognize.binding import bound
from cereus.languages.match_recognize.match import finding
from cereus.languages.match_recognize.match.program import automaton
from cereus.languages.match_recognize.match.runs import find
from cereus.languages.match_recognize.text import parse
from tests.languages.match_recognize.test_random import comparable, emitted, expected
from tests.volume import volume

PATTERNS = ("a+ b", "a b* c", "a b*? c", "b{2,9} c", "b{12,} c?", "(b{3,5})+ c", "a b+ c+ a")
COLUMNS = ("x", "y", "z", "x % 2", "lower(y)")
CONDITIONS = ("{} > 2", "{} < 4", "{} IS NULL OR {} <= 3", "{} = x", "{} * 2 > count(*)")
TYPES = {"ts": pa.int64(), "x": pa.int64(), "y": pa.string(), "z": pa.float64()}


def drawn_table(draw: Random) -> pa.Table:
    rows = draw.randint(0, 24)
    choices = {"x": (1, 2, 3, None), "y": ("p", "q", "P", None), "z": (0.0, -0.0, 1.5, None)}
    columns = {name: [draw.choice(of) for _ in range(rows)] for name, of in choices.items()}
    return pa.table({"ts": list(range(rows)), **columns}, pa.schema(TYPES.items()))


def clause(draw: Random) -> str:
    pattern = draw.choice(PATTERNS)
    variables = sorted({sign for sign in pattern if sign in "abc"})
    of = draw.choice([name for name in variables if pattern.count(name) == 1])
    counted = f"cardinality(array_distinct(array_agg({draw.choice(COLUMNS)})))"
    for column in "xyz":
        counted = counted.replace(f"({column}", f"({of}.{column}")
    condition = draw.choice(CONDITIONS).replace("{}", counted)
    skip = draw.choice(("", "AFTER MATCH SKIP TO NEXT ROW"))
    return f"""MATCH_RECOGNIZE (ORDER BY ts MEASURES FIRST(ts) AS f, array_agg(CLASSIFIER()) AS v
        {skip} PATTERN ({pattern}) DEFINE {draw.choice(variables)} AS {condition})"""


def test_different_values_are_counted_as_the_reference_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compiled = 0
    for seed in range(volume(60, 1_000)):
        draw = Random(seed)
        text, table = clause(draw), drawn_table(draw)
        if seed % 2:  # leaps from the first row on
            monkeypatch.setattr(find, "FREE_WORK", 0)
            monkeypatch.setattr(find, "WORK_PER_ROW", 0)
        over, states = bound(parse(text), table.schema), automaton(parse(text).pattern)
        compiled += finding.path_of(over, states) is not finding.Path.SEARCH
        assert comparable(emitted(text, table)) == comparable(expected(text, table)), text
        monkeypatch.undo()
    assert compiled > volume(40, 650)
