"""Many plans that differ in constants only, run as one: one automaton, one kernel, one index."""
