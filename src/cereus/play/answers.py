"""The answers of the playground: each function takes a request and the events, and returns plain
values. They run in a process that may be ended at any time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from typing import Any

import pyarrow as pa

from cereus.engine.results.time_order import BY_TIME, in_order
from cereus.errors import CereusError, QueryError
from cereus.language.registry import default_name, languages
from cereus.language.result_counts import some_rows
from cereus.lsp import features
from cereus.matches import Matches
from cereus.play.data import PlayData, PlayEvents
from cereus.play.request import PlayRequest, malformed, number, read_request
from cereus.play.snippets import snippets
from cereus.play.wording import on_page, warning_on_page
from cereus.query import Query
from cereus.report.table import cells, ranks, with_values
from cereus.show.charts import charts_of
from cereus.show.diagram import diagram
from cereus.sources import source
from cereus.translate.translate import INTO, translated
from cereus.why.html import why_html

MOST_MATCHES = 20_000
"""The most matches that are looked for: a page cannot show more."""
MOST_ROWS = 500
EVENTS_SHOWN = 100
MOST_COMPLETIONS = 200

Given = Mapping[str, Any]
Answer = dict[str, Any]


def start(given: Given, events: PlayData) -> Answer:
    """What the page needs to begin: languages, and events with their examples."""
    return {
        "languages": [
            {"name": each.name, "title": each.title, "keywords": list(features.keywords(each))}
            for each in languages()
        ],
        "default": default_name(),
        "functions": features.function_names(),
        "data": [events.of(name).described() for name in events.names],
    }


def check(given: Given, events: PlayData) -> Answer:
    """The errors of a text, and its meaning."""
    query, on = read_request(given), events.of(read_request(given).data)
    known = query.known(on.table.schema)
    problems = features.problems(query.text, query.language, known)
    return {
        "problems": [asdict(_reworded(each)) for each in problems],
        "words": features.meaning(query.text, query.language, known),
    }


def _reworded(problem: features.TextProblem) -> features.TextProblem:
    words = on_page if problem.error else warning_on_page
    return replace(problem, message=words(problem.message))


def complete(given: Given, events: PlayData) -> Answer:
    """Words that may stand at a place in the text."""
    query, on = read_request(given), events.of(read_request(given).data)
    known = query.known(on.table.schema, on.types)
    words = features.completions(query.text, number(given, "offset"), query.language, known)
    return {"words": [{"label": w, "kind": kind} for w, kind in words[:MOST_COMPLETIONS]]}


# ---------------------------------------------------------------- running


def run(given: Given, events: PlayData) -> Answer:
    """The matches, as a table and along time."""
    query, on = _compiled(given, events)
    began = time.perf_counter()
    matches, complete = _matches(query, on.table)
    seconds = time.perf_counter() - began
    notes = [*query.notes(source(on.table, query.stream), list(_batches(matches)), above=1)]
    if not complete:
        notes.append(f"only the first {MOST_MATCHES:,} matches: there may be more")
    if on.more:
        notes.append(f"only the first {on.table.num_rows:,} events of the file")
    table = with_values(matches.head(MOST_ROWS))
    return {
        "total": matches.total,
        "completions": matches.completions,
        "listed": len(matches) if matches.counts.several else None,
        "complete": complete,
        "events": on.table.num_rows,
        "seconds": seconds,
        "columns": table.column_names,
        "rows": cells(table),
        "ranks": ranks(table),
        "rows_left_out": max(len(matches) - MOST_ROWS, 0),
        "notes": notes,
        "charts": list(_charts(query, on.table, matches)),
    }


def _compiled(given: Given, events: PlayData) -> tuple[Query, PlayEvents]:
    query = read_request(given)
    on = events.of(query.data)
    return features.compiled(query.text, query.language, query.known(on.table.schema)), on


def _matches(query: Query, table: pa.Table) -> tuple[Matches, bool]:
    """The matches, and whether these are all."""
    executor = query.executor(table.schema)
    rows: list[pa.RecordBatch] = []
    count, complete = 0, True
    for batch in query.batches(table):
        count += batch.num_rows
        more = count - MOST_MATCHES
        rows.append(batch if more <= 0 else some_rows(batch, batch.num_rows - more))
        if more > 0:
            complete = False
            break
    if set(BY_TIME).intersection(executor.schema.names) and not query.compiled.counts:
        rows = in_order(rows, executor.schema, "time")
    events = source(table, query.stream)
    return Matches(executor.schema, rows, query.compiled, events), complete


def _batches(matches: Matches) -> Iterator[pa.RecordBatch]:
    yield from matches.table.to_batches()


def _charts(query: Query, table: pa.Table, matches: Matches) -> Iterator[Answer]:
    """Charts as Vega-Lite describes them; the browser draws them."""
    for each in charts_of(query, source(table, query.stream), matches):
        yield {"title": each.title, "note": each.note, "spec": each.chart.to_dict()}


# ---------------------------------------------------------------- about a query


def why(given: Given, events: PlayData) -> Answer:
    """Why there are no more matches."""
    query, on = _compiled(given, events)
    return {"html": why_html(query.why(on.table))}


def why_not(given: Given, events: PlayData) -> Answer:
    """Why the events of some rows are no match."""
    query, on = _compiled(given, events)
    rows = given.get("rows")
    if not isinstance(rows, list) or not all(type(row) is int for row in rows):
        raise malformed("rows", "a list of numbers")
    answer = query.why_not(on.table, rows)
    return {
        "matched": answer.matched,
        "reason": answer.reason,
        "excluded": [str(each) for each in answer.excluded],
    }


def automaton(given: Given, events: PlayData) -> Answer:
    """The picture of the query's automaton or machine, and how it will be run."""
    query, on = _compiled(given, events)
    document = query.explained(on.table.schema)
    picture = None
    with suppress(CereusError):
        picture = diagram(query).svg()
    return {"svg": picture, "sections": document["sections"], "dot": document["diagram"]}


def others(given: Given, events: PlayData) -> Answer:
    """The same query in the other languages, or why it cannot be written there."""
    query, _ = _compiled(given, events)
    return {"texts": [_in_language(query, name) for name in INTO if name != query.dialect]}


def _in_language(query: Query, name: str) -> Answer:
    try:
        return {"dialect": name, "text": translated(query.compiled, name)}
    except CereusError as error:
        reason = error.reason if isinstance(error, QueryError) else error.message
        return {
            "dialect": name,
            "reason": reason if error.hint is None else f"{reason}: {error.hint}",
        }


def copies(given: Given, events: PlayData) -> Answer:
    """The query as it is written in Python, on the command line and in a pipeline."""
    query: PlayRequest = read_request(given)
    on = events.of(query.data)
    return {"texts": snippets(query, on.file, on.reading)}


def rows(given: Given, events: PlayData) -> Answer:
    """Some of the events themselves."""
    table = events.of(str(given.get("data"))).table
    first = min(number(given, "first"), max(table.num_rows - 1, 0))
    shown = table.slice(first, EVENTS_SHOWN)
    return {
        "columns": table.column_names,
        "first": first,
        "rows": cells(shown),
        "ranks": ranks(shown),
        "total": table.num_rows,
    }


def upload(given: Given, events: PlayData) -> Answer:
    """The events of an uploaded file, which the server has kept."""
    return {"data": events.open(given["name"], given["path"]).described()}


ANSWERS: dict[str, Callable[[Given, PlayData], Answer]] = {
    each.__name__: each
    for each in (start, check, complete, run, why, why_not, automaton, others, copies, rows)
}
"""The answers by the names of the page's requests."""
OF_SERVER = {"upload": upload}
"""Requests that only the server makes: they name a file of this machine."""


def answer(name: str, given: Given, events: PlayData) -> Answer:
    """The answer, or the error for the person who wrote the query."""
    try:
        return {**ANSWERS, **OF_SERVER}[name](given, events)
    except CereusError as error:
        message = on_page(str(error))
        return {"error": message.splitlines()[0], "detail": message}
    except MemoryError:
        return {"error": "this needs more memory than the playground may use", "end": True}
