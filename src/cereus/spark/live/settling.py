"""Keeps Python's garbage collector from searching through what a worker has loaded."""

from __future__ import annotations

import gc
from functools import cache

from pyspark import TaskContext


def settle() -> None:
    """Freeze the objects that the first task of a worker has left. Called when a task ends.

    Spark lets a worker collect garbage after every task, through all objects that there are. Those
    of Spark, pandas and Arrow alone take 60 ms, and a micro-batch has some tasks on every core.
    """
    if TaskContext.get() is not None:  # elsewhere the process is not ours to change
        _settle_once()


@cache
def _settle_once() -> None:
    gc.collect()
    gc.freeze()
