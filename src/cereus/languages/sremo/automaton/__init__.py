"""The automaton of a SREMO, made on demand."""
