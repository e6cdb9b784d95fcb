"""Values → JSON that every reader takes."""

from __future__ import annotations

import json
from collections.abc import Callable
from math import isfinite, isnan
from typing import Any


def json_text(value: Any, *, default: Callable[[Any], Any] = str, **options: Any) -> str:
    """The value as JSON. `default` converts values that JSON has no form for."""
    try:
        return json.dumps(value, allow_nan=False, default=default, **options)
    except ValueError:  # this is rare: looking for such numbers first would take as long again
        return json.dumps(finite(value), allow_nan=False, default=default, **options)


def finite(value: Any) -> Any:
    """The same value, with texts for the numbers that JSON does not have, as Spark writes them."""
    if isinstance(value, float) and not isfinite(value):
        return "NaN" if isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, dict):
        return {name: finite(part) for name, part in value.items()}
    return [finite(part) for part in value] if isinstance(value, list | tuple) else value
