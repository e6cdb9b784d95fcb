"""Events → matches: the runners of the kernel, its table of states, and the memory of a run."""
