"""Names of columns in Spark's SQL, whatever characters are in them."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812


def backticked(*path: str) -> str:
    """The text that names a column by its path: `a`.`b`."""
    return ".".join(f"`{name.replace('`', '``')}`" for name in path)


def quoted(path: tuple[str, ...]) -> Column:
    """A column by its path."""
    return F.col(backticked(*path))
