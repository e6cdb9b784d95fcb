"""The journal of a folder of rules: its changes as a stream that live rules read.

Spark cannot read replaced and removed files as a stream, and their old content is gone when a
micro-batch runs again. So the driver looks at the folder, and writes its changes to a directory
that only ever gets more files: the stream of changes, in the checkpoint of the pipeline. The result
of a change is decided here, where the rule is compiled first, by the same code as in the workers;
it is written beside the change.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.errors import AnalysisException

from cereus.errors import CereusError
from cereus.rules.recognizer import RuleChange, RuleRecognizer
from cereus.rules.rule import Rule, rules_in
from cereus.spark.live.rules.folder import Seen, files
from cereus.spark.live.rules.stream import COLUMNS
from cereus.spark.schemas import arrow_schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from cereus.spark.pipeline.rules import CheckedRules

log = logging.getLogger("cereus.spark")

SCHEMA = (
    "name string, text string, language string, parameters string, options string, "
    "enabled boolean, removed boolean, at string, version long, change string, error string"
)
NOT_THERE = "PATH_NOT_FOUND"


class RuleJournal:
    """Writes down how the rules of a folder change, and gives the changes as a stream."""

    def __init__(self, events: DataFrame, rules: CheckedRules, path: str) -> None:
        self.session: SparkSession = events.sparkSession
        self.rules, self.path = rules, path
        self._seen: Seen | None = None
        self._known = RuleRecognizer(
            stream=rules.stream, schema=arrow_schema(events.schema), limits=rules.limits
        )
        before = self._written()
        for row in before:
            self._take_up(row)
        self._length = len(before)
        self._write(self._changes(rules.rules))

    @property
    def stream(self) -> DataFrame:
        """The changes, for `match_rules`."""
        return self._rows().select(*COLUMNS)

    @property
    def report(self) -> DataFrame:
        """The results of the changes of the rules."""
        return self._rows().selectExpr("name AS rule", "version", "change", "error")

    def look(self) -> None:
        """Write down the changes in the folder since it was last looked at. A folder that cannot be
        read changes nothing."""
        try:
            seen = files(Path(self.rules.folder))
            if seen == self._seen:
                return
            rows = self._changes(rules_in(self.rules.folder))
        except (CereusError, OSError) as error:
            log.warning("the rules stay as they are: %s", error)
            return
        self._seen = seen
        if rows:
            self._write(rows)

    # ------------------------------------------------------------ what is written

    def _changes(self, rules: Iterable[Rule]) -> list[dict[str, Any]]:
        made = self._known.set(list(rules))
        return [self._row(place, each) for place, each in enumerate(made, self._length)]

    def _row(self, place: int, change: RuleChange) -> dict[str, Any]:
        about = {
            "name": change.rule,
            "at": f"{place:012}",
            "version": change.version,
            "change": change.change,
            "error": change.error,
        }
        if change.change == "removed":
            return {**about, "removed": True}
        rule = self._known.rules[change.rule]
        return {
            **about,
            "text": rule.text,
            "language": rule.language,
            "parameters": json.dumps(dict(rule.parameters)),
            "options": json.dumps(dict(rule.options)),
            "enabled": rule.enabled,
        }

    def _write(self, rows: list[dict[str, Any]]) -> None:
        """Write all rows at once: a file appears when it is complete."""
        frame = self.session.createDataFrame(rows, SCHEMA).coalesce(1)
        frame.write.mode("append").json(self.path)
        for row in rows:
            _log(row)
        self._length += len(rows)

    # ------------------------------------------------------------ what was written

    def _rows(self) -> DataFrame:
        return self.session.readStream.schema(SCHEMA).json(self.path)

    def _written(self) -> list[dict[str, Any]]:
        """The rows of earlier runs, in their order."""
        try:
            rows = self.session.read.schema(SCHEMA).json(self.path).orderBy("at").collect()
        except AnalysisException as error:
            if error.getCondition() != NOT_THERE:
                raise
            return []
        return [row.asDict() for row in rows]

    def _take_up(self, row: dict[str, Any]) -> None:
        if row["removed"]:
            self._known.remove(row["name"])
            return
        known = ("name", "text", "language", "parameters", "options", "enabled")
        self._known.put({name: row[name] for name in known})


def _log(row: dict[str, Any]) -> None:
    """Log a change; one that was refused is a warning, with the reason in one line."""
    message = f"the rule {row['name']!r}, version {row['version']}: {row['change']}"
    if row["error"] is None:
        log.info(message)
    else:
        log.warning("%s: %s", message, row["error"].splitlines()[0])
