"""Complex event recognition on Arrow and Spark."""
