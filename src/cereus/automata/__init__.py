"""The transducer: one automaton model for every pattern language, and what is done with it."""
