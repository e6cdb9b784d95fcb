"""Many plans that differ in constants only, run as one: one automaton, one kernel, one index."""

from cereus.compiled import obey_pure

obey_pure(__path__)  # before any other module of this package is imported
