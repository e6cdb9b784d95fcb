"""Snapshots that someone has crafted: values of the right kinds in the wrong places, with digests
that fit, taken up and gone on with.

    python -m tests.engine.snapshots.crafted FIRST LAST    crafted state number FIRST, …, LAST - 1

`fuzz` changes bytes and single values; here whole parts of states change places, lose their names,
are nested, are taken from other states, or are said to be far larger than they are. The states are
those of queries, of rules that change, and of the buckets of live streams.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path as File
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa

import cereus
from cereus.engine import snapshot
from cereus.errors import SnapshotError
from cereus.state import codec
from cereus.state.classes import BY_CLASS
from tests.engine.snapshots import fuzz
from tests.engine.snapshots.cases import CASES

Path = tuple[Any, ...]
RECORDED = File(__file__).parents[2] / "spark" / "live" / "buckets" / "recorded"
NUMBERS = (*fuzz.INTERESTING, 2**64, -(2**80), 2**52)
LONG = 2**31 - 1
SMALL_AND_LONG: tuple[Callable[[], Any], ...] = (
    lambda: pa.nulls(LONG),
    lambda: pa.StructArray.from_buffers(pa.struct([]), LONG, [None]),
    lambda: pa.RunEndEncodedArray.from_arrays(pa.array([LONG]), pa.array([1])),
    lambda: np.zeros((10**4, 0), np.int64),
    lambda: pa.table({"x": pa.nulls(LONG)}),
    lambda: pa.Table.from_struct_array(pa.array([{}] * 9, pa.struct([]))),
)
"""Few bytes that say to be many values."""
PLAIN: tuple[Any, ...] = (None, True, "", "x", b"", 2.5, math.nan, -math.inf, (), [], {}, [[]])


# ---------------------------------------------------------------- the parts of a state


def parts(value: Any) -> list[tuple[Any, Any]]:
    """The parts of a value by their places: of containers, of classes, of states inside states."""
    if isinstance(value, dict):
        return list(value.items())
    if type(value) in BY_CLASS:
        return list(enumerate(BY_CLASS[type(value)].fields_of(value)))
    if isinstance(value, bytes) and value.startswith(snapshot.MAGIC):
        return [(0, inside(value))]
    if isinstance(value, frozenset):
        return list(enumerate(sorted(value, key=repr)))
    return list(enumerate(value)) if isinstance(value, list | tuple) else []


def inside(data: bytes) -> Any:
    return codec.decode(snapshot.unsealed(data[len(snapshot.MAGIC) :]))


def outside(value: Any) -> bytes:
    return snapshot.MAGIC + snapshot.sealed(codec.encode(value))


def put_together(value: Any, items: list[tuple[Any, Any]]) -> Any:
    """A value like this one of other parts."""
    values = [item for _, item in items]
    if isinstance(value, dict):
        return dict(items)
    if type(value) in BY_CLASS:
        return BY_CLASS[type(value)].made_of(*values)
    if isinstance(value, bytes):
        return outside(values[0])
    return type(value)(values)


def paths(value: Any, before: Path = ()) -> Iterator[Path]:
    for place, item in parts(value):
        yield (*before, place)
        yield from paths(item, (*before, place))


def at(value: Any, path: Path) -> Any:
    for place in path:
        value = dict(parts(value))[place]
    return value


def changed(value: Any, path: Path, change: Callable[[Any], Any]) -> Any:
    """The value with another part at a path; the rest is the same."""
    if not path:
        return change(value)
    items = [
        (place, changed(item, path[1:], change) if place == path[0] else item)
        for place, item in parts(value)
    ]
    return put_together(value, items)


def without(value: Any, path: Path) -> Any:
    *above, last = path
    return changed(
        value,
        tuple(above),
        lambda whole: put_together(whole, [(p, item) for p, item in parts(whole) if p != last]),
    )


# ---------------------------------------------------------------- changes


def mutated(draw: Random, value: Any, donor: Any) -> Any:
    """A value with a few parts that are not its own."""
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        places = list(paths(value))
        if not places:
            return value
        value = draw.choice(WAYS)(draw, value, draw.choice(places), donor)
    return value


def _extreme(draw: Random, value: Any, path: Path, _: Any) -> Any:
    return changed(value, path, lambda part: extreme(draw, part))


def extreme(draw: Random, part: Any) -> Any:
    """A value of the same kind at the ends of what it can be."""
    if isinstance(part, np.ndarray) and part.size and draw.random() < 0.7:
        filled = part.copy()
        number = draw.choice(NUMBERS) % 2**64
        where: Any = draw.choice((slice(None), draw.randrange(part.size), slice(0, None, 2)))
        filled.reshape(-1)[where] = np.array(number, np.uint64).astype(part.dtype)
        return filled
    if isinstance(part, np.ndarray):
        return draw.choice((part.T, part[..., None], part[:0], part.astype("f8"), part.reshape(-1),
                            np.concatenate([part, part]) if part.ndim else part))  # fmt: skip
    if isinstance(part, pa.Array | pa.Table):
        return draw.choice((part[:0], part[1:], _doubled(part), draw.choice(SMALL_AND_LONG)()))
    if isinstance(part, bool | int):
        return draw.choice(NUMBERS)
    if isinstance(part, float):
        return draw.choice((math.nan, math.inf, -math.inf, 1e308, 5e-324))
    if isinstance(part, str):
        return draw.choice(("", part * 2, part[1:], "\ud800", "\0"))
    return draw.choice(PLAIN)


def _doubled(part: pa.Array | pa.Table) -> Any:
    both = pa.concat_tables if isinstance(part, pa.Table) else pa.concat_arrays
    return both([part, part])


def _swapped(draw: Random, value: Any, path: Path, _: Any) -> Any:
    """Two parts change places, if none is inside the other."""
    other = draw.choice(list(paths(value)))
    if path[: len(other)] == other or other[: len(path)] == path:
        return value
    one, two = at(value, path), at(value, other)
    return changed(changed(value, path, lambda _: two), other, lambda _: one)


def _given(draw: Random, value: Any, path: Path, donor: Any) -> Any:
    """A part of another state, from the same place if it has that."""
    places = list(paths(donor))
    place = path if path in places and draw.random() < 0.5 else draw.choice(places)
    return changed(value, path, lambda _: at(donor, place))


def _dropped(draw: Random, value: Any, path: Path, _: Any) -> Any:
    try:
        return without(value, path)
    except TypeError:  # a class has all of its fields
        return value


def _nested(draw: Random, value: Any, path: Path, _: Any) -> Any:
    wrap: Callable[[Any], Any] = draw.choice(
        (lambda part: [part], lambda part: (part, part), lambda part: {"x": part})
    )
    return changed(value, path, wrap)


def _unnested(draw: Random, value: Any, path: Path, _: Any) -> Any:
    return changed(value, path, lambda part: draw.choice(parts(part) or [(0, part)])[1])


def _repeated(draw: Random, value: Any, path: Path, _: Any) -> Any:
    """A list that has an item twice, or many times."""
    times = draw.choice((2, 3, 1000))

    def longer(part: Any) -> Any:
        return part + part[-1:] * times if type(part) in (list, tuple) else part

    return changed(value, path, longer)


def _plain(draw: Random, value: Any, path: Path, _: Any) -> Any:
    return changed(value, path, lambda _: draw.choice(PLAIN))


def _small_and_long(draw: Random, value: Any, path: Path, _: Any) -> Any:
    return changed(value, path, lambda _: draw.choice(SMALL_AND_LONG)())


WAYS = (_extreme, _extreme, _extreme, _swapped, _swapped, _given, _given, _dropped, _nested,
        _unnested, _repeated, _plain, _small_and_long)  # fmt: skip


# ---------------------------------------------------------------- states of queries and of rules


@dataclass(frozen=True)
class Target:
    """A state that can be read as a value, written again, and gone on with."""

    value: Callable[[], Any]
    written: Callable[[Any], Any]
    go_on: Callable[[Any], object]


def of_query(place: int) -> Target:
    before, state = fuzz.parts(fuzz.taken(place))
    return Target(
        lambda: codec.decode(state),
        lambda value: fuzz.joined(before, codec.encode(value)),
        CASES[place].continued,
    )


STREAM = cereus.Stream(time="t", unit="s", keys=["k"])
SCHEMA = pa.schema({"type": pa.string(), "t": pa.int64(), "k": pa.string(), "x": pa.int64()})
RULES = [
    {"name": f"above {n}", "text": f"SELECT * WHERE A ; B FILTER A[x > {n}] WITHIN 20 seconds"}
    for n in range(3)
] + [
    {"name": "paused", "text": "SELECT * WHERE A", "enabled": False},
    {"name": "counted", "text": "SELECT COUNT(*) WHERE A ; B+ WITHIN 9 seconds"},
    {"name": "one", "text": "SELECT * WHERE A AS a FILTER a[x > :n]", "parameters": {"n": 2}},
    {"name": "program", "text": "repeat (A ; B[hit])", "language": "par"},
    {"name": "waits", "text": "SELECT * WHERE A NOT FOLLOWED BY B WITHIN 5 seconds"},
]


def events(begin: int, size: int) -> pa.Table:
    draw = Random(begin)
    rows = [
        {"type": draw.choice("AABBC"), "t": begin + n, "k": draw.choice("pq"), "x": n % 5}
        for n in range(size)
    ]
    return pa.Table.from_pylist(rows, SCHEMA)


@cache
def rules_taken() -> bytes:
    rules = cereus.RuleRecognizer(stream=STREAM, schema=SCHEMA, rules=RULES)
    rules.remove("above 1")
    rules.push(events(0, 30))
    return rules.snapshot()


def of_rules() -> Target:
    def go_on(data: bytes) -> object:
        rules = cereus.RuleRecognizer.restored(data, stream=STREAM, schema=SCHEMA)
        found = [rules.push(events(30, 10)), rules.put(*RULES[:2]), rules.put(*RULES[3:5])]
        rules.snapshot()
        return [*found, rules.advance(100), rules.remove("above 2"), rules.finish()]

    return Target(lambda: inside(rules_taken()), outside, go_on)


def of_bucket(name: str) -> Target:
    from tests.engine.snapshots import crafted_buckets

    return Target(
        partial(crafted_buckets.taken, name),
        crafted_buckets.stored,
        partial(crafted_buckets.go_on, name),
    )


TARGETS: list[Callable[[], Target]] = [
    *(partial(of_query, place) for place in range(len(CASES))),
    *[of_rules] * 8,
]
if find_spec("pyspark"):
    TARGETS += [partial(of_bucket, path.stem) for path in sorted(RECORDED.glob("*.json"))] * 3


def outcome(number: int) -> str:
    """What comes of one crafted state."""
    draw = Random(number)
    target = TARGETS[number % len(TARGETS)]()
    donor = of_query(draw.randrange(len(CASES)))
    try:
        crafted = target.written(mutated(draw, target.value(), donor.value()))
    except (TypeError, ValueError, ArithmeticError, LookupError, AttributeError,
            pa.ArrowException, SnapshotError):  # fmt: skip
        return "not made"  # what no state can be made of
    return fuzz.outcome_of(lambda: target.go_on(crafted))


if __name__ == "__main__":
    fuzz.main(int(sys.argv[1]), int(sys.argv[2]), outcome)
