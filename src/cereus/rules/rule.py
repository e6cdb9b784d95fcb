"""A rule: a query with a name, from a row of a table or a file of a folder."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from cereus.errors import CereusError, did_you_mean, shortened
from cereus.language.registry import default_name, dialect_of, suffixes
from cereus.sources import to_table
from cereus.syntax.parameters import refuse_surrogates, value_of

TAKEN = ("source", "dialect", "stream", "schema", "limits", "params")
"""Keywords of `compile` that no option may have: the recognizer gives them."""


@dataclass(frozen=True)
class Rule:
    """A query that has a name and may change.

    name        what matches are called after
    text        the query
    language    its dialect
    parameters  the values of the parameters in the text (`:limit`); JSON says a time as
                {"datetime": "2024-01-31T12:00"}, and a length of time as {"microseconds": 5}
    options     those of the dialect
    enabled     False: the rule is paused, and reads nothing
    """

    name: str
    text: str
    language: str = field(default_factory=default_name)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    enabled: bool = True

    def __post_init__(self) -> None:
        """Refuse what is not a rule, with its name. Values of parameters become those of
        literals."""
        for name in ("name", "text", "language"):
            value = getattr(self, name)
            if not isinstance(value, str):
                raise CereusError(
                    f"the {name} of a rule is a text, not a {type(value).__name__}",
                    hint='write {"name": "rise", "text": "SELECT …"}',
                )
            refuse_surrogates(value, f"the {name} of a rule")
        if not self.name:
            raise _missing("name", {"name": self.name, "text": self.text})
        given = _mapping("parameters", self.parameters)
        values = {name: value_of(name, _untagged(value)) for name, value in given.items()}
        object.__setattr__(self, "parameters", values)
        object.__setattr__(self, "options", _mapping("options", self.options))
        object.__setattr__(self, "enabled", flag("enabled", self.enabled))
        for name in TAKEN:
            if name in self.options:
                raise CereusError(
                    f"a rule has no option {name!r}: the recognizer has it for all rules",
                    hint="leave it out",
                )

    @classmethod
    def of(cls, row: Rule | Mapping[str, Any]) -> Rule:
        """A rule from a row of a table: nulls are left out, and mappings may be JSON."""
        if isinstance(row, Rule):
            return row
        if not isinstance(row, Mapping):
            raise CereusError(
                f"a rule is a Rule or a mapping, not a {type(row).__name__}",
                hint='write {"name": "…", "text": "SELECT …"}',
            )
        known = [each.name for each in fields(cls)]
        for name in row:
            if name not in known:
                raise CereusError(
                    f"a rule has no {name!r}",
                    hint=did_you_mean(str(name), known) or ", ".join(known),
                )
        values = {name: value for name, value in row.items() if value is not None}
        for name in ("name", "text"):
            if not isinstance(values.get(name), str):
                raise _missing(name, values)
        return cls(**values)

    @property
    def meaning(self) -> str:
        """The rule without its name and whether it is paused: what a version stands for."""
        more = (sorted(self.parameters.items()), sorted(self.options.items()))
        return repr((self.language, self.text, *more))

    def written(self) -> str:
        """The rule as JSON, which `read` reads again: times are written with their kind."""
        return self._written

    @cached_property
    def _written(self) -> str:
        try:
            return json.dumps(asdict(self), default=tagged, sort_keys=True)
        except (TypeError, ValueError, RecursionError):
            raise CereusError(
                f"an option of the rule {self.name!r} cannot be kept in a snapshot",
                hint="options of rules are texts, numbers and booleans",
            ) from None

    @classmethod
    def read(cls, text: str) -> Rule:
        return cls(**json.loads(text))


def _missing(name: str, given: Mapping[str, Any]) -> CereusError:
    return CereusError(
        f"a rule needs a {name}: {shortened(repr(dict(given)))}",
        hint='write {"name": "rise", "text": "SELECT …"}',
    )


def flag(name: str, value: Any) -> bool:
    """Check a value that is true or false; a text such as "false" is refused, since Python takes
    any text for true."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    raise CereusError(
        f"{name!r} of a rule is true or false, not a {type(value).__name__}: "
        f"{shortened(repr(value))}",
        hint=f'write {{"{name}": false}}, without quotes',
    )


def tagged(value: Any) -> Any:
    """A value that JSON has no form for as a mapping, which no parameter is."""
    if isinstance(value, datetime):
        return {"datetime": value.isoformat()}
    if isinstance(value, timedelta):
        return {"microseconds": value // timedelta(microseconds=1)}
    raise TypeError


def _untagged(value: Any) -> Any:
    """The value of a parameter that `tagged` has written."""
    try:
        match value:
            case {"datetime": str(text)}:
                return datetime.fromisoformat(text)
            case {"microseconds": int(length)}:
                return timedelta(microseconds=length)
            case list():
                return [each if isinstance(each, list) else _untagged(each) for each in value]
    except (ValueError, OverflowError):
        pass  # refused as a mapping
    return value


def _mapping(name: str, value: Any) -> Mapping[str, Any]:
    """A mapping, given as it is, as JSON, or as the pairs that Arrow makes of a map, which JSON
    makes lists of."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            raise CereusError(
                f"the {name} of a rule are not JSON: {shortened(repr(value))}",
                hint='write {"least": 5}',
            ) from None
    if isinstance(value, list) and all(
        isinstance(each, tuple | list) and len(each) == 2 for each in value
    ):
        value = dict(value)
    if not isinstance(value, Mapping):
        raise CereusError(
            f"the {name} of a rule are a mapping, not a {type(value).__name__}",
            hint='write {"least": 5}',
        )
    for key in value:
        if not isinstance(key, str):
            raise CereusError(
                f"the {name} of a rule have names, and {shortened(repr(key))} is none",
                hint='write {"least": 5}',
            )
    return {key: each for key, each in value.items() if each is not None}


def rules_in(source: Any) -> list[Rule]:
    """Rules: in a folder of query files, in a table, in a list, or as texts by name; one of each
    name."""
    if isinstance(source, str | Path):
        rules = _of_folder(Path(source))
    elif isinstance(source, Mapping) and _are_texts(source):
        rules = [Rule(name, text) for name, text in source.items()]
    elif isinstance(source, Iterable) and not isinstance(source, Mapping):
        rules = [Rule.of(row) for row in source] if _is_list(source) else _of_table(source)
    else:
        rules = _of_table(source)
    seen: set[str] = set()
    for rule in rules:
        if rule.name in seen:
            raise CereusError(
                f"two rules are called {shortened(repr(rule.name))}",
                hint="give one of them another name",
            )
        seen.add(rule.name)
    return rules


def _are_texts(source: Mapping[Any, Any]) -> bool:
    """`{"rise": "SELECT …"}`, and not one rule by its fields, `{"name": …, "text": …}`."""
    known = {each.name for each in fields(Rule)}
    return all(isinstance(text, str) for text in source.values()) and not known >= {*source}


def _is_list(source: Any) -> bool:
    return isinstance(source, list | tuple | set | frozenset)


def _of_table(source: Any) -> list[Rule]:
    return [Rule.of(row) for row in to_table(source).to_pylist()]


def _of_folder(folder: Path) -> list[Rule]:
    """Every query file is a rule with the name of the file; `name.ceql.off` is paused. Names that
    begin with a dot are those of files that are being written."""
    try:
        paths = sorted(folder.iterdir())
    except (OSError, ValueError):  # a name may be too long, or hold characters that no name can
        raise CereusError(
            f"there is no folder of rules {shortened(repr(str(folder)))}", hint="check the path"
        ) from None
    rules = []
    for path in paths:
        enabled = path.suffix != PAUSED
        query = path if enabled else path.with_suffix("")
        hidden = path.name.startswith(".")
        if query.suffix.removeprefix(".") in suffixes() and path.is_file() and not hidden:
            dialect = dialect_of(query) or default_name()
            rules.append(Rule(query.stem, _text(path), dialect, enabled=enabled))
    return rules


def _text(path: Path) -> str:
    try:
        try:
            return path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            return path.read_text(encoding="utf-8", errors="replace").replace("\ufffd", UNREADABLE)
    except OSError as error:
        raise CereusError(
            f"cannot read the rule {str(path)!r}: {error.strerror}",
            hint="let it be read by everyone who runs rules, or move it to another folder",
        ) from None


UNREADABLE = "\uffff"
"""Stands in a text for bytes that are not UTF-8. It is no character, so no rule has it."""
PAUSED = ".off"
"""The suffix after that of a query file whose rule is paused."""
