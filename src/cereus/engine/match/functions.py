"""Values of functions that the kernel does not compute itself (`automata.memory.terms.LookedUp`).

They are computed when they are first needed. A function of strings is computed for all strings that
are known, at once, as long as these are few: `concat(a.name, b.name) LIKE '%X%'` is then one pass
over all pairs of names, and a look-up for every pair of events.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.automata.memory.terms import LookedUp
from cereus.engine.ingest.compared import ComparedColumns
from cereus.engine.kernel import layout
from cereus.expr.arrow.evaluate import evaluate as evaluate_all
from cereus.expr.python.evaluate import evaluate
from cereus.expr.types import Kind

Ints = npt.NDArray[np.int64]
MOST_AT_ONCE = 1 << 17
"""At most this many combinations of strings are computed at once; if there are more, each is
computed on its own."""


class FunctionValues:
    """The values of functions, over strings that are known by their codes."""

    def __init__(self, functions: list[LookedUp], strings: ComparedColumns) -> None:
        self.functions, self.strings = functions, strings
        self.done: dict[int, int] = {}
        """For each function: its values are computed for all strings with codes below this."""

    def computed(self, which: int, operands: list[int], anew: bool) -> tuple[Ints, Ints]:
        """Keys of the kernel's memo with their values; one of them has these operands. `anew`: the
        memo is empty."""
        if anew:
            self.done.clear()
        function = self.functions[which]
        combinations = self._combinations(which, operands)
        if combinations is None:
            combinations = np.array([operands], np.int64)
            values = np.array([self._one(function, operands)], np.int64)
        else:
            values = self._at_once(function, combinations)
        keys = np.zeros((len(values), layout.MEMO_WORDS), np.int64)
        keys[:, layout.MEMO_FUNCTION] = which
        keys[:, layout.MEMO_OPERANDS :][:, : len(operands)] = combinations
        return keys, values

    def _combinations(self, which: int, operands: list[int]) -> Ints | None:
        """All combinations of strings that contain a new string; None if these do not include the
        operands, or are too many."""
        known, done = self.strings.words, self.done.get(which, 0)
        if set(self.functions[which].kinds) != {Kind.STRING} or max(operands) < done:
            return None
        if layout.NULL in operands or len(known) ** len(operands) > MOST_AT_ONCE:
            return None
        codes = np.fromiter(known, np.int64, len(known))
        grid = np.meshgrid(*[codes] * len(operands), indexing="ij")
        combinations = np.stack([each.ravel() for each in grid], axis=1)
        self.done[which] = self.strings.next_code
        fresh: Ints = combinations[combinations.max(axis=1) >= done]
        return fresh

    def _at_once(self, function: LookedUp, combinations: Ints) -> Ints:
        codes = np.fromiter(self.strings.words, np.int64, len(self.strings.words))
        words = pa.array(self.strings.words.values(), pa.string())
        order = np.argsort(codes)
        places = order[np.searchsorted(codes, combinations, sorter=order)]
        columns = [words.take(pa.array(column)) for column in places.T]
        names = [str(place) for place in range(len(columns))]
        rows = pa.RecordBatch.from_arrays(columns, names=names)
        values = evaluate_all(function.expression, rows)
        if isinstance(values, pa.Scalar):
            return np.full(len(rows), _word(function.result, values.as_py()), np.int64)
        if function.result is Kind.FLOAT:
            plain = values.cast(pa.float64(), safe=False)
            filled = np.add(plain.fill_null(0.0).to_numpy(zero_copy_only=False), 0.0)
            integers = filled.view(np.int64)
        else:
            integers = values.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
        null = values.is_null().to_numpy(zero_copy_only=False)
        return np.where(null, np.int64(layout.NULL), integers)

    def _one(self, function: LookedUp, operands: Sequence[int]) -> int:
        event = {
            str(place): None if word == layout.NULL else self._value(kind, word)
            for place, (kind, word) in enumerate(zip(function.kinds, operands, strict=True))
        }
        return _word(function.result, evaluate(function.expression, event))

    def _value(self, kind: Kind, word: int) -> Any:
        match kind:
            case Kind.STRING:
                return self.strings.words[word]
            case Kind.FLOAT:
                return float(np.int64(word).view(np.float64))
            case Kind.BOOLEAN:
                return bool(word)
        return word


def _word(kind: Kind, value: Any) -> int:
    """A value in the kernel's representation."""
    if value is None:
        return layout.NULL
    if kind is Kind.FLOAT:
        return int(np.float64(float(value) + 0.0).view(np.int64))
    return int(value)
