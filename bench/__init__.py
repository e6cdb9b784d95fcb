"""Benchmarks. `python -m bench` runs those of the page, `python -m bench stocks` runs one."""

import os

# One thread, unless a measurement or the environment says otherwise: figures are those of one core.
os.environ.setdefault("CEREUS_THREADS", "1")
