"""Benchmarks. `python -m bench` runs those of the page, `python -m bench stocks` runs one.

kinds      queries of every kind: none may be slow, nor its `why`
languages  the queries of the papers, language by language
growth     how work and memory grow with events, windows, keys, queries
comparing  with another checkout, and with other engines
spark      on Spark, in batch and live

The files beside the folders: the built-in queries, the experiments of the SRT paper, rules,
reading, threads, hostile texts; the streams that all read, and how a run is timed.
"""

import os

# One thread, unless a measurement or the environment says otherwise: figures are those of one core.
os.environ.setdefault("CEREUS_THREADS", "1")
