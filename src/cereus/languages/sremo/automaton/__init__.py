"""The automaton of a SREMO, built on demand."""
