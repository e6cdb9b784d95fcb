"""Files whose contents do not fit each other: an error that names the file, and never a crash."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cereus
from cereus.errors import CereusError, DataError
from tests.volume import volume

QUERY = cereus.compile("SELECT * WHERE A ; B WITHIN 5 EVENTS")
CODES = pa.DictionaryArray.from_arrays(pa.array([0, 99], pa.int32()), ["A", "B"], safe=False)
NOT_UTF8 = pa.Array.from_buffers(
    pa.string(), 2, [None, pa.array([0, 1, 2], pa.int32()).buffers()[1], pa.py_buffer(b"A\xff")]
)
EVENTS = pa.table({"type": ["A", "B"] * 50, "x": [1.5, None] * 50})


def arrow_file(path: Path, table: pa.Table) -> Path:
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    return path


@pytest.mark.parametrize("values", [CODES, NOT_UTF8], ids=["codes", "letters"])
def test_values_that_do_not_fit_are_refused(values: pa.Array, tmp_path: Path) -> None:
    """Arrow takes them as they stand in a file. Codes and offsets beyond the end were a
    segmentation fault."""
    file = arrow_file(tmp_path / "events.arrow", pa.table({"type": values}))
    with pytest.raises(DataError, match=r"cannot read '.*events\.arrow'"):
        QUERY.run(cereus.Files(file))


def test_letters_of_parquet_that_are_not_utf_8_are_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"type": NOT_UTF8}), tmp_path / "events.parquet")
    with pytest.raises(DataError, match=r"cannot read '.*events\.parquet'"):
        QUERY.run(cereus.Files(tmp_path / "events.parquet"))


def test_a_name_of_a_column_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    file = arrow_file(tmp_path / "events.arrow", EVENTS.rename_columns(["type", "xxxxxxxx"]))
    file.write_bytes(file.read_bytes().replace(b"xxxxxxxx", b"\xffxxxxxxx"))
    with pytest.raises(DataError, match=r"cannot read '.*events\.arrow'"):
        QUERY.run(cereus.Files(file))


@pytest.mark.parametrize("suffix", ["arrow", "parquet"])
def test_only_a_cereus_error_escapes(suffix: str, tmp_path: Path) -> None:
    file = tmp_path / f"events.{suffix}"
    if suffix == "arrow":
        arrow_file(file, EVENTS)
    else:
        pq.write_table(EVENTS, file)
    whole, refused = file.read_bytes(), 0
    for seed in range(volume(60, 3_000)):
        draw, damaged = Random(seed), bytearray(whole)
        for _ in range(draw.choice((1, 2, 5))):
            damaged[draw.randrange(len(damaged))] = draw.randrange(256)
        file.write_bytes(damaged)
        try:
            QUERY.run(cereus.Files(file))
        except CereusError:
            refused += 1
    assert refused
