"""Turns events into letters of the automaton: a strategy that any runner can be given."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import pyarrow as pa

from cereus.engine.ingest.events import Events
from cereus.engine.ingest.substreams import Codes
from cereus.state import checked

Known = dict[int, int]
"""The sets of passed tests seen so far, numbered in the order in which they came."""


class LetterStrategy(ABC):
    """Makes the letters of events and numbers them. The number of a letter is its class."""

    lasting: ClassVar[bool]
    """Whether a class means the same letter for the whole run, so that tables and kernels can be
    kept."""

    def attach(self, events: Events, batch: pa.RecordBatch, known: Known) -> Events:
        """The events of a batch, with the part of their letters that is not the passed tests."""
        return events

    def pieces(self, events: Events) -> Iterator[Events]:
        """The events in the pieces whose letters are numbered together."""
        yield events

    @abstractmethod
    def numbered(
        self, classes: Codes, letters: Sequence[Any], known: Known
    ) -> tuple[Codes, list[Any]]:
        """The classes of events, and the letter of every class. `classes` number the passed tests
        of the events, and `letters` carry the rest."""

    @abstractmethod
    def check(self, letters: Any, size: int, known: Known) -> None:
        """Refuse saved letters of `size` events that this strategy cannot have made."""


class PlainLetters(LetterStrategy):
    """A letter is the set of tests that an event passes. The batch reader numbers the letters for
    good."""

    lasting = True

    def numbered(
        self, classes: Codes, letters: Sequence[Any], known: Known
    ) -> tuple[Codes, list[Any]]:
        return classes, list(known)

    def check(self, letters: Any, size: int, known: Known) -> None:
        checked.refuse_unless(letters == [], "letters have values")
