"""`report`: one page of HTML with everything in it, for a browser without a network."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from html import escape
from importlib.resources import files
from typing import Any, Literal

import cereus
from cereus.engine.results.time_order import BY_TIME
from cereus.errors import CereusError, LimitError
from cereus.matches import Matches
from cereus.pictures.graphs import library
from cereus.query import Query
from cereus.report.table import cells, embedded, ranks, with_values
from cereus.show.charts import RunChart, called, charts_of
from cereus.show.diagram import diagram
from cereus.show.timeline import key_columns
from cereus.sources import Source, source
from cereus.why.html import why_html

FEW = 20
"""With at most this many matches, the page explains why there are no more."""
MOST_ROWS = 2_000
"""The most rows of the table; more would make the page slow."""
SORTS = 'role="button" tabindex="0"'
"""Not a <button>: on paper, Chromium would not repeat the head of the table on every page."""
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
"""What a browser lets the page do: nothing is loaded from elsewhere."""


def report(query: Query, data: Any, *, sort: bool = False, title: str | None = None) -> str:
    """Run a query, and describe the run: the query, its meaning, its automaton, the matches along
    time and as a table, and, if there are few, why there are no more."""
    events = source(data, query.stream, sort=sort)
    matches = query.run(events, order=_order(query, events))
    heading = title or "Matches"
    parts = [
        f"<h1>{escape(heading)}</h1>",
        _numbers(matches, events.num_rows),
        *_query(query),
        *_pictures(query, events, matches),
        *_table(matches),
    ]
    found = matches.total or 0
    if found <= FEW:
        none = "no more" if found else "none"
        parts += [f"<h2>Why there are {none}</h2>", _why(query, events)]
    return _page(heading, parts)


def _why(query: Query, events: Source) -> str:
    try:
        return why_html(query.why(events))
    except LimitError as error:
        return f'<p class="note">{escape(error.message)}</p>'


def _order(query: Query, events: Source) -> Literal["time"] | None:
    """By time if results have one: then the matches that are drawn are the earliest."""
    columns = query.executor(events.schema).schema.names
    return "time" if set(BY_TIME).intersection(columns) else None


def _page(title: str, parts: list[str]) -> str:
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{escape(POLICY)}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            f"<title>{escape(title)}</title><style>{_file('page.css')}</style></head><body>",
            *parts,
            f'<p class="note">Made by Cereus {escape(cereus.__version__)}.</p>',
            *_scripts(drawn='<figure class="chart">' in "".join(parts)),
            "</body></html>",
        ]
    )


def _scripts(*, drawn: bool) -> Iterator[str]:
    """The scripts that sort the table, and those that draw the charts, nearly a megabyte, if there
    are any."""
    if drawn:
        yield f'<script type="module">{library("vl_convert").javascript_bundle()}</script>'
    own = "\n".join(map(_file, ("table.js", "charts.js", "page.js")))
    yield f'<script type="module">{own}</script>'


def _file(name: str) -> str:
    return files("cereus.report").joinpath(name).read_text("utf-8")


# ---------------------------------------------------------------- parts


def _numbers(matches: Matches, events: int) -> str:
    counts = {}
    if matches.total is not None:
        counts["match" if matches.total == 1 else "matches"] = f"{matches.total:,}"
    if matches.counts.several:
        counts["row" if len(matches) == 1 else "rows"] = f"{len(matches):,}"
    counts["event" if events == 1 else "events"] = f"{events:,}"
    if matches.completions:
        counts[f"completion{'s' * (matches.completions > 1)}"] = f"{matches.completions:,}"
    names = matches.table.column_names
    for key in key_columns(matches) if len(matches) else []:
        values = len(matches.table.column(key).unique())
        counts[f"value{'s' * (values != 1)} of {key} with matches"] = f"{values:,}"
    if "start_time" in names and len(matches):
        counts["first match"] = str(cells(matches.table.slice(0, 1).select(["start_time"]))[0][0])
    items = "".join(
        f"<li><b>{escape(str(value))}</b><span>{escape(name)}</span></li>"
        for name, value in counts.items()
    )
    return f'<ul class="numbers">{items}</ul>'


def _query(query: Query) -> Iterator[str]:
    yield f"<h2>The query</h2><pre>{escape(query.text)}</pre>"
    with suppress(CereusError):
        yield f"<p>{escape(query.words())}</p>"
    for warning in query.warnings:
        yield f'<p class="warning">{escape(warning)}</p>'


def _pictures(query: Query, events: Source, matches: Matches) -> Iterator[str]:
    with suppress(CereusError):
        svg = diagram(query).svg()
        yield f'<h2>The automaton</h2><div class="scroll">{svg}</div>'
    for each in charts_of(query, events, matches):
        yield from _chart(each)


def _chart(drawn: RunChart) -> Iterator[str]:
    """A chart as a still picture, for paper and for readers without scripts, and as data from which
    the page draws one that zooms."""
    yield f"<h2>{escape(drawn.title)}</h2>"
    spec = drawn.chart.to_dict()
    still = library("vl_convert").vegalite_to_svg(spec)
    yield f'<figure class="chart"><div class="still scroll">{still}</div><div class="live"></div>'
    del spec["$schema"]  # an address, which would only be read and not asked
    yield f'<script type="application/json">{embedded(spec)}</script></figure>'
    if drawn.note:
        yield f'<p class="note">{escape(drawn.note)}</p>'


def _table(matches: Matches) -> Iterator[str]:
    yield "<h2>The matches</h2>"
    if not len(matches):
        yield "<p>There are none.</p>"
        return
    table = with_values(matches.head(MOST_ROWS))
    rows = cells(table)
    heads = "".join(
        f'<th aria-sort="none"><span class="sorts" {SORTS}>{escape(name)}</span></th>'
        for name in table.column_names
    )
    if len(matches) > MOST_ROWS:
        yield f'<p class="note">The first {MOST_ROWS:,} of {len(matches):,} {called(matches)}.</p>'
    yield (
        '<p class="screen"><input id="filter" type="search" placeholder="filter" '
        'aria-label="filter the matches"> <span id="shown" class="note"></span></p>'
    )
    yield (
        f'<div class="scroll"><table id="matches"><thead><tr>{heads}</tr></thead>'
        f"<tbody>{''.join(map(_row, rows))}</tbody></table></div>"
    )
    values = embedded({"rows": rows, "ranks": ranks(table)})
    yield f'<script type="application/json" id="rows">{values}</script>'


def _row(row: list[Any]) -> str:
    """A row of the table, for readers without scripts, and for paper."""
    cells = "".join(f"<td>{escape('' if cell is None else str(cell))}</td>" for cell in row)
    return f"<tr>{cells}</tr>"
