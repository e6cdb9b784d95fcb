"""The report in a browser: it sorts and filters, is quiet, and asks for nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .test_page import EVIL, page


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1200])
def test_the_page_works(browser: Any, tmp_path: Path, scheme: str, width: int) -> None:
    file = tmp_path / "report.html"
    file.write_text(page("SELECT * WHERE SELL AS s ; BUY AS b PARTITION BY name"), "utf-8")
    opened = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": 800})
    messages: list[str] = []
    requests: list[str] = []
    opened.on("console", lambda message: messages.append(message.text))
    opened.on("pageerror", lambda error: messages.append(str(error)))
    opened.on("request", lambda request: requests.append(request.url))
    opened.goto(file.as_uri())
    assert messages == []
    assert requests == [file.as_uri()]
    assert opened.evaluate("document.documentElement.scrollWidth") <= width
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
    opened.close()


def test_it_prints(browser: Any, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text(page(), "utf-8")
    opened = browser.new_page()
    opened.goto(file.as_uri())
    assert opened.pdf().startswith(b"%PDF")
    opened.close()
