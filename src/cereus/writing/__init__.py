"""Results → files: one, a folder of them, or standard output; locally and on Spark alike. And
results → values of Python, and JSON."""
