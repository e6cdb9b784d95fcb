"""The memory of a live query: in Spark's store, in a worker, and read from a checkpoint."""
