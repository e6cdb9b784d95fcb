"""The examples of the paper, by number. Its indices count from 1; positions count from 0."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import cereus
from cereus import sremo
from cereus.languages.sremo.text import named
from cereus.reference import sremo as reference

TABLE_1 = [
    dict(zip(("type", "id", "price", "volume"), row, strict=True))
    for row in (
        ("B", 1, 22, 300),
        ("B", 1, 24, 225),
        ("B", 2, 32, 1210),
        ("S", 1, 70, 760),
        ("S", 1, 68, 2000),
        ("B", 2, 33, 95),
    )
]
EXAMPLE_16 = "{B:} -> r1 . skip* . {S: id = r1.id}"
EXAMPLE_28 = "({B: price < 10} -> r1 | {B: price > 500} -> r1) . {S: id = r1.id}"


def indices(matches: Any) -> list[tuple[int, ...]]:
    """As the paper counts them."""
    return sorted(tuple(p + 1 for p in sorted(match)) for match in matches)


def found(text: str, events: list[dict[str, Any]] = TABLE_1) -> list[tuple[int, ...]]:
    """What the engine finds on the stream, held to the reference."""
    query = cereus.compile(text, dialect="sremo")
    rows = query.run(pa.Table.from_pylist(events)).table["positions"].to_pylist()
    assert sorted(map(tuple, rows)) == reference.matches(query.tree, events)
    return indices(rows)


def test_example_14_a_condition_on_the_event_at_hand() -> None:
    (terminal,) = sremo.parse("{B:}").walk()
    string = reference.String(TABLE_1)
    assert reference.satisfied(terminal, string, 0, reference.EMPTY)  # type: ignore[arg-type]


def test_definition_13_a_condition_on_an_empty_register_is_false_and_its_negation_true() -> None:
    never_stored = "({B: price > 1000} -> r | eps) . "
    assert found(never_stored + "{S: id = r.id}") == []
    assert found(never_stored + "{S: NOT id = r.id}") == [(4,), (5,)]
    assert found(never_stored + "{S: NOT id != r.id}") == [(4,), (5,)]


def test_examples_16_and_19_matches_of_the_expression_on_the_whole_string() -> None:
    e = named(sremo.parse(EXAMPLE_16))
    for end, expected in ((4, [(1, 4)]), (5, [(1, 5)])):
        outcomes = reference.denotation(e, reference.String(TABLE_1), 0, end, reference.EMPTY)
        assert indices(m for m, _ in outcomes) == expected
        assert indices(sremo.transducer(EXAMPLE_16).matches(TABLE_1[:end])) == expected


def test_examples_16_and_19_on_the_stream() -> None:
    assert found(EXAMPLE_16) == [(1, 4), (1, 5), (2, 4), (2, 5)]


def test_example_25_an_accepting_run_and_what_the_register_holds() -> None:
    transducer = sremo.srt.eliminate_epsilon(sremo.transducer(EXAMPLE_16, streaming=True))
    runs = [c for c in transducer.runs(TABLE_1[:4]) if c.state in transducer.final]
    assert sorted((tuple(sorted(c.marked)), c.valuation) for c in runs) == [
        ((0, 3), (("r1", 0),)),
        ((1, 3), (("r1", 1),)),
    ]


def test_example_28_two_ways_to_write_one_register() -> None:
    transducer = sremo.transducer(EXAMPLE_28)
    assert transducer.registers == {"r1"}
    low, high = {"type": "B", "id": 1, "price": 5}, {"type": "B", "id": 2, "price": 600}
    sold = [{"type": "S", "id": number, "price": 70} for number in (1, 2)]
    assert transducer.accepts([low, sold[0]]) and transducer.accepts([high, sold[1]])
    assert not transducer.accepts([low, sold[1]])
    assert found(EXAMPLE_28, [low, sold[0], high, sold[1], low, sold[1]]) == [(1, 2), (3, 4)]


@pytest.mark.parametrize("window", ["[1..4]", " WITHIN 4 EVENTS"])
def test_example_40_a_window_of_4_keeps_1_4_and_not_1_5(window: str) -> None:
    matches = found(f"({EXAMPLE_16}){window}")
    assert (1, 4) in matches and (1, 5) not in matches


def test_theorem_38_and_example_42_the_transducer_of_figure_4_unrolled_and_determinised() -> None:
    figure_4 = sremo.transducer("skip* . {B:} -> r1 . skip* . {S: id = r1.id}")
    for w in (2, 3):
        known = sremo.srt.determinize(figure_4, w)
        assert known.deterministic
        for end in range(len(TABLE_1) + 1):
            for string in (TABLE_1[max(0, end - w) : end], TABLE_1[:w]):
                assert known.accepts(string) == figure_4.accepts(string)


def test_section_4_3_the_stream_abcabc_has_two_matches() -> None:
    assert found("{a:} . {b:}", [{"type": t} for t in "abcabc"]) == [(1, 2), (4, 5)]


def test_section_5_2_strategies() -> None:
    stream = [{"type": t} for t in "accb"]
    assert found("{a:} . {c:}", stream) == [(1, 2)]
    assert found("any({a:}, {c:})", stream) == [(1, 2), (1, 3)]
    assert found("next({a:}, {c:})", stream) == [(1, 2)]
    assert found("any({a:}, any({c:}+), {b:})", stream) == [(1, 2, 3, 4), (1, 2, 4), (1, 3, 4)]


def test_algorithm_1_an_accepting_run_goes_on() -> None:
    assert found("{a:}+", [{"type": t} for t in "aa"]) == [(1,), (1, 2), (2,)]


def test_definition_24_the_last_event_is_marked() -> None:
    assert found("{a:} . skip*", [{"type": t} for t in "ab"]) == [(1,)]


def test_section_5_1_negation_may_be_satisfied_by_no_event_at_all() -> None:
    stream = [{"type": t} for t in "acbc"]
    assert found("{a:} . !{b:} . {c:}", stream) == [(1, 2), (1, 4)]
    assert found("{a:} . !(skip* . {b:} . skip*) . {c:}", stream) == [(1, 2)]
