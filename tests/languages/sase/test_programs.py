"""Texts of queries that feed one another, through the public interface: random ones against the
reference, however the stream is cut, saved and split by keys."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from random import Random
from typing import Any

import pyarrow as pa
import pytest

import cereus
from cereus.engine.results import match_chunks
from cereus.languages.sase.text import parse
from cereus.reference.sase.evaluate import answers
from tests.volume import volume

from .strategies import AGGREGATES, STRATEGIES, Event, Writer, events, table

STREAM = cereus.Stream(time="time")
Row = tuple[tuple[int, ...], str]
Rows = Counter[Row]
"""The rows of the input that a match is made of, and what it returns."""


FREQUENT = (
    "PATTERN SEQ(ANY(A, B) a) RETURN a.x, a.y, a.k",
    "PATTERN SEQ(A a, ANY(A, B) b) WHERE {}(a, b) {{ }} RETURN b.x, a.y, a.k",
    "PATTERN SEQ(A a, ~A n) WHERE n.x > a.x WITHIN 2 seconds RETURN a.x, a.y, a.k",
)
READING = (
    "PATTERN SEQ(A+ a[]) WHERE {}(a[]) {{ [k] }} RETURN a[].x",
    "PATTERN SEQ(A a, A b) WHERE {}(a, b) {{ b.x >= a.x }} RETURN a.x, b.(x, y)",
    "PATTERN SEQ(A a, ~A n) WHERE n.x > a.x WITHIN 2 seconds RETURN a.x",
)
"""Queries that find something in most streams."""


def frequent(draw: Random, texts: tuple[str, ...]) -> str:
    return draw.choice(texts).format(draw.choice(STRATEGIES))


def feeding(draw: Random) -> str:
    """A query whose output events look like those of the input: type A, with x, y and k."""
    if draw.random() < 0.5:
        return frequent(draw, FREQUENT)
    writer = Writer(draw)
    text = writer.text()
    part = draw.choice(writer.held)
    name = part.variable
    returned = f"{name}.x, {name}.y, {name}.k"
    if part.kleene:
        returned = f"sum({name}[].x), count({name}[]), {name}[1].k"
    return f"{text[: text.rindex('RETURN')]}RETURN {returned}"


def program(draw: Random) -> tuple[str, str]:
    """Two queries of which the second reads the first."""
    first = f"{feeding(draw)} AS A(x, y, k) IN STREAM s"
    if draw.random() < 0.4:
        first += f"\nUNION {feeding(draw)}"
    second = Writer(draw).text() if draw.random() < 0.5 else frequent(draw, READING)
    return first, f"FROM s {second}"


def expected(
    texts: tuple[str, str], stream: list[Event], time: str | None = "time"
) -> tuple[Rows, Rows]:
    """The answers of both queries; what the second finds is told by the rows of the input."""
    program = parse("\n".join(texts), AGGREGATES)
    first, second = answers(program, stream, time=time, aggregates=AGGREGATES)
    rows = Counter((match.positions, repr(match.values)) for match in first.matches)
    more: Rows = Counter()
    for match in second.matches:
        held = {row for event in match.positions for row in first.matches[event].positions}
        more[tuple(sorted(held)), repr(match.values)] += 1
    return rows, more


def compiled(
    texts: tuple[str, str], output: int, time: str | None = "time", **stream: Any
) -> cereus.Query:
    return cereus.compile(
        "\n".join(texts),
        dialect="sase",
        stream=cereus.Stream(time=time, **stream),
        aggregates=AGGREGATES,
        output=output,
    )


def found(matches: Iterable[dict[str, Any]], keys: tuple[str, ...] = ()) -> Rows:
    rows: Rows = Counter()
    for match in matches:
        values = tuple(
            value
            for name, value in match.items()
            if name not in ("start", "end", "start_time", "end_time", "positions", *keys)
        )
        rows[tuple(match["positions"]), repr(values)] += 1
    return rows


def pieces(draw: Random, whole: pa.Table) -> list[pa.Table]:
    cuts = sorted(draw.sample(range(whole.num_rows + 1), k=min(2, whole.num_rows)))
    ends = [*cuts, whole.num_rows]
    return [whole.slice(a, b - a) for a, b in zip([0, *cuts], ends, strict=True)]


def test_random_texts_of_two_queries_equal_the_reference() -> None:
    matches = [0, 0]
    for seed in range(volume(15, 80)):
        draw = Random(seed)
        texts, stream = program(draw), events(draw)
        for output, rows in enumerate(expected(texts, stream), 1):
            got = found(compiled(texts, output).run(table(stream)))
            assert got == rows, (seed, texts, stream)
            matches[output - 1] += sum(rows.values())
    assert min(matches) > 30


def pushed(query: cereus.Query, draw: Random, whole: pa.Table) -> Rows:
    """What a recognizer finds that is saved and restored between pieces."""
    recognizer = query.recognizer(schema=whole.schema)
    rows: Rows = Counter()
    for part in pieces(draw, whole):
        rows += found(recognizer.push(part))
        recognizer = query.restore(recognizer.snapshot())
    return rows + found(recognizer.finish())


def test_how_a_stream_is_cut_and_saved_makes_no_difference() -> None:
    matches = 0
    for seed in range(volume(8, 40)):
        draw = Random(seed)
        texts, stream = program(draw), events(draw)
        rows = pushed(compiled(texts, 2), draw, table(stream))
        assert rows == expected(texts, stream)[1], (seed, texts, stream)
        matches += sum(rows.values())
    assert matches > 5


def test_without_times_places_make_the_order() -> None:
    matches = 0
    for seed in range(1000, 1000 + volume(8, 40)):
        draw = Random(seed)
        texts, stream = program(draw), events(draw)
        if any("seconds" in text for text in texts):
            continue
        rows = expected(texts, stream, time=None)[1]
        query = compiled(texts, 2, time=None)
        assert found(query.run(table(stream))) == rows, (seed, texts, stream)
        assert pushed(query, draw, table(stream)) == rows, (seed, texts, stream)
        matches += sum(rows.values())
    assert matches > 5


def told_with_time(query: cereus.Query, events: pa.Table) -> Rows:
    """The rows when events come one by one, and the time of each is promised to be the earliest."""
    recognizer = query.recognizer(schema=events.schema)
    rows: Rows = Counter()
    for at, time in enumerate(events.column("time").cast(pa.int64()).to_pylist()):
        rows += found(recognizer.push(events.slice(at, 1)), ("g",))
        rows += found(recognizer.advance(time), ("g",))
    return rows + found(recognizer.finish(), ("g",))


def test_keys_split_every_query_of_a_text() -> None:
    matches = 0
    for seed in range(volume(8, 40)):
        draw = Random(seed)
        texts, stream = program(draw), events(draw, 12)
        keys = [draw.choice("uv") for _ in stream]
        rows: Rows = Counter()
        for key in "uv":
            places = [place for place, own in enumerate(keys) if own == key]
            for (held, values), times in expected(texts, [stream[p] for p in places])[1].items():
                rows[tuple(places[each] for each in held), values] += times
        keyed = table(stream).append_column("g", pa.array(keys, pa.string()))
        query = compiled(texts, 2, keys="g")
        got = query.run(keyed)
        assert found(got, ("g",)) == rows, (seed, texts, stream, keys)
        assert told_with_time(query, keyed) == rows, (seed, texts, stream, keys)
        assert all(keys[match["start"]] == match["g"] for match in got)
        matches += len(got)
    assert matches > 5


def test_the_queries_of_a_union_share_the_buffers_for_their_matches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each had buffers of its own: 700 queries took 1.7 GB."""
    made = []

    class Counted(match_chunks.ChunkBuffer):
        def __init__(self, *sizes: int, **options: Any) -> None:
            made.append(sizes)
            super().__init__(*sizes, **options)

    monkeypatch.setattr(match_chunks, "ChunkBuffer", Counted)
    text = " UNION ".join(
        f"PATTERN SEQ(A a, B b) WHERE a.x > {n} WITHIN 5 seconds RETURN a.x" for n in range(-60, 0)
    )
    rows = pa.table(
        {
            "type": ["A", "B", "A", "B"],
            "x": [1, 2, 3, 4],
            "time": pa.array([0, 1, 2, 3], pa.timestamp("s")),
        }
    )
    assert len(cereus.compile(text, dialect="sase", stream=STREAM).run(rows)) == 60 * 2
    assert len(made) <= 3
