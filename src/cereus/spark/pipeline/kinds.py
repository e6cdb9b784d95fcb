"""The kinds of values in a pipeline file."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime

Name = str
Names = tuple[str, ...]
"""One text, or a list of them."""
Settings = Mapping[str, str | int | float | bool]
Params = Mapping[str, str | int | float | bool | datetime | date | list[object]]
"""Values of parameters by their names; TOML's own times and lists too."""
Types = Mapping[str, object]
"""Columns and the names of their types; a table for a column that is a struct."""


class Location(str):
    """A path, or a URL, which is not changed."""
