"""Random events with times and values to compare, and runs over them that are cut anywhere."""

from __future__ import annotations

from random import Random

import cereus
from cereus.languages.ceql.text import parse
from cereus.stream import Stream
from tests.languages.ceql import strategies
from tests.languages.ceql.harness import assert_agrees, rows, sizes

TIMED = Stream(time="t", unit="s")
SPARSE = (None, 0, 1, 2, 3)


def events(draw: Random, size: int = 9, types: str = "AAB") -> list[dict[str, object]]:
    time = 0
    made = []
    for _ in range(size):
        time += draw.choice((0, 1, 1))
        made.append(
            dict.fromkeys(strategies.SCHEMA.names)
            | {"type": draw.choice(types), "t": time, "x": draw.choice(SPARSE)}
            | {"w": draw.choice((None, 0.0, 0.5, 1.0, 2.0, float("nan")))}
            | {"s": draw.choice((None, "a", "b", "ab"))}
        )
    return made


def assert_agrees_in_pieces(
    query: cereus.Query, draw: Random, seed: int, types: str = "AAB"
) -> None:
    """Random events have the matches of the definition, however the stream is cut."""
    stream = events(draw, types=types)
    with sizes(chunk=draw.choice((1, 1000)), sweep=draw.choice((1, 1000))):
        found = rows(cut(query, stream, draw), query.tree)
    try:
        assert_agrees(found, parse(query.text), TIMED, stream)
    except AssertionError as error:
        raise AssertionError(f"seed {seed}: {query.text}\n{error}") from None


def cut(query: cereus.Query, stream: list[dict[str, object]], draw: Random) -> list[object]:
    """The matches, with the stream in pieces and a snapshot here and there."""
    recognizer = query.recognizer(schema=strategies.SCHEMA)
    found: list[object] = []
    table = strategies.table(stream)
    place = 0
    while place < len(stream):
        size = draw.choice((1, 2, 5))
        found += recognizer.push(table[place : place + size])
        place += size
        if draw.randrange(2):
            recognizer = query.restore(recognizer.snapshot())
    return [*found, *recognizer.finish()]
