"""Events to play with, and example queries over them: small, made up, the same every time.

The examples are files, `examples/<sample>.<suffix>`: the suffix says in which language.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.resources import files

import numpy as np
import pyarrow as pa

from cereus.language.registry import default_name, dialect_of
from cereus.stream import Stream

NAMES = ("ACME", "BOLT", "CORD", "DUNE")
MACHINES = ("press", "mill", "lathe")
USERS = tuple(f"u{number:02}" for number in range(1, 25))
MORNING = datetime(2025, 3, 3, 9, 30)


@dataclass(frozen=True)
class PlaySample:
    """Events, which columns are what, and a query in each language."""

    name: str
    title: str
    about: str
    stream: Stream
    events: Callable[[], pa.Table]

    @property
    def examples(self) -> dict[str, str]:
        """The text for each language that has one."""
        return _examples(self.name)


@cache
def _examples(sample: str) -> dict[str, str]:
    texts = {}
    for file in files("cereus.play").joinpath("examples").iterdir():
        dialect = dialect_of(file.name)
        if file.name.partition(".")[0] == sample and dialect is not None:
            texts[dialect] = file.read_text("utf-8").rstrip()
    return texts


def market() -> pa.Table:
    """Orders of four names in half an hour; now and then a large sale, with buyers behind."""
    draw = np.random.default_rng(5)
    rows: list[tuple[str, str, float, int, float]] = []
    second = 0.0
    price = dict(zip(NAMES, (40.0, 12.0, 85.0, 23.0), strict=True))
    while len(rows) < 600:
        second += float(draw.exponential(3.0))
        name = str(draw.choice(NAMES))
        if draw.random() < 0.04:
            rows += _absorbed(draw, name, price, second)
            second = rows[-1][4]
            continue
        price[name] *= float(np.exp(draw.normal(0, 0.002)))
        side = "BUY" if draw.random() < 0.5 else "SELL"
        rows.append((side, name, price[name], int(draw.integers(1, 12)) * 100, second))
    kind, names, prices, volumes, seconds = zip(*rows[:600], strict=True)
    return pa.table(
        {
            "type": kind,
            "name": names,
            "price": np.round(prices, 2),
            "volume": pa.array(volumes, pa.int64()),
            "ts": _times(seconds),
        }
    )


def _absorbed(
    draw: np.random.Generator, name: str, price: dict[str, float], second: float
) -> list[tuple[str, str, float, int, float]]:
    """A large sale, and some buys of the same name, ever dearer."""
    rows = [("SELL", name, price[name], int(draw.integers(20, 60)) * 100, second)]
    for _ in range(int(draw.integers(2, 5))):
        second += float(draw.uniform(0.3, 1.5))
        price[name] *= 1 + float(draw.uniform(0.001, 0.004))
        rows.append(("BUY", name, price[name], int(draw.integers(2, 10)) * 100, second))
    return rows


def machines() -> pa.Table:
    """A reading of each of three machines every ten seconds; sometimes one overheats, and someone
    comes to reset it, or nobody does."""
    draw = np.random.default_rng(11)
    rows: list[tuple[str, str, float, float, float]] = []
    heat = dict.fromkeys(MACHINES, 0.0)
    for step in range(240):
        for place, machine in enumerate(MACHINES):
            second = step * 10.0 + place * 2.0
            if heat[machine] <= 0 and draw.random() < 0.012:
                heat[machine] = 8.0
            rising = 8.0 - heat[machine] if heat[machine] > 0 else 0.0
            temperature = 62 + 3 * place + 5 * rising + float(draw.normal(0, 1.2))
            vibration = 0.2 + 0.05 * rising + abs(float(draw.normal(0, 0.03)))
            rows.append(("READING", machine, temperature, vibration, second))
            if heat[machine] > 0:
                heat[machine] -= 1
                if heat[machine] == 2:
                    rows.append(("ALARM", machine, temperature, vibration, second + 0.5))
                if heat[machine] == 0 and draw.random() < 0.6:
                    rows.append(("RESET", machine, 70.0, vibration, second + 1.0))
    kinds, names, temperatures, vibrations, seconds = zip(*rows, strict=True)
    return pa.table(
        {
            "type": kinds,
            "machine": names,
            "temperature": np.round(temperatures, 1),
            "vibration": np.round(vibrations, 2),
            "ts": _times(seconds),
        }
    )


def shop() -> pa.Table:
    """Visits of a shop by two dozen people: they look, put things into a basket, pay, or leave."""
    draw = np.random.default_rng(3)
    rows: list[tuple[str, str, str, float, float]] = []
    for visit in range(90):
        user, second = str(draw.choice(USERS)), visit * 40.0 + float(draw.uniform(0, 30))
        item, price = f"item-{int(draw.integers(1, 9))}", round(float(draw.uniform(5, 200)), 2)
        for kind, chance in (("VIEW", 1.0), ("VIEW", 0.6), ("BASKET", 0.6), ("PAY", 0.5)):
            if draw.random() > chance:
                break
            rows.append((kind, user, item, price, second))
            second += float(draw.exponential(60.0))
    rows.sort(key=lambda row: row[4])
    kinds, users, items, prices, seconds = zip(*rows, strict=True)
    return pa.table(
        {"type": kinds, "user": users, "item": items, "price": prices, "ts": _times(seconds)}
    )


def _times(seconds: tuple[float, ...]) -> pa.Array:
    microseconds = np.round(np.array(seconds) * 1000).astype(np.int64) * 1000
    return pa.array(np.datetime64(MORNING, "us") + microseconds, pa.timestamp("us"))


TIMED = Stream(type="type", time="ts")
SAMPLES = {
    each.name: each
    for each in (
        PlaySample("market", "Market orders", market.__doc__ or "", TIMED, market),
        PlaySample("machines", "Machines", machines.__doc__ or "", TIMED, machines),
        PlaySample("shop", "A shop", shop.__doc__ or "", TIMED, shop),
    )
}


def file_example(types: tuple[str, ...], *, timed: bool) -> str:
    """A first query over events that somebody brings: the first two of their types."""
    template = _examples("file")[default_name()]
    first, second = (*types, *types, "EVENT", "EVENT")[:2] if len(types) != 1 else types * 2
    values = {
        "first": _quoted(first),
        "second": _quoted(second),
        "window": "1 minute" if timed else "100 EVENTS",
    }
    for name, value in values.items():
        template = template.replace(f"{{{name}}}", value)
    return template


def _quoted(name: str) -> str:
    """A type as a query names it."""
    plain = name.isidentifier() and name.isascii()
    doubled = name.replace('"', '""')
    return name if plain else f'"{doubled}"'
