"""A browser without a window, where there is one, and a page that is watched: it may write nothing
to the console and ask nobody but its server."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
PATIENCE = 300_000
"""Milliseconds for what takes a few hundred on a machine that has nothing else to do."""


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        pytest.skip("there is no Chromium on this machine: on Debian, apt install chromium")
    with playwright.sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@dataclass
class Watched:
    """A page, what it has written to the console, and which addresses it has asked for."""

    page: Any
    messages: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.set_default_timeout(PATIENCE)
        self.page.on("console", lambda message: self.messages.append(message.text))
        self.page.on("pageerror", lambda error: self.messages.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("dialog", lambda dialog: self.messages.append(dialog.message))

    def check(self, *origins: str) -> None:
        """It was quiet, and asked nobody else; it is no wider than the window."""
        assert self.messages == []
        own = ("data:", "blob:", *origins)
        assert [each for each in self.requests if not each.startswith(own)] == []
        width = self.page.viewport_size["width"]
        assert self.page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.fixture
def watched(browser: Any) -> Iterator[Callable[..., Watched]]:
    """Opens watched pages, `width` pixels wide, `scheme` light or dark."""
    contexts = []

    def opened(width: int = 1200, scheme: str = "light") -> Watched:
        context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 800})
        contexts.append(context)
        return Watched(context.new_page())

    yield opened
    for context in contexts:
        context.close()


LOOKS = pytest.mark.parametrize(
    ("width", "scheme"), [(1200, "light"), (390, "dark")], ids=["wide and light", "narrow and dark"]
)
