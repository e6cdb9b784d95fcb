"""Measurements. `python -m bench` runs them all, `python -m bench stocks` one of them."""

import os

# One thread, unless a measurement or the environment says otherwise: figures are those of one core.
os.environ.setdefault("CEREUS_THREADS", "1")
