"""What a query says beside its pattern: window, partitions, strategy, consumption, limit."""
