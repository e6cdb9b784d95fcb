"""What notebooks show, in a browser: pictures and tables that run no script, dark and light."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import cereus
from cereus import par, show
from tests.browser.conftest import LOOKS, Watched
from tests.report.test_page import EVENTS, EVIL, TEXT

pytest.importorskip("altair")
pytest.importorskip("igraph")


def views() -> list[str]:
    """The HTML that a notebook gets from a query, its matches, a plan, a machine, an answer."""
    query = cereus.compile(TEXT, stream=cereus.Stream(time="ts"))
    evil = cereus.compile(f'SELECT * WHERE "{EVIL.replace(chr(34), chr(34) * 2)}"')
    machine = par.machine("repeat (a ; try a[A] unless b)")
    return [
        query._repr_html_(),
        query.run(EVENTS)._repr_html_(),
        query.why(EVENTS)._repr_html_(),
        query.compiled._repr_html_(),
        evil._repr_html_(),
        machine._repr_svg_() or "",
        show.diagram(query)._repr_svg_() or "",
    ]


@LOOKS
def test_everything_shows_itself(
    watched: Callable[..., Watched], tmp_path: Path, width: int, scheme: str
) -> None:
    file = tmp_path / "notebook.html"
    cells = "".join(f'<div style="overflow-x:auto">{view}</div>' for view in views())
    head = '<!doctype html><meta charset="utf-8"><meta name="color-scheme" content="light dark">'
    file.write_text(head + cells, "utf-8")
    seen = watched(width, scheme)
    seen.page.goto(file.as_uri())
    graphs = seen.page.locator("svg.cereus-graph")
    assert graphs.count() == 5
    assert seen.page.locator("img").count() == 0
    assert seen.page.get_by_text(EVIL).count() >= 2
    ink = graphs.first.locator("text.in").first.evaluate("node => getComputedStyle(node).fill")
    assert ink == ("rgb(27, 31, 36)" if scheme == "light" else "rgb(230, 232, 235)")
    seen.check(file.as_uri())
