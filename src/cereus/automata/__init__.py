"""The transducer: one automaton model for every pattern language, and the constructions on it."""
