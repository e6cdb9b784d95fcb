"""What a live query remembers: in Spark's store, in a worker, and in a checkpoint that is read."""
