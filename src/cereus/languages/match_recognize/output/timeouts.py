"""The columns of WITH TIMEOUTS beside the measures: whether a row is of a partial match whose
window ended, how far it came, what it waited for, and until when."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from cereus.languages.match_recognize import tree
from cereus.languages.match_recognize.binding import Bound
from cereus.languages.match_recognize.match.program import DONE, RowAutomaton
from cereus.languages.match_recognize.match.sorting import SortedRows
from cereus.languages.match_recognize.match.times import deadlines
from cereus.languages.match_recognize.output.cells import Bools, Cells, Ints, Matched


def timeout_columns(
    bound: Bound, rows: SortedRows, matched: Matched, cells: Cells, unit: str | None
) -> dict[str, pa.Array]:
    """The columns of `tree.TIMEOUTS`; all but the first are null for complete matches."""
    matches = matched.matches
    assert matches.timed_out is not None
    late = matches.timed_out[cells.match]
    last = np.zeros(len(matches), np.int64)
    has_rows = matches.ends > matches.starts
    last[has_rows] = matches.states[matched.offsets[1:][has_rows] - 1]
    times = rows.take(bound.order[0].path[0], pa.array(matches.starts[cells.match], mask=~late))
    columns = (
        pa.array(late),
        _taken(list(matched.automaton.labels), last[cells.match], late),
        _taken(waiting_for(matched.automaton), last[cells.match], late),
        deadlines(bound, times, unit),
    )
    return dict(zip(tree.TIMEOUTS, columns, strict=True))


def waiting_for(automaton: RowAutomaton) -> list[str]:
    """For each state the variables that may come next, the preferred first."""
    texts = []
    for moves in automaton.moves:
        labels = dict.fromkeys(automaton.labels[each] for each in moves if each != DONE)
        texts.append(" or ".join(labels))
    return texts


def _taken(texts: list[str], places: Ints, late: Bools) -> pa.Array:
    return pa.array(texts, pa.string()).take(pa.array(places, mask=~late))
