"""Names for the functions in Python workers, as Spark's plans and its UI show them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

Run = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]
LONGEST = 80


@dataclass(frozen=True)
class Named:
    """A function with its own name, which a plan shows after `MapInArrow`."""

    run: Run
    name: str = field(repr=False)

    @property
    def __name__(self) -> str:
        return self.name

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return self.run(batches)


def named(run: Run, text: str, why_one_task: str | None = None) -> Any:
    """`cereus [one task: no WITHIN] SELECT a, b WHERE …`"""
    line = " ".join(text.split())
    shown = line if len(line) <= LONGEST else f"{line[: LONGEST - 2]} …"
    alone = "" if why_one_task is None else f" [one task: {why_one_task}]"
    return Named(run, f"cereus{alone} {shown}")
