"""`[sinks.x]` of a pipeline file: where the rows of a stream go, by `format`.

The fields are the keys, as in `spec`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from cereus.spark.pipeline.kinds import Location, Name, Names, Settings


@dataclass(frozen=True)
class FileSink:
    """A directory of files. `write`: what a batch run does if the directory exists; a live run
    appends."""

    FORMATS: ClassVar = ("parquet", "csv", "json", "orc", "arrow", "delta")
    from_: Name
    format: str
    path: Location
    write: Literal["error", "append", "overwrite"] | None = None
    partition_by: Names = ()
    options: Settings = field(default_factory=dict)


@dataclass(frozen=True)
class TableSink:
    """A table of the session's catalog."""

    FORMATS: ClassVar = ("table",)
    from_: Name
    format: str
    table: str
    write: Literal["error", "append", "overwrite"] | None = None
    partition_by: Names = ()
    options: Settings = field(default_factory=dict)


@dataclass(frozen=True)
class ConsoleSink:
    """Prints some rows."""

    FORMATS: ClassVar = ("console",)
    from_: Name
    format: str
    rows: int = 20
    truncate: bool = True


@dataclass(frozen=True)
class MemorySink:
    """A temporary view of the session, for notebooks and tests."""

    FORMATS: ClassVar = ("memory",)
    from_: Name
    format: str
    table: str


@dataclass(frozen=True)
class ForeachSink:
    """A function of yours, `module:function`, called with a DataFrame and the number of the
    micro-batch (0 in a batch run)."""

    FORMATS: ClassVar = ("foreach",)
    from_: Name
    format: str
    function: str


@dataclass(frozen=True)
class KafkaSink:
    """A topic. A message is a JSON object of the columns; `key` names those that make its key, so
    that matches of one key stay in order."""

    FORMATS: ClassVar = ("kafka",)
    from_: Name
    format: str
    servers: str
    topic: str
    key: Names = ()
    options: Settings = field(default_factory=dict)


@dataclass(frozen=True)
class MergeSink:
    """A table of Delta or Iceberg that rows are merged into: rows that agree in the columns of
    `identity` are one row, however often they come."""

    FORMATS: ClassVar = ("merge",)
    from_: Name
    format: str
    table: str
    identity: Names
    update: bool = False


@dataclass(frozen=True)
class WebhookSink:
    """A POST for each row, a JSON object, from the driver.

    identity      the columns whose hash is the header `Idempotency-Key` (all, if not said); with
                  `once_per`, what an alert is about: then the hash includes its time
    retries       how often a request that failed is sent again, after 1, 2, 4 … seconds
    timeout       how long an answer is waited for
    dead_letters  a directory for rows that nobody took; without it one of them ends the run
    once_per      no second alert of one identity within this time, by the column `time`
    """

    FORMATS: ClassVar = ("webhook",)
    from_: Name
    format: str
    url: str
    identity: Names = ()
    headers: Settings = field(default_factory=dict)
    retries: int = 5
    timeout: str = "10 seconds"
    dead_letters: Location | None = None
    once_per: str | None = None
    time: str = "end_time"


Sink = (
    FileSink
    | TableSink
    | ConsoleSink
    | MemorySink
    | ForeachSink
    | KafkaSink
    | MergeSink
    | WebhookSink
)
SINKS = (
    FileSink,
    TableSink,
    ConsoleSink,
    MemorySink,
    ForeachSink,
    KafkaSink,
    MergeSink,
    WebhookSink,
)
