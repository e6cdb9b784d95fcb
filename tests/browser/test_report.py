"""The report in a browser: it sorts and filters, is quiet, and asks for nothing."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa

import cereus
from cereus.report import report
from tests.browser.conftest import LOOKS, Watched
from tests.report.test_page import EVIL, page


@LOOKS
def test_the_page_works(
    watched: Callable[..., Watched], tmp_path: Path, width: int, scheme: str
) -> None:
    file = tmp_path / "report.html"
    file.write_text(page("SELECT * WHERE SELL AS s ; BUY AS b PARTITION BY name"), "utf-8")
    seen = watched(width, scheme)
    opened = seen.page
    opened.goto(file.as_uri())
    assert seen.requests == [file.as_uri()]
    names = opened.locator("#matches tbody tr td:first-child")
    assert names.all_text_contents() == [EVIL, "b"]
    opened.locator("#matches th .sorts").nth(1).click()  # start: upwards, then downwards
    opened.locator("#matches th .sorts").nth(1).click()
    assert names.all_text_contents() == ["b", EVIL]
    opened.locator("#matches th .sorts").nth(1).press("Enter")
    assert names.all_text_contents() == [EVIL, "b"]
    opened.locator("#filter").fill("onerror")
    assert names.all_text_contents() == [EVIL]
    assert opened.locator("#shown").text_content() == "1 of 2 rows"
    assert opened.locator("svg.cereus-graph").count() == 1
    paper = opened.evaluate("getComputedStyle(document.body).backgroundColor")
    assert paper == ("rgb(255, 255, 255)" if scheme == "light" else "rgb(17, 20, 24)")
    seen.check(file.as_uri())


CONTRAST = """() => {
  const light = (colour) => {
    const parts = colour.match(/[\\d.]+/g).slice(0, 3).map((each) => each / 255)
      .map((each) => (each <= 0.03928 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4));
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2] + 0.05;
  };
  const paper = light(getComputedStyle(document.body).backgroundColor);
  const ratio = (each) => {
    const ink = light(getComputedStyle(each).fill);
    return Math.max(ink, paper) / Math.min(ink, paper);
  };
  return Math.min(...[...document.querySelectorAll("svg text")].map(ratio));
}"""
"""The least contrast of a text in a picture with the page."""


@LOOKS
def test_what_is_written_in_pictures_can_be_read(
    watched: Callable[..., Watched], tmp_path: Path, width: int, scheme: str
) -> None:
    file = tmp_path / "report.html"
    file.write_text(page("SELECT * WHERE SELL AS s ; BUY AS b PARTITION BY name"), "utf-8")
    seen = watched(width, scheme)
    seen.page.goto(file.as_uri())
    assert seen.page.locator("svg text").count() > 10
    assert seen.page.evaluate(CONTRAST) >= 4.5
    drawn = seen.page.locator(".live").first
    legend = drawn.locator(".role-legend-title text").first.bounding_box()
    chart = drawn.locator("svg.marks").first.bounding_box()
    assert legend["x"] + legend["width"] <= chart["x"] + chart["width"]  # it is not cut


def test_a_page_without_matches_is_quiet(watched: Callable[..., Watched], tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text(page("SELECT * WHERE SELL AS s FILTER s[price > 900]"), "utf-8")
    seen = watched()
    seen.page.goto(file.as_uri())
    assert seen.page.get_by_text("There are none.").count() == 1
    seen.check(file.as_uri())


def test_values_are_sorted_and_shown_as_they_are(
    watched: Callable[..., Watched], tmp_path: Path
) -> None:
    """Large numbers are not rounded; lengths of time are sorted by how long they are."""
    ids = [2**53 + 1, 2**53 + 3, 2**53]
    took = [timedelta(hours=each) for each in (9, 10, 30)]
    begin = datetime(2025, 1, 1)
    times = [each for long in took for each in (begin, begin + long)]
    columns = {"type": ["A", "B"] * 3, "id": [each for each in ids for _ in "AB"], "ts": times}
    text = "SELECT a WHERE A AS a ; B AS b PARTITION BY id WITHIN 2 days RETURN b.ts - a.ts AS took"
    query = cereus.compile(text, stream=cereus.Stream(time="ts"))
    file = tmp_path / "report.html"
    file.write_text(report(query, pa.table(columns), sort=True), "utf-8")
    seen = watched(390)
    seen.page.goto(file.as_uri())
    shown = seen.page.locator("#matches tbody tr td:first-child")
    for column, order in (("id", sorted(ids)), ("took", ids)):
        seen.page.locator("#matches th .sorts", has_text=column).click()
        assert shown.all_text_contents() == [str(each) for each in order]
    seen.check(file.as_uri())


def test_long_names_and_values_stay_on_the_page_and_on_paper(
    watched: Callable[..., Watched], tmp_path: Path
) -> None:
    long = "long_name_" * 12
    columns = {"type": ["A", "B"], "note": ["x" * 300] * 2, long: [1, 2]}
    text = f"SELECT a WHERE A AS a ; B AS b FILTER a[{long} > 0] RETURN a.note, a.{long}"
    file = tmp_path / "report.html"
    file.write_text(report(cereus.compile(text), pa.table(columns), title=long), "utf-8")
    seen = watched(390)
    seen.page.goto(file.as_uri())
    seen.check(file.as_uri())
    seen.page.set_viewport_size({"width": 1000, "height": 800})
    seen.page.emulate_media(media="print")
    seen.check(file.as_uri())


def axis(chart: Any) -> list[str]:
    """The labels along time."""
    every = chart.locator(".live .role-axis-label text").all_text_contents()
    return [each for each in every if ":" in each]


@LOOKS
def test_a_timeline_zooms_and_says_what_an_event_is(
    watched: Callable[..., Watched], tmp_path: Path, width: int, scheme: str
) -> None:
    file = tmp_path / "report.html"
    file.write_text(page("SELECT s, b WHERE SELL AS s ; BUY AS b PARTITION BY name"), "utf-8")
    seen = watched(width, scheme)
    seen.page.goto(file.as_uri())
    chart = seen.page.locator("figure.drawn").nth(1)
    whole = axis(chart)
    mark = chart.locator(".live path[aria-roledescription=circle]").first
    mark.hover(force=True)
    tip = seen.page.locator("#vg-tooltip-element.visible")
    assert EVIL in tip.text_content() and "2025-01-01 00:00:00" in tip.text_content()
    for _ in range(4):
        chart.get_by_label("zoom in").click()
    assert axis(chart) != whole and any(
        each.count(":") == 2 and "." in each for each in axis(chart)
    )
    chart.get_by_label("show all").click()
    seen.page.wait_for_timeout(100)
    assert sorted(axis(chart)) == sorted(whole)
    mark.hover(force=True)
    seen.page.mouse.wheel(0, -50)  # which scrolls the page
    seen.page.wait_for_timeout(100)
    assert sorted(axis(chart)) == sorted(whole)
    mark.hover(force=True)
    seen.page.keyboard.down("Control")
    seen.page.mouse.wheel(0, -2000)
    seen.page.wait_for_timeout(100)
    assert sorted(axis(chart)) != sorted(whole)
    clips = chart.locator(".live [clip-path]").count()
    assert clips >= 2  # bands and marks stay inside the axes
    seen.check(file.as_uri())


def test_paper_has_still_pictures(watched: Callable[..., Watched], tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text(page("SELECT * WHERE SELL AS s ; BUY AS b PARTITION BY name"), "utf-8")
    seen = watched()
    seen.page.goto(file.as_uri())
    chart = seen.page.locator("figure.drawn").first
    assert not chart.locator(".still").is_visible() and chart.locator(".live").is_visible()
    seen.page.emulate_media(media="print")
    assert chart.locator(".still").is_visible() and not chart.locator(".live").is_visible()


def test_it_prints(watched: Callable[..., Watched], tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text(page(), "utf-8")
    seen = watched()
    seen.page.goto(file.as_uri())
    assert seen.page.pdf().startswith(b"%PDF")


def test_a_small_table_stays_on_one_page_and_a_long_one_may_break(
    watched: Callable[..., Watched], tmp_path: Path
) -> None:
    seen = watched()
    file = tmp_path / "tables.html"
    head, _, _ = page().partition("</head>")
    small, long = ("<tr><td>1</td></tr>" * count for count in (20, 21))
    tables = "".join(f"<table><tbody>{rows}</tbody></table>" for rows in (small, long))
    file.write_text(f"{head}</head><body>{tables}</body></html>", "utf-8")
    seen.page.goto(file.as_uri())
    seen.page.emulate_media(media="print")
    breaks = "[...document.querySelectorAll('table')].map(t => getComputedStyle(t).breakInside)"
    assert seen.page.evaluate(breaks) == ["avoid", "auto"]
