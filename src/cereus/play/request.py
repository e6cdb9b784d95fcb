"""The requests of the page: a text in a language, over some events. They are checked here, once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from cereus.errors import CereusError
from cereus.language.protocol import Language
from cereus.language.registry import language
from cereus.lsp.features import Surroundings
from cereus.stream import Stream


@dataclass(frozen=True)
class PlayRequest:
    """`data` names events that the playground knows; `stream` says which columns are what."""

    text: str
    dialect: str
    data: str
    stream: Stream

    @property
    def language(self) -> Language:
        return language(self.dialect)

    def known(self, schema: pa.Schema, types: tuple[str, ...] = ()) -> Surroundings:
        return Surroundings(self.stream, schema, types)


def read_request(given: Mapping[str, Any]) -> PlayRequest:
    """A request as it came over the wire."""
    keys = given.get("keys") or []
    if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys):
        raise malformed("keys", "a list of columns")
    stream = Stream(
        type=_text(given, "type") or None,
        time=_text(given, "time") or None,
        keys=keys,
        stream=_text(given, "stream") or None,
        unit=_text(given, "unit") or None,
        where=_text(given, "where").strip() or None,
    )
    return PlayRequest(_text(given, "text"), _text(given, "dialect"), _text(given, "data"), stream)


def malformed(name: str, kind: str) -> CereusError:
    """The error for a value of a wrong type."""
    return CereusError(
        f"{name!r} in the request should be {kind}", hint="the page of the playground sends it so"
    )


def _text(given: Mapping[str, Any], name: str) -> str:
    value = given.get(name) or ""
    if not isinstance(value, str):
        raise malformed(name, "a text")
    return value


def number(given: Mapping[str, Any], name: str) -> int:
    value = given.get(name, 0)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise malformed(name, "a whole number of at least 0")
    return value
