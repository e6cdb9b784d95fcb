"""The meaning of lists and maps in MATCH_RECOGNIZE: aggregates that collect, and functions that
take a value out again, as in Trino's documentation."""

from __future__ import annotations

from functools import cmp_to_key
from typing import Any

from cereus.reference.conditions import compare

COLLECTED = (
    "array_agg",
    "min_n",
    "max_n",
    "min_by_n",
    "max_by_n",
    "histogram",
    "map_agg",
    "multimap_agg",
)


def collected(function: str, every: list[Any], more: list[list[Any]]) -> Any:
    """A list of values, or a map; NULL without any."""
    if function == "array_agg":
        return every or None
    if function.endswith("_n"):
        return _ranked(function, every, more)
    by_key: dict[Any, Any] = {}
    for row, key in enumerate(every):
        if key is None:
            continue
        if function == "histogram":
            by_key[key] = by_key.get(key, 0) + 1
        elif function == "multimap_agg":
            by_key[key] = [*by_key.get(key, []), more[0][row]]
        elif key not in by_key:  # any value of a key may stay: here the first
            by_key[key] = more[0][row]
    return by_key or None


def _ranked(function: str, every: list[Any], more: list[list[Any]]) -> list[Any] | None:
    """The values of the n rows that come first; equal rows stay in their order."""
    keys = every if function in ("min_n", "max_n") else more[0]
    rows = [row for row, key in enumerate(keys) if key is not None and key == key]
    before = "<" if function.startswith("min") else ">"

    def order(left: int, right: int) -> int:
        if compare(before, keys[left], keys[right]):
            return -1
        return 1 if compare(before, keys[right], keys[left]) else 0

    rows.sort(key=cmp_to_key(order))
    return [every[row] for row in rows[: more[-1][0]]] if rows else None


def taken(function: str, value: Any, given: list[Any]) -> Any:
    """The value that a function takes out. Elements are counted from 1, or from the end by negative
    numbers."""
    if value is None:
        return None
    match function:
        case "cardinality":
            return len(value)
        case "map_keys":
            return list(value)
        case "map_values":
            return list(value.values())
        case "element_at" if isinstance(value, dict):
            return value.get(given[0])
        case "element_at":
            numbered = dict(enumerate(value, 1))
            numbered |= {-at: each for at, each in enumerate(reversed(value), 1)}
            return numbered.get(given[0])
        case "array_join":
            texts = [given[1:] if each is None else [_text(each)] for each in value]
            return given[0].join(text for texts_of in texts for text in texts_of)
        case "contains":
            if given[0] is None:
                return None
            return True if given[0] in value else None if None in value else False
        case "array_position":
            return next((at for at, each in enumerate(value, 1) if each == given[0]), 0)
        case "reverse":
            return list(reversed(value))
        case "array_distinct":
            return [each for at, each in enumerate(value) if each not in value[:at]]
        case "array_sort":
            known = sorted(each for each in value if each is not None)
            return known + [None] * (len(value) - len(known))
        case "array_min" | "array_max":
            if None in value:
                return None
            return (min if function == "array_min" else max)(value)
    raise ValueError(function)


def _text(value: Any) -> str:
    return str(value).lower() if value is True or value is False else str(value)
