"""Shows matches and errors on a terminal."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from cereus.cli.wording import FLAGS
from cereus.errors import CereusError
from cereus.language.wording import HINT, Surface, line_reworded, reworded
from cereus.syntax.literals import time_text

out = Console()
err = Console(stderr=True)

MOST_COLUMNS = 8
MOST_EVENTS = 8
WIDEST, WIDEST_CELL = 10_000, 40
RATED_FROM = 10_000
"""From this many events on, a rate is shown."""
RIGHT = (int, float)


@dataclass(frozen=True)
class ShownEvent:
    """A matched event: the selected variables that hold it, and its columns."""

    variables: str
    values: dict[str, Any]


@dataclass(frozen=True)
class ShownMatch:
    events: list[ShownEvent]


def show_error(error: CereusError, words: Surface = FLAGS) -> None:
    """`error: …`, the line with its caret, and the hint in the words of what was typed."""
    first, *rest = error.message.splitlines() or [""]
    text = Text.assemble(("error: ", "bold red"), (first, "bold"))
    for line in rest:
        caret = bool(line.strip()) and set(line.strip()) == {"^"}
        text.append("\n  " + line_reworded(line, words), "bold red" if caret else "")
    if error.hint is not None:
        text.append(f"\n{HINT} ", "cyan").append(reworded(error.hint, words))
    err.print(text, soft_wrap=True)


def show_warning(message: str, words: Surface = FLAGS) -> None:
    text = reworded(message, words)
    err.print(Text.assemble(("warning: ", "bold yellow"), text), soft_wrap=True)


def print_table(table: Table, *, uncut: bool = False) -> None:
    """A terminal has a width; a file or a pipe has none, and nothing is cut off there. Of a table
    that is `uncut`, a terminal wraps the lines if they cannot be so narrow."""
    if not uncut and _has_width():
        out.print(table)
        return
    width = WIDEST
    if _has_width():
        wide = out.options.update(width=WIDEST)
        width = max(out.width, Measurement.get(out, wide, table).minimum)
    console = Console(file=out.file, width=width, force_terminal=out.is_terminal or None)
    console.print(table, crop=False)


def _has_width() -> bool:
    return out.is_terminal or "COLUMNS" in os.environ


def columns_to_show(names: Sequence[str], first: Iterable[str]) -> list[str]:
    """The columns of a table, the most useful first."""
    ahead = [name for name in dict.fromkeys(first) if name in names]
    return [*ahead, *(name for name in names if name not in ahead)]


def matches_table(
    matches: Sequence[ShownMatch],
    columns: Sequence[str],
    title: str,
    one: str = "match",
    needed: Collection[str] = (),
) -> Table:
    """One line per matched event, a rule between matches; a long match without its middle. As many
    columns as there is room for, and those that are `needed` before others."""
    wide = out.options.update(width=WIDEST)
    shown, folded = list(columns), False
    while len(shown) > MOST_COLUMNS:
        shown.remove(_spare(shown, needed))
    table = _table(matches, shown, title, one, folded=folded)
    while _has_width() and Measurement.get(out, wide, table).maximum > out.width:
        if folded and len(shown) > 1:
            shown.remove(_spare(shown, needed))
        elif folded:
            break
        folded = True
        table = _table(matches, shown, title, one, folded=folded)
    left_out = [name for name in columns if name not in shown]
    if left_out:
        more = ", …" if len(left_out) > MOST_COLUMNS else ""
        table.caption = f"no room for {', '.join(left_out[:MOST_COLUMNS])}{more}"
        table.caption_justify = "left"
    return table


def _spare(columns: Sequence[str], needed: Collection[str]) -> str:
    """The column to leave out next."""
    return ([name for name in columns if name not in needed] or columns)[-1]


def _table(
    matches: Sequence[ShownMatch], columns: Sequence[str], title: str, one: str, *, folded: bool
) -> Table:
    """The table; with `folded`, what the times of a column share stands below its name."""
    with_variables = any(event.variables for match in matches for event in match.events)
    table = Table(title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD)
    table.min_width = len(title)  # a title would be broken into lines of the table's width
    table.add_column(one, justify="right", style="dim")
    if with_variables:
        table.add_column("variable", style="cyan", overflow="fold")
    shared = {name: Shared.of(_values(matches, name)) for name in columns}
    for name in columns:
        numeric = isinstance(next(iter(_values(matches, name)), None), RIGHT)
        table.add_column(
            name + (shared[name].text.replace(" (", "\n(") if folded else shared[name].text),
            justify="right" if numeric else "left",
            overflow="fold",
            max_width=WIDEST_CELL,
        )
    for number, match in enumerate(matches, 1):
        _add(table, number, match, shared, with_variables=with_variables)
        table.add_section()
    return table


def _values(matches: Sequence[ShownMatch], name: str) -> list[Any]:
    values = (event.values.get(name) for match in matches for event in match.events)
    return [value for value in values if value is not None]


@dataclass(frozen=True)
class Shared:
    """What all times of a column share: it is printed once, above them."""

    day: date | None = None
    zone: str | None = None

    @staticmethod
    def of(values: list[Any]) -> Shared:
        if not values or not all(isinstance(value, datetime) for value in values):
            return Shared()
        days = {value.date() for value in values}
        zones = {value.tzinfo for value in values}
        zone = zones.pop() if len(zones) == 1 else None
        return Shared(days.pop() if len(days) == 1 else None, None if zone is None else str(zone))

    @property
    def text(self) -> str:
        shared = [str(each) for each in (self.day, self.zone) if each is not None]
        return f" ({', '.join(shared)})" if shared else ""


NOTHING = Shared()


def _add(
    table: Table,
    number: int,
    match: ShownMatch,
    columns: Mapping[str, Shared],
    *,
    with_variables: bool,
) -> None:
    events: list[ShownEvent | None] = [*match.events]
    if len(events) > MOST_EVENTS:
        events[MOST_EVENTS - 3 : -2] = [None]
    for place, event in enumerate(events):
        cells = ["" if place else str(number)]
        if event is None:
            left_out = f"… {len(match.events) - len(events) + 1} more"
            cells += [left_out] if with_variables else []
            cells += ["…" for _ in columns]
        else:
            cells += [event.variables] if with_variables else []
            cells += [value_text(event.values.get(name), each) for name, each in columns.items()]
        table.add_row(*map(Text, cells))


def value_text(value: Any, shared: Shared = NOTHING) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return float_text(value)
    if isinstance(value, datetime):
        text = time_text(value if shared.zone is None else value.replace(tzinfo=None))
        return text if shared.day is None else text.partition(" ")[2]
    if isinstance(value, timedelta):  # with nanoseconds it is one of pandas: 0 days 01:00:00
        return str(timedelta(microseconds=value // timedelta(microseconds=1)))
    if isinstance(value, dict):
        return ", ".join(f"{name} {value_text(part)}" for name, part in value.items())
    if isinstance(value, list):
        return "; ".join(map(value_text, value))
    return str(value)


def float_text(value: float) -> str:
    """A number with four decimals if that is enough: 12.5; else with four digits: 0.00002."""
    if value and not 1e-3 <= abs(value) < 1e12:
        plain = 1e-9 <= abs(value) < 1e-3
        return np.format_float_positional(float(f"{value:.4g}")) if plain else f"{value:g}"
    return f"{value:.4f}".rstrip("0").rstrip(".")


def rate_text(events: int | None, seconds: float) -> str:
    """`1,000,000 events in 0.5 s (2.0 million events/s)`; for few events, without a rate."""
    if events is None:
        return f"in {seconds:.1f} s"
    noun = "event" if events == 1 else "events"
    taken = f"{events:,} {noun} in {seconds:.1f} s"
    if events < RATED_FROM:
        return taken
    rate = events / max(seconds, 1e-9)
    speed = f"{rate / 1e6:.1f} million" if rate >= 1e6 else f"{rate:,.0f}"
    return f"{taken} ({speed} events/s)"
