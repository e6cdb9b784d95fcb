"""A rule: a query with a name, as a row of a table or a file of a folder has it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from cereus.errors import CereusError, did_you_mean
from cereus.language.registry import default_name, dialect_of, suffixes
from cereus.sources import to_table


@dataclass(frozen=True)
class Rule:
    """A query that has a name and may change.

    name        what matches are called after
    text        the query
    language    its dialect
    parameters  the values of the parameters in the text (`:limit`)
    options     those of the dialect
    enabled     False: the rule is paused, and reads nothing
    """

    name: str
    text: str
    language: str = field(default_factory=default_name)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    enabled: bool = True

    @classmethod
    def of(cls, row: Rule | Mapping[str, Any]) -> Rule:
        """A row of a table: what is null is left out, and mappings may be JSON."""
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
        for name in ("parameters", "options"):
            if name in values:
                values[name] = _mapping(name, values[name])
        for name in ("name", "text"):
            if not isinstance(values.get(name), str):
                raise CereusError(f"a rule needs a {name}: {dict(row)!r}")
        return cls(**values)

    @property
    def meaning(self) -> Rule:
        """The rule but for whether it is paused: what a version stands for."""
        return replace(self, enabled=True)


def _mapping(name: str, value: Any) -> Mapping[str, Any]:
    """A mapping, as it is, as JSON, or as the pairs that Arrow makes of a map."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            raise CereusError(f"the {name} of a rule are not JSON: {value!r}") from None
    if isinstance(value, list):
        value = dict(value)
    if not isinstance(value, Mapping):
        raise CereusError(f"the {name} of a rule are a mapping, not a {type(value).__name__}")
    return {key: each for key, each in value.items() if each is not None}


def rules_in(source: Any) -> list[Rule]:
    """Rules: in a folder of query files, in a table, or in a list; one of each name."""
    if isinstance(source, str | Path):
        rules = _of_folder(Path(source))
    elif isinstance(source, Iterable) and not isinstance(source, Mapping):
        rules = [Rule.of(row) for row in source] if _is_list(source) else _of_table(source)
    else:
        rules = _of_table(source)
    names = [rule.name for rule in rules]
    twice = [name for place, name in enumerate(names) if name in names[:place]]
    if twice:
        raise CereusError(f"two rules are called {twice[0]!r}")
    return rules


def _is_list(source: Any) -> bool:
    return isinstance(source, list | tuple | set | frozenset)


def _of_table(source: Any) -> list[Rule]:
    return [Rule.of(row) for row in to_table(source).to_pylist()]


def _of_folder(folder: Path) -> list[Rule]:
    """Every query file is a rule, called after the file; `name.ceql.off` is paused. Names that
    begin with a dot are those of files that are being written."""
    if not folder.is_dir():
        raise CereusError(f"there is no folder of rules {str(folder)!r}")
    rules = []
    for path in sorted(folder.iterdir()):
        enabled = path.suffix != PAUSED
        query = path if enabled else path.with_suffix("")
        hidden = path.name.startswith(".")
        if query.suffix.removeprefix(".") in suffixes() and path.is_file() and not hidden:
            dialect = dialect_of(query) or default_name()
            rules.append(Rule(query.stem, _text(path), dialect, enabled=enabled))
    return rules


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CereusError(f"cannot read the rule {str(path)!r}: {error}") from None


PAUSED = ".off"
"""The suffix after that of a query file whose rule is paused."""
