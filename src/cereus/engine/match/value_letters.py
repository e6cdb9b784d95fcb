"""Letters that carry values, for conditions between events that slots cannot decide.

The states of such an automaton (`automata.memory.values`) remember values. There is no end of
states and letters, so neither is numbered for good: classes are numbered for one piece of the
stream at a time, and a runner forgets the states that no configuration is in. Everything else is
the ordinary kernel. This is slower than slots, but decides whatever they cannot.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from cereus.automata.memory.values import ValuedLetter
from cereus.engine.ingest.clock import python_values, read
from cereus.engine.ingest.events import Events
from cereus.engine.ingest.substreams import Codes
from cereus.engine.match.letter_strategy import Known, LetterStrategy
from cereus.state import checked

PIECE = 256
"""The number of events whose letters are numbered together."""

Path = tuple[str, ...]


class ValueLetters(LetterStrategy):
    """A letter is the set of tests that an event passes, with its values at these paths."""

    lasting = False

    def __init__(self, paths: frozenset[Path]) -> None:
        self.paths = sorted(paths)

    def attach(self, events: Events, batch: pa.RecordBatch, known: Known) -> Events:
        masks, places = list(known), pa.array(events.places)
        columns = [
            python_values(read(batch, path, "the attribute").take(places), path)
            for path in self.paths
        ]
        letters = [
            ValuedLetter.of(masks[number], dict(zip(self.paths, values, strict=True)))
            for number, *values in zip(events.classes.tolist(), *columns, strict=True)
        ]
        return replace(events, letters=letters)

    def pieces(self, events: Events) -> Iterator[Events]:
        for begin in range(0, len(events), PIECE):
            yield events.part(begin, min(begin + PIECE, len(events)))

    def numbered(
        self, classes: Codes, letters: Sequence[Any], known: Known
    ) -> tuple[Codes, list[Any]]:
        """The classes and their letters. Letters with the same tests and values are one class."""
        numbers: dict[Any, int] = {}
        distinct: list[Any] = []
        classes = np.empty(len(letters), np.int32)
        for place, letter in enumerate(letters):
            key = (int(letter), *map(repr, letter.values.values()))
            number = numbers.setdefault(key, len(distinct))
            if number == len(distinct):
                distinct.append(letter)
            classes[place] = number
        return classes, distinct

    def check(self, letters: Any, size: int, known: Known) -> None:
        checked.refuse_unless(type(letters) is list and len(letters) == size, "letters are missing")
        for letter in letters:
            checked.of_type(letter, ValuedLetter, "a letter")
            complete = type(letter.values) is dict and sorted(letter.values) == self.paths
            checked.refuse_unless(complete and int(letter) in known, "a letter is unknown")
