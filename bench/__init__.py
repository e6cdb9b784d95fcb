"""Measurements. `python -m bench` runs them all, `python -m bench stocks` one of them."""
