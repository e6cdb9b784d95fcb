"""What automata remember about events: values in slots of the kernel, or in states."""
