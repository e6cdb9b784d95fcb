"""Matching on Spark."""

from cereus.spark.java import ensure_java
from cereus.spark.session import session

__all__ = ["ensure_java", "session"]
