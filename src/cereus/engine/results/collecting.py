"""All matches of a run in memory, as far as there is room for them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa

from cereus.errors import LimitError

SHARE = 0.8
"""The matches of one run take up to this share of the memory that is free when it starts."""
MEMORY = Path("/proc/meminfo")
CONTAINER = Path("/sys/fs/cgroup/memory.max")
CONTAINER_USED = Path("/sys/fs/cgroup/memory.current")


def collect_batches(batches: Iterable[pa.RecordBatch]) -> list[pa.RecordBatch]:
    """The batches as a list.

    A pattern may have more matches than any machine can hold. This is an error; otherwise the
    system would end the process without a message.
    """
    rows, size, matches = list[pa.RecordBatch](), 0, 0
    counted = set[int]()
    most = SHARE * free_bytes()
    for batch in batches:
        rows.append(batch)
        size += sum(_bytes(column, counted) for column in batch.columns)
        matches += batch.num_rows
        if size > most:
            raise LimitError(
                f"there are more matches than fit in memory: {matches:,} so far, which take "
                f"{size / 2**30:.1f} GB",
                hint="query.count(events) counts them without listing them, and "
                "query.batches(events) gives them in small batches; a shorter window, or a "
                "pattern that skips less, has fewer",
            )
    return rows


def _bytes(column: pa.Array, counted: set[int]) -> int:
    """The bytes of a column. Batches may share a dictionary: each is counted once, by its address,
    which is added to `counted`."""
    if not pa.types.is_dictionary(column.type):
        return int(column.nbytes)
    size, dictionary = int(column.indices.nbytes), column.dictionary
    address = max((each.address for each in dictionary.buffers() if each is not None), default=0)
    if address not in counted:
        counted.add(address)
        size += int(dictionary.nbytes)
    return size


def free_bytes() -> float:
    """The memory that is free: of the machine, or of the container if that is less."""
    return min(_of_machine(), _of_container())


def _of_machine() -> float:
    try:
        lines = dict(line.split(":", 1) for line in MEMORY.read_text().splitlines())
        return 1024 * float(lines["MemAvailable"].split()[0])
    except (OSError, ValueError, KeyError, IndexError):  # there on Linux only
        return _physical() / 2


def _physical() -> float:
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return float("inf")


def _of_container() -> float:
    try:
        return float(CONTAINER.read_text()) - float(CONTAINER_USED.read_text())
    except (OSError, ValueError):  # no container, or one without a limit ("max")
        return float("inf")
