"""The content of a pipeline file, checked key by key: each class is a table of the file.

The fields are the keys (`from_` is `from`), their types are what a key may hold, and a field
without a default must be given. A `Path` is relative to the file's own directory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from cereus.language.registry import default_name, dialect_of
from cereus.sources import Files
from cereus.spark.pipeline.kinds import Location, Name, Names, Params, Settings, Types
from cereus.spark.pipeline.sinks.spec import Sink


@dataclass(frozen=True)
class SparkSettings:
    """`[spark]`: where Spark runs; `conf` are Spark's own settings by their full names."""

    master: str = "local[*]"
    app: str = "cereus"
    conf: Settings = field(default_factory=dict)


# ---------------------------------------------------------------- sources


@dataclass(frozen=True)
class FileSource:
    """Files of one format: all that are there, or, live, also those that come.

    schema     the columns and their types, by name; live CSV and JSON need it
    types      … of some columns, where the others are inferred
    header     of CSV: the names of the columns, if the first line does not have them
    max_files  live: how many new files a micro-batch takes at most
    options    those of Spark's reader, which then reads the files

    The others are as of `cereus.Files`.
    """

    FORMATS: ClassVar = ("parquet", "csv", "json", "orc", "arrow", "delta")
    format: str
    path: Location
    schema: Types | None = None
    types: Types | None = None
    header: Names = ()
    delimiter: str | None = None
    nulls: Names = ("",)
    multiline: bool = False
    infer: bool = True
    time_format: str | None = None
    decimal: str = "."
    compression: str | None = None
    max_files: int | None = None
    options: Settings = field(default_factory=dict)

    @property
    def described(self) -> bool:
        """Whether `Files` describes the files; Delta's tables describe themselves."""
        return self.format != "delta"

    def files(self) -> Files:
        return Files(
            self.path,
            format=self.format,
            schema=self.schema,
            types=self.types,
            header=self.header or True,
            delimiter=self.delimiter,
            nulls=self.nulls,
            multiline=self.multiline,
            infer=self.infer,
            time_format=self.time_format,
            decimal=self.decimal,
            compression=self.compression,
        )


@dataclass(frozen=True)
class KafkaSource:
    """Topics. The values are JSON objects with the columns of `schema`; without one, Kafka's own
    columns are left for `select`."""

    FORMATS: ClassVar = ("kafka",)
    format: str
    servers: str
    topic: Names
    schema: Types | None = None
    starting: str = "earliest"
    options: Settings = field(default_factory=dict)


@dataclass(frozen=True)
class RateSource:
    """Spark's rows to try things out with: `timestamp` and `value`, which counts up. A batch run
    makes `rows` of them."""

    FORMATS: ClassVar = ("rate",)
    format: str
    rows_per_second: int = 1
    rows: int = 1000
    options: Settings = field(default_factory=dict)


@dataclass(frozen=True)
class TableSource:
    """A table or view that the session knows."""

    FORMATS: ClassVar = ("table",)
    format: str
    table: str
    options: Settings = field(default_factory=dict)


Source = FileSource | KafkaSource | RateSource | TableSource
SOURCES = (FileSource, KafkaSource, RateSource, TableSource)


# ---------------------------------------------------------------- streams and queries


@dataclass(frozen=True)
class StreamOf:
    """`[streams.x]`: which columns of a source are what. `select` and `where` are Spark SQL, and
    come first."""

    source: Name
    type: str = "type"
    time: str | None = None
    keys: Names = ()
    unit: Literal["s", "ms", "us", "ns"] | None = None
    stream: str | None = None
    tie: Names = ()
    order: str | None = None
    select: Names = ()
    where: str | None = None
    watermark: str | None = None


@dataclass(frozen=True)
class QueryOf:
    """`[queries.x]`: a query reads streams and writes one, called `into` or as the query.

    text, file       the query, or where it is
    dialect          its language: if not given, that which the suffix of the file names, or the
                     default language
    params           the values of the parameters in the query, `:limit`
    options          those of the dialect
    keys             the columns that split the stream, instead of the stream's own
    events, columns  as of `cereus.spark.match`
    select, where    Spark SQL over the matches, before they become a stream
    type             the type that the matches have as events; the name of the query if not said
    on_change        live: whether the state of another query in the checkpoint is refused,
                     dropped to start afresh, or kept, where only constants or the output differ
    idle             live: when the source has been silent for so long, time passes by the clock
    eager            live: what the latest events complete is read at once, not a micro-batch later
    """

    from_: Names
    text: str | None = None
    file: Location | None = None
    dialect: str | None = None
    params: Params = field(default_factory=dict)
    options: Settings = field(default_factory=dict)
    limits: Settings = field(default_factory=dict)
    into: Name | None = None
    keys: Names = ()
    events: bool = True
    columns: Names = ()
    select: Names = ()
    where: str | None = None
    type: str | None = None
    on_change: Literal["refuse", "restart", "keep"] = "refuse"
    idle: str | None = None
    eager: bool = False

    @property
    def language(self) -> str:
        of_file = None if self.file is None else dialect_of(self.file)
        return self.dialect or of_file or default_name()


@dataclass(frozen=True)
class RuleFolder:
    """`[rules.x]`: the query files of a folder, each a rule, read streams and write one, called
    `into` or as the table. Live, rules come, change and go with their files.

    folder         where the files are; a file's name is that of its rule
    changes        the stream of what became of rules; if not said, the name and `_changes`
    keys           the columns that split the stream, instead of the stream's own
    select, where  Spark SQL over the matches, before they become a stream
    type           the type that the matches have as events; the name of their rule if not said
    """

    from_: Names
    folder: Location
    limits: Settings = field(default_factory=dict)
    into: Name | None = None
    changes: Name | None = None
    keys: Names = ()
    select: Names = ()
    where: str | None = None
    type: str | None = None


# ---------------------------------------------------------------- the whole


@dataclass(frozen=True)
class Spec:
    """A whole file.

    engine      "spark", or "local": in this process and its memory, to try things out
    mode        "batch": all events that are there; "live": also those that come, until stopped
    checkpoint  live: where Spark keeps how far it is, the state, and streams between queries
    watermark   live: how late events may come, where a stream does not say
    trigger     live: how often a micro-batch begins, "10 seconds"; "available now": take what
                is there, and end
    metrics     a file of JSON lines: a line per query and micro-batch
    prometheus  where Prometheus fetches the same: a port, or an address to listen on
    log         a file of JSON lines: what the run logs
    """

    mode: Literal["batch", "live"]
    sources: Mapping[str, Source]
    streams: Mapping[str, StreamOf]
    queries: Mapping[str, QueryOf]
    rules: Mapping[str, RuleFolder]
    sinks: Mapping[str, Sink]
    spark: SparkSettings
    engine: Literal["spark", "local"] = "spark"
    checkpoint: Location | None = None
    watermark: str | None = None
    trigger: str | None = None
    metrics: Location | None = None
    prometheus: str | None = None
    log: Location | None = None

    @property
    def matched(self) -> dict[str, QueryOf | RuleFolder]:
        """The queries and rules, which read streams and write matches, by name."""
        return {**self.rules, **self.queries}

    @property
    def live(self) -> bool:
        return self.mode == "live"

    @property
    def local(self) -> bool:
        return self.engine == "local"
