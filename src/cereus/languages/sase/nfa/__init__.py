"""NFA^b, the automaton of a SASE+ query."""
