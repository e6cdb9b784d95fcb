"""SREMO, regular expressions with memory and output (symbolic register transducers)."""
