"""The coding passes as the rest of the engine sees them."""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Number = TypeVar("Number", np.int32, np.int64)

class Words:
    words: list[bytes]
    def __init__(self, words: Sequence[str]) -> None: ...

def string_codes(
    offsets: npt.NDArray[np.int32] | Ints,
    data: npt.NDArray[np.uint8],
    words: Words,
    index: npt.NDArray[np.uint16],
    radix: int,
) -> None: ...
def entry_codes(
    entries: npt.NDArray[np.uint16],
    places: Codes | Ints,
    index: npt.NDArray[np.uint16],
    radix: int,
) -> None: ...
def values_at(values: Codes, places: Codes | Ints) -> Codes: ...
def places_without_value(values: Codes, places: Codes | Ints) -> Ints: ...
def number_integers(values: Ints, low: int, size: int) -> tuple[Codes, Ints]: ...
def numbered_rows(
    index: npt.NDArray[np.uint16], masks: npt.NDArray[np.uint64], known: dict[int, int]
) -> tuple[Ints, Codes]: ...
def masks_of(
    index: npt.NDArray[np.uint16], masks: npt.NDArray[np.uint64]
) -> npt.NDArray[np.uint64]: ...
def possible_rows(
    index: npt.NDArray[np.uint16],
    masks: npt.NDArray[np.uint64],
    open_masks: npt.NDArray[np.uint64],
) -> tuple[Ints, npt.NDArray[np.uint64]]: ...
def rows_with(rows: Ints, masks: npt.NDArray[np.uint64], bits: int) -> tuple[Ints, Ints]: ...
def clear_failed(
    masks: npt.NDArray[np.uint64], places: Ints, passed: npt.NDArray[np.uint8], bits: int
) -> None: ...
def clear_failed_rows(
    masks: npt.NDArray[np.uint64], passed: npt.NDArray[np.uint8], bits: int
) -> None: ...
def dense_classes(masks: npt.NDArray[np.uint64], known: dict[int, int]) -> Codes: ...
def ordered_floats(values: npt.NDArray[np.float64], bits: Ints, out: Ints) -> None: ...
def count_positions(keys: Codes, seen: Ints) -> Ints: ...
def first_backward(keys: Codes, times: Ints, latest: Ints) -> int: ...
def group_rows(keys: Codes, n_keys: int) -> tuple[Codes, Codes, Ints]: ...
def move(values: npt.NDArray[Number], to: Codes, out: npt.NDArray[Number]) -> None: ...
def awake_rows(
    keys: Codes,
    classes: Codes,
    wakes: npt.NDArray[np.uint8],
    measures: Ints,
    floors: Ints,
    woken: Ints,
) -> Ints: ...
def hopeful_rows(
    classes: Codes,
    measures: Ints,
    floors: Ints,
    head: Codes,
    edges: Codes,
    moving: Codes,
    n_moving: Codes,
    accepting: npt.NDArray[np.uint8],
    initial: int,
    latest: Ints,
) -> Ints: ...
