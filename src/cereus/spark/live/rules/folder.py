"""A folder of rules as a stream of changes: files that are added, replaced, paused and removed.

Spark cannot read replaced and removed files as a stream, and their old content is gone when a
micro-batch runs again. So the offset itself contains what the folder held, and the changes of a
micro-batch are the difference of two offsets.
"""

from __future__ import annotations

import json
import logging
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSource, SimpleDataSourceStreamReader

from cereus.errors import CereusError
from cereus.rules.rule import rules_in

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

try:
    from pyspark.sql.streaming.datasource import SupportsTriggerAvailableNow
except ImportError:  # before Spark 4.2, which then runs one micro-batch of such a stream

    class SupportsTriggerAvailableNow:  # type: ignore[no-redef]
        """Nothing that Spark asks for."""


log = logging.getLogger("cereus.spark")

SCHEMA = (
    "name string, text string, language string, parameters string, options string, "
    "enabled boolean, removed boolean"
)
RULES = "rules"
"""The key of an offset: the rules as JSON by name, compressed."""
Rules = dict[str, str]
"""Rules as JSON, by name."""
Seen = tuple[tuple[str, int, int], ...]
"""The files of a folder: name, time of the last change, size."""


def followed(spark: SparkSession, folder: str) -> DataFrame:
    """The changes of a folder, starting from an empty one. The driver must be able to see the
    folder."""
    rules_in(folder)  # refuses a path that is not a folder of rules
    spark.dataSource.register(FolderOfRules)
    return spark.readStream.format(FolderOfRules.name()).load(str(Path(folder).absolute()))


def files(folder: Path) -> Seen:
    stats = [(path.name, path.stat()) for path in sorted(folder.iterdir())]
    return tuple((name, stat.st_mtime_ns, stat.st_size) for name, stat in stats)


class FolderOfRules(DataSource):
    """Spark's way to the changes of a folder. Names of methods are Spark's."""

    @classmethod
    def name(cls) -> str:
        return "cereus_rules"

    def schema(self) -> str:
        return SCHEMA

    def simpleStreamReader(self, schema: Any) -> FolderReader:  # noqa: N802
        return FolderReader(Path(self.options["path"]))


class FolderReader(SimpleDataSourceStreamReader, SupportsTriggerAvailableNow):
    """Looks at a folder before every micro-batch; with the trigger `availableNow` once, when the
    stream starts. A folder that cannot be read changes nothing."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._seen: Seen | None = None
        self._offset: dict[str, str] = {}
        self._looks = True

    def initialOffset(self) -> dict[str, str]:  # noqa: N802
        return _packed({})

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        self._look()
        self._looks = False

    def read(self, start: dict[str, str]) -> tuple[Iterator[tuple[Any, ...]], dict[str, str]]:
        if self._looks:
            self._look()
        end = self._offset or start
        return self.readBetweenOffsets(start, end), end

    def readBetweenOffsets(  # noqa: N802
        self, start: dict[str, str], end: dict[str, str]
    ) -> Iterator[tuple[Any, ...]]:
        return iter([] if start == end else changes(_unpacked(start), _unpacked(end)))

    def _look(self) -> None:
        """See what the folder holds; files are read if some of them have changed."""
        try:
            seen = files(self.folder)
            if seen != self._seen:
                self._offset = _packed({r.name: r.written() for r in rules_in(self.folder)})
                self._seen = seen
        except (CereusError, OSError) as error:
            log.warning("the rules stay as they are: %s", error)


def changes(before: Rules, after: Rules) -> list[tuple[Any, ...]]:
    """The changes that lead from some rules to others, as rows."""
    put = [json.loads(rule) for name, rule in after.items() if before.get(name) != rule]
    gone = [name for name in before if name not in after]
    return [
        *(
            (
                rule["name"],
                rule["text"],
                rule["language"],
                json.dumps(rule["parameters"]),
                json.dumps(rule["options"]),
                rule["enabled"],
                None,
            )
            for rule in put
        ),
        *((name, None, None, None, None, None, True) for name in gone),
    ]


def _packed(rules: Rules) -> dict[str, str]:
    data = json.dumps(rules, sort_keys=True).encode()
    return {RULES: b64encode(zlib.compress(data)).decode()}


def _unpacked(offset: dict[str, str]) -> Rules:
    rules: Rules = json.loads(zlib.decompress(b64decode(offset[RULES])))
    return rules
