"""Checks the sinks of a pipeline before Spark starts."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cereus.errors import CereusError
from cereus.spark.files import ELSEWHERE, unwritable
from cereus.spark.pipeline.compiling import check_duration, check_known, is_local
from cereus.spark.pipeline.document import Document, Key
from cereus.spark.pipeline.graph import Graph
from cereus.spark.pipeline.kinds import Location
from cereus.spark.pipeline.sinks.spec import (
    FileSink,
    ForeachSink,
    MemorySink,
    MergeSink,
    Sink,
    WebhookSink,
)
from cereus.spark.pipeline.spec import FileSource
from cereus.writing.target import Target, check_replaced


class SinkChecker:
    def __init__(self, document: Document, graph: Graph) -> None:
        self.document, self.spec, self.graph = document, graph.spec, graph
        self.wrong = document.wrong

    def check(self) -> None:
        read = {each.path for each in self.spec.sources.values() if isinstance(each, FileSource)}
        written: dict[str, str] = {}
        for name, sink in self.spec.sinks.items():
            key = ("sinks", name)
            check_known(self.document, (*key, "from"), [sink.from_], self.graph.names, "stream")
            if isinstance(sink, ForeachSink):
                self.check_function(key, sink)
            if isinstance(sink, FileSink):
                self.check_output(key, sink, read)
            if isinstance(sink, WebhookSink):
                self.check_webhook(key, sink)
            if isinstance(sink, MergeSink) and not sink.identity:
                self.wrong((*key, "identity"), "by which columns are rows the same?")
            if isinstance(sink, MemorySink) and not sink.table.isidentifier():
                self.wrong((*key, "table"), f"{sink.table!r} cannot be the name of a view")
            place = place_of(sink)
            if place is not None and place in written:
                message = f"the sink {written[place]!r} writes there already"
                self.wrong(key, message, "two sinks need two places")
            written.setdefault(place or "", name)

    def check_output(self, key: Key, sink: FileSink, read: set[Location]) -> None:
        path = (*key, "path")
        if sink.path in read:
            self.wrong(path, "a source reads this path", "write somewhere else")
        elif self.spec.live or not is_local(sink.path) or sink.write == "append":
            return
        elif sink.write == "overwrite":
            self.check_replaced(path, sink)
        elif unwritable(Path(sink.path)):
            message = f"cannot write to the directory {str(Path(sink.path).parent)!r}"
            self.wrong(path, message, ELSEWHERE)
        elif Path(sink.path).exists():
            hint = 'write = "overwrite" or "append" in this sink, or another path'
            self.wrong(path, f"{str(sink.path)!r} exists", hint)

    def check_replaced(self, path: Key, sink: FileSink) -> None:
        """Check a sink that replaces: Spark removes whatever is there."""
        try:
            check_replaced(Target(str(sink.path), sink.format, folder=True))
        except CereusError as error:
            self.wrong(path, error.message, error.hint)

    def check_webhook(self, key: Key, sink: WebhookSink) -> None:
        for name in ("timeout", "once_per"):
            text = getattr(sink, name)
            check_duration(self.document, (*key, name), text, zero=False)
        if not sink.url.startswith(("http://", "https://")):
            self.wrong((*key, "url"), f"{sink.url!r} is no address", 'url = "https://…"')
        if sink.retries < 0:
            self.wrong((*key, "retries"), "how often a request is sent again is at least 0")
        if sink.once_per is not None and not sink.identity:
            hint = 'identity = ["rule", "name"]: what an alert is about, without its time'
            self.wrong(key, "once_per needs to know which alerts are the same", hint)
        if sink.once_per is not None and self.spec.live and not is_local(self.checkpoint):
            message = "what was sent is remembered in the checkpoint, and that is elsewhere"
            self.wrong((*key, "once_per"), message, "use a checkpoint on this machine")

    @property
    def checkpoint(self) -> Location:
        return self.spec.checkpoint or Location("")

    def check_function(self, key: Key, sink: ForeachSink) -> None:
        try:
            function_of(sink.function, self.document.path)
        except CereusError as error:
            self.wrong((*key, "function"), error.message, error.hint)


def place_of(sink: Sink) -> str | None:
    """The place where a sink writes, if two sinks must not share it."""
    if isinstance(sink, FileSink):
        return str(sink.path)
    return getattr(sink, "table", None)


def function_of(name: str, file: Path) -> Callable[..., Any]:
    """`module:function`; the module may lie beside the pipeline file."""
    module, colon, attribute = name.partition(":")
    if not (module and colon and attribute.isidentifier()):
        raise CereusError(f"{name!r} names no function", hint='write "module:function"')
    beside = str(file.absolute().parent)
    if beside not in sys.path:
        sys.path.insert(0, beside)
    try:
        target = getattr(importlib.import_module(module), attribute, None)
    except Exception as error:  # anything that the module raises when it is imported
        reason = f"{type(error).__name__}: {error}"
        raise CereusError(
            f"the module {module!r} cannot be imported: {reason}",
            hint="modules are looked for beside the pipeline file, too",
        ) from None
    if not callable(target):
        raise CereusError(
            f"the module {module!r} has no function {attribute!r}", hint="write module:function"
        )
    return target  # type: ignore[no-any-return]
