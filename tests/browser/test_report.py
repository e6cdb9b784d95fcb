"""The report in a browser: it sorts and filters, is quiet, and asks for nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

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
    opened.locator("#matches th button").nth(1).click()  # start: upwards, then downwards
    opened.locator("#matches th button").nth(1).click()
    assert names.all_text_contents() == ["b", EVIL]
    opened.locator("#filter").fill("onerror")
    assert names.all_text_contents() == [EVIL]
    assert opened.locator("#shown").text_content() == "1 of 2 rows"
    assert opened.locator("svg.cereus-graph").count() == 1
    paper = opened.evaluate("getComputedStyle(document.body).backgroundColor")
    assert paper == ("rgb(255, 255, 255)" if scheme == "light" else "rgb(17, 20, 24)")
    seen.check(file.as_uri())


def test_it_prints(watched: Callable[..., Watched], tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text(page(), "utf-8")
    seen = watched()
    seen.page.goto(file.as_uri())
    assert seen.page.pdf().startswith(b"%PDF")
