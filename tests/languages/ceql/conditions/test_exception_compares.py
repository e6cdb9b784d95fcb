"""UNLESS whose exception compares events, which is watched in a kernel of its own: against the
definition, however the stream is cut."""

from __future__ import annotations

from random import Random

import pytest

import cereus
from tests.languages.ceql import strategies
from tests.languages.ceql.pieces import TIMED, assert_agrees_in_pieces, events
from tests.volume import volume

PATTERNS = (
    "(A AS a ; B AS b) UNLESS (A AS c ; B AS d FILTER c.x = d.x)",
    "A ; ((A AS a ; B AS b) UNLESS (A AS c ; B AS d FILTER c.x = d.x))",
    "A ; (A AS a UNLESS (B AS c ; A AS d FILTER c.x < d.w)) ; B",
    "(A ; B AS b) UNLESS ((A AS c) AS d FILTER c.x = d.w)",
    "B ; ((A+ AS a ; B AS b FILTER a.x <= b.x) UNLESS (A AS c : A AS d FILTER c.s = d.s))",
    "((A AS a ; B AS b) UNLESS (A AS c ; B+ AS d FILTER sum(d.x) > c.x))+",
    "A ; (B UNLESS (NOT(B) : A AS c ; A AS d FILTER c.x != d.x))",
    "A ; ((A ; B) UNLESS (START(A AS c ; B AS d FILTER c.x <= d.x)))",
    "A ; ((A ; B) UNLESS ((A AS c ; A AS d FILTER c.x = d.x) OR (B AS e ; B)))",
    "A ; ((A ; B) UNLESS ((A AS c ; B AS d) UNLESS (A AS e ; A AS f FILTER e.x = f.x)))",
    "(A ; (B UNLESS (A AS c ; A AS d FILTER c.x = d.x))) UNLESS (B AS e ; B AS f FILTER e.x = f.x)",
    "A ; ((A ; B : NOT(A)) UNLESS (A AS c ; B AS d FILTER concat(c.s, d.s) LIKE '%a%'))",
    "A ; ((B ALL A) UNLESS ((A AS c ; B AS d) WITHIN 1 seconds))",
)
CLAUSES = (
    "",
    "WITHIN 4 EVENTS",
    "WITHIN 3 seconds",
    "WITHIN 3 seconds CONSUME BY ANY",
    "PARTITION BY x WITHIN 4 seconds",
    "PARTITION BY x WITHIN 4 seconds CONSUME BY ANY",
)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_what_is_watched_ends_what_the_definition_ends(pattern: str) -> None:
    for seed in range(volume(6, 20)):
        draw = Random(seed)
        strategy = draw.choice(("", "", "", "NEXT ", "LAST "))
        clause = draw.choice(CLAUSES)
        if "NOT(A)" in pattern and strategy:
            strategy = ""
        text = f"SELECT {strategy}* WHERE {pattern} {clause}"
        query = cereus.compile(text, stream=TIMED, schema=strategies.SCHEMA)
        assert not any("this is slow" in warning for warning in query.warnings)
        assert_agrees_in_pieces(query, draw, seed)


def test_counting_asks_what_is_watched() -> None:
    text = "SELECT COUNT(*) WHERE A ; ((A ; B) UNLESS (A AS c ; B AS d FILTER c.x = d.x))"
    for seed in range(volume(6, 20)):
        stream = strategies.table(events(Random(seed)))
        listed = cereus.compile(text.replace("COUNT(*)", "*"), stream=TIMED)
        assert cereus.compile(text, stream=TIMED).count(stream) == len(listed.run(stream))
