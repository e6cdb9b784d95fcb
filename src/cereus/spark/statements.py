"""SQL statements that contain clauses of Cereus: Cereus matches the clauses, Spark runs the
rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import uuid4

from cereus.language.protocol import Params
from cereus.language.registry import embedding_languages
from cereus.limits import Limits
from cereus.query import compile
from cereus.spark.matching import match
from cereus.spark.schemas import arrow_schema
from cereus.stream import Stream

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def sql(
    spark: SparkSession,
    statement: str,
    *,
    limits: Limits | None = None,
    params: Params | None = None,
    stream: Stream | None = None,
    **options: Any,
) -> DataFrame:
    """The DataFrame of a statement such as `SELECT … FROM trades MATCH_RECOGNIZE ( … ) AS m`.

    Each clause, with the table before it, becomes a temporary view of its matches; joins, common
    tables, subqueries and several clauses around it are Spark's as they are. `options` are those of
    `match`; the others are those of `compile`.
    """
    rewritten = statement
    for language in embedding_languages():
        dialect = language.name

        def replaced(source: str, clause: str, dialect: str = dialect) -> tuple[str, int]:
            rows = spark.sql(source)
            query = compile(
                clause,
                dialect=dialect,
                stream=stream,
                schema=arrow_schema(rows.schema),
                limits=limits,
                params=params,
            )
            matches = match(rows, query, **options)
            name = f"cereus_{uuid4().hex}"
            matches.createOrReplaceTempView(name)
            return name, len(matches.columns)

        rewritten = language.rewritten(rewritten, replaced)
    return spark.sql(rewritten)
