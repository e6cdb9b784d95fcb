"""Files that people really have are read by name, with the types that all their values have."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from cereus.errors import DataError
from cereus.sources import scan, to_table

from .nasty import NASTY, REFUSED, Nasty, Refused, plain


@pytest.mark.parametrize("made", NASTY, ids=lambda made: made.__name__)
def test_nasty_files_are_read(made: Nasty, tmp_path: Path) -> None:
    files, rows = made(tmp_path / "in")
    table = to_table(files)
    assert plain(table) == rows
    assert not rows or table.column_names == list(rows[0])


@pytest.mark.parametrize("made", REFUSED, ids=lambda made: made.__name__)
def test_files_that_cannot_be_read_are_refused(made: Refused, tmp_path: Path) -> None:
    files, message = made(tmp_path / "in")
    with pytest.raises(DataError, match=message):
        to_table(files)


@pytest.mark.parametrize("made", NASTY, ids=lambda made: made.__name__)
@pytest.mark.parametrize("size", [1, 7, 100])
def test_how_files_are_cut_does_not_matter(made: Nasty, size: int, tmp_path: Path) -> None:
    """What Spark's tasks read, piece by piece, is what is read at once."""
    if made.__name__ == "decimal_late":
        size *= 10_000
    files, rows = made(tmp_path / "in")
    described = scan(files)
    pieces = [list(described.read(piece)) for piece in described.pieces(size)]
    table = pa.Table.from_batches([b for part in pieces for b in part], described.schema)
    assert plain(table) == rows


@pytest.mark.parametrize("made", NASTY, ids=lambda made: made.__name__)
def test_rows_are_fetched_by_their_numbers(made: Nasty, tmp_path: Path) -> None:
    files, rows = made(tmp_path / "in")
    wanted = [len(rows) - 1, 0, len(rows) - 1] if rows else []
    taken = scan(files).take(pa.array(wanted, pa.int64()))
    assert plain(taken) == [rows[n] for n in wanted]
