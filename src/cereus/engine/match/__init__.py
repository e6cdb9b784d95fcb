"""Events → matches: the kernel, its table of states, and what a run remembers."""

from cereus.compiled import obey_pure

obey_pure(__path__)  # before any other module of this package is imported
