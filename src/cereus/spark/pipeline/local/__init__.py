"""A pipeline in this process, without Spark: for trying out, and for what fits into memory."""
