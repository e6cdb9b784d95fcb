"""The clauses of a query beside its pattern: window, partitions, strategy, consumption, limit."""
