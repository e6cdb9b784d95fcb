"""A worker that has loaded what it needs: what is there then is not looked through for garbage."""

from __future__ import annotations

import gc
from functools import cache

from pyspark import TaskContext


def settle() -> None:
    """Called when a task ends; what the first one has left behind stays.

    Spark lets a worker look for garbage after every task, through all objects that there are. Those
    of Spark, pandas and Arrow alone take it 60 ms, and a micro-batch has some tasks on every core.
    """
    if TaskContext.get() is not None:  # a process of somebody else is left as it is
        _settle_once()


@cache
def _settle_once() -> None:
    gc.collect()
    gc.freeze()
