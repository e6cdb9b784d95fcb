"""Colours that colour-blind people can distinguish: those of Okabe and Ito (2008)."""

from __future__ import annotations

PALETTE = ("#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#f0e442", "#999999")
INK = "#747b86"
"""A gray that can be read on white and on black: it is as far from one as from the other."""
