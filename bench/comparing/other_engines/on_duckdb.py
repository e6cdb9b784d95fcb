"""DuckDB over a Parquet file of trades, the clause or SQL by hand: prints the rows found and the
seconds taken, as JSON."""

import sys

from clause import BY_HAND, CLAUSE, missing, timed


def main(path: str, how: str) -> None:
    try:
        import duckdb
    except ImportError:
        missing("duckdb is not installed")
        return
    connection = duckdb.connect(config={"threads": 1})
    connection.execute(f"CREATE TABLE trades AS SELECT * FROM '{path}'")
    statement = BY_HAND if how == "by_hand" else f"SELECT * FROM trades {CLAUSE}"
    try:
        timed(lambda: len(connection.sql(statement).to_arrow_table()))
    except duckdb.Error as error:
        missing(f"DuckDB {duckdb.__version__}: {str(error).splitlines()[0]}")


if __name__ == "__main__":
    main(*sys.argv[1:])
