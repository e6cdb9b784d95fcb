"""NFA^b, the automata of SASE+ (§3 of the paper), on the automaton model of the engine."""
