"""Lists and maps: aggregates that collect values, and functions that take some out again.

They are Python values, computed match by match: they serve to look into a match, not for speed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa

from cereus.errors import ConditionTypeError

COLLECTED = frozenset(
    ("array_agg", "min_n", "max_n", "min_by_n", "max_by_n", "histogram", "map_agg", "multimap_agg")
)
"""Aggregates whose values are lists or maps."""
TAKEN: dict[str, tuple[int, ...]] = {
    "element_at": (1,),
    "cardinality": (0,),
    "contains": (1,),
    "array_join": (1, 2),
    "array_min": (0,),
    "array_max": (0,),
    "array_sort": (0,),
    "array_distinct": (0,),
    "array_position": (1,),
    "reverse": (0,),
    "map_keys": (0,),
    "map_values": (0,),
}
"""Functions of a list or a map, and how many literals they take with it."""
OF_MAPS = frozenset(("element_at", "cardinality", "map_keys", "map_values"))
OF_LISTS = frozenset(TAKEN) - {"map_keys", "map_values"}


# ---------------------------------------------------------------- values


def collected(function: str, columns: Sequence[Sequence[Any]]) -> Any:
    """The list or map of some rows; None if it would be empty."""
    values = columns[0]
    match function:
        case "array_agg":
            return list(values) or None
        case "histogram":
            return dict(Counter(each for each in values if each is not None)) or None
        case "map_agg":
            first: dict[Any, Any] = {}
            for key, value in zip(values, columns[1], strict=True):
                first.setdefault(key, value)
            first.pop(None, None)
            return first or None
        case "multimap_agg":
            groups: dict[Any, list[Any]] = {}
            for key, value in zip(values, columns[1], strict=True):
                if key is not None:
                    groups.setdefault(key, []).append(value)
            return groups or None
    keys = columns[1] if "_by_" in function else values
    known = [at for at, key in enumerate(keys) if key is not None and key == key]
    ranked = sorted(known, key=lambda at: keys[at], reverse=function.startswith("max"))
    return [values[at] for at in ranked[: columns[-1][0]]] if ranked else None


def taken(function: str, collection: Any, given: Sequence[Any]) -> Any:
    """The result of a function of `TAKEN` on a list or a map; None for None."""
    return None if collection is None else _TAKE[function](collection, *given)


def _element(collection: Any, key: Any) -> Any:
    if isinstance(collection, dict):
        return collection.get(key)
    places = len(collection)
    if key == 0 or abs(key) > places:
        return None
    return collection[key - 1 if key > 0 else key]


def _has(values: list[Any], wanted: Any) -> bool | None:
    if wanted is None:
        return None
    return True if wanted in values else None if None in values else False


def _joined(values: list[Any], separator: str, null: str | None = None) -> str:
    texts = (null if each is None else _text(each) for each in values)
    return separator.join(each for each in texts if each is not None)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _extreme(choose: Callable[..., Any]) -> Callable[[list[Any]], Any]:
    return lambda values: None if None in values or not values else choose(values)


def _sorted(values: list[Any]) -> list[Any]:
    known = [each for each in values if each is not None]
    return [*sorted(known), *[None] * (len(values) - len(known))]


_TAKE: dict[str, Callable[..., Any]] = {
    "element_at": _element,
    "cardinality": len,
    "contains": _has,
    "array_join": _joined,
    "array_min": _extreme(min),
    "array_max": _extreme(max),
    "array_sort": _sorted,
    "array_distinct": lambda values: list(dict.fromkeys(values)),
    "array_position": lambda values, wanted: values.index(wanted) + 1 if wanted in values else 0,
    "reverse": lambda values: values[::-1],
    "map_keys": list,
    "map_values": lambda pairs: list(pairs.values()),
}


# ---------------------------------------------------------------- types


def collected_type(function: str, types: Sequence[pa.DataType]) -> pa.DataType:
    match function:
        case "histogram":
            return pa.map_(types[0], pa.int64())
        case "map_agg":
            return pa.map_(types[0], types[1])
        case "multimap_agg":
            return pa.map_(types[0], pa.list_(types[1]))
    return pa.list_(types[0])


def taken_type(function: str, collection: pa.DataType, given: Sequence[Any]) -> pa.DataType:
    """The type of what is taken out of a list or a map of this type."""
    is_map = pa.types.is_map(collection)
    if not (is_map or pa.types.is_list(collection)):
        raise ConditionTypeError(
            f"{function} takes a list or a map, and this is a {collection}",
            hint="write array_agg(a.x) for the list of all values",
        )
    if function not in (OF_MAPS if is_map else OF_LISTS):
        raise ConditionTypeError(f"{function} does not take a {'map' if is_map else 'list'}")
    inner = collection.item_type if is_map else collection.value_type
    match function:
        case "cardinality" | "array_position":
            return pa.int64()
        case "contains":
            return pa.bool_()
        case "array_join":
            _check_texts(inner, given)
            return pa.string()
        case "element_at":
            _check_key(collection.key_type if is_map else pa.int64(), given[0])
            return inner
        case "array_min" | "array_max":
            return inner
        case "map_keys":
            return pa.list_(collection.key_type)
        case "map_values":
            return pa.list_(inner)
    return collection


def _check_texts(inner: pa.DataType, given: Sequence[Any]) -> None:
    if pa.types.is_nested(inner) or pa.types.is_temporal(inner) or pa.types.is_binary(inner):
        raise ConditionTypeError(
            f"array_join takes texts, numbers and booleans, not {inner}",
            hint="gather one of its fields: array_agg(a.place.city)",
        )
    if not all(isinstance(each, str) for each in given):
        raise ConditionTypeError(
            "array_join takes texts between the values",
            hint="write array_join(array_agg(a.x), ',')",
        )


def _check_key(kind: pa.DataType, key: Any) -> None:
    if pa.types.is_integer(kind) and type(key) is not int:
        raise ConditionTypeError(
            f"element_at takes a whole number here, not {key!r}",
            hint="the first element is 1, the last one -1",
        )
