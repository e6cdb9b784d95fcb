"""What automata remember of events: values in slots of the kernel, or in states."""
