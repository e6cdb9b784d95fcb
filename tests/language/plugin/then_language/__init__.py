"""A language with one operator: `A then B` is an A and, later, a B. It is a package of its own, and
Cereus finds it by its entry point."""
