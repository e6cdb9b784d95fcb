"""Run in another process by `test_processes.py`, with another kernel or another hash seed.

    python -m tests.languages.ceql.running.elsewhere answers FIRST LAST
    python -m tests.languages.ceql.running.elsewhere go-on FIRST LAST

`answers` gives the rows of the cases with these seeds; `go-on` the same, from snapshots on stdin.

Writes JSON: whether the kernel is compiled, and for every case a list of answers.
"""

from __future__ import annotations

import base64
import json
import sys
from collections import Counter
from random import Random
from typing import Any

from cereus.compiled import is_compiled
from tests.languages.ceql import strategies as random_
from tests.languages.ceql.harness import Row, compiled, rows

Answers = list[list[str]]


def case(seed: int) -> random_.Case:
    return random_.case(Random(seed))


def half(events: random_.Events) -> int:
    return len(events) // 2


def said(found: Counter[Row]) -> list[str]:
    """Rows in an order and a form that two processes can compare."""
    return sorted(map(repr, found.elements()))


def answers(first: int, last: int) -> list[Answers]:
    found: list[Answers] = []
    for seed in range(first, last):
        drawn = case(seed)
        query = compiled(drawn.query, drawn.stream)
        results = [query.run(random_.table(events)) for events in drawn.streams]
        found.append([said(rows(result, drawn.query)) for result in results])
    return found


def first_halves(first: int, last: int) -> tuple[list[list[str]], list[Answers]]:
    """Snapshots after the first half of every stream, and the rows found until then."""
    snapshots: list[list[str]] = []
    found: list[Answers] = []
    for seed in range(first, last):
        drawn = case(seed)
        query = compiled(drawn.query, drawn.stream)
        taken, early = [], []
        for events in drawn.streams:
            recognizer = query.recognizer()
            matches = recognizer.push(random_.table(events).slice(0, half(events)))
            early.append(said(rows(matches, drawn.query)))
            taken.append(base64.b64encode(recognizer.snapshot()).decode())
        snapshots.append(taken)
        found.append(early)
    return snapshots, found


def second_halves(first: int, last: int, snapshots: list[list[str]]) -> list[Answers]:
    found: list[Answers] = []
    for seed, taken in zip(range(first, last), snapshots, strict=True):
        drawn = case(seed)
        query = compiled(drawn.query, drawn.stream)
        late = []
        for events, snapshot in zip(drawn.streams, taken, strict=True):
            recognizer = query.restore(base64.b64decode(snapshot))
            matches = recognizer.push(random_.table(events).slice(half(events)))
            late.append(said(rows(matches, drawn.query)))
        found.append(late)
    return found


def main(task: str, first: str, last: str) -> None:
    span = (int(first), int(last))
    if task == "answers":
        found: Any = answers(*span)
    else:
        found = second_halves(*span, json.load(sys.stdin))
    json.dump({"compiled": is_compiled("cereus.engine.kernel.kernel"), "found": found}, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
