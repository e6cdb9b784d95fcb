"""The clauses of a query that are not its pattern: window, partitions, strategy, consumption,
limit."""
