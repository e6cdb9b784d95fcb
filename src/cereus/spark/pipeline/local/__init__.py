"""Runs a pipeline in this process, without Spark: to try things out, and for data that fits into
memory."""
