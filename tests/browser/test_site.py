"""The documentation as a site, in a browser: pages are quiet, and ask nobody else."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import LOOKS, Watched

pytest.importorskip("mkdocstrings", reason="the extra docs is not installed")
ROOT = Path(__file__).parent.parent.parent
pytestmark = pytest.mark.long


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    built = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(built)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return built


@pytest.fixture(scope="module")
def site(folder: Path) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@LOOKS
def test_every_page_is_quiet_and_fits(
    watched: Callable[..., Watched], site: str, width: int, scheme: str
) -> None:
    seen = watched(width, scheme)
    for page in sorted((ROOT / "docs").rglob("*.md")):
        seen.page.goto(f"{site}/{page.relative_to(ROOT / 'docs').with_suffix('.html')}")
        assert seen.page.locator("h1").first.text_content()
        seen.check(site)


def test_the_reference_has_what_docstrings_say(watched: Callable[..., Watched], site: str) -> None:
    seen = watched()
    seen.page.goto(f"{site}/reference/api.html")
    assert seen.page.get_by_text("Compile a query: a text").count() == 1
    for name in ("cereus.Query.run", "cereus.Stream", "cereus.spark.match"):
        assert seen.page.locator(f'[id="{name}"]').count() == 1, name
    seen.check(site)


@LOOKS
def test_a_printed_sentence_is_read_without_scrolling(
    watched: Callable[..., Watched], site: str, width: int, scheme: str
) -> None:
    seen = watched(width, scheme)
    seen.page.goto(f"{site}/index.html")
    sentence = seen.page.locator(".sentence code").first
    assert "without a gap" in (sentence.text_content() or "")
    assert sentence.evaluate("part => part.scrollWidth <= part.clientWidth")


def test_a_page_is_printed(watched: Callable[..., Watched], site: str) -> None:
    seen = watched()
    seen.page.goto(f"{site}/ceql.html")
    assert seen.page.pdf().startswith(b"%PDF")
    seen.check(site)


def search(page: Any, word: str) -> None:
    """Type a word, and wait for what is found."""
    page.locator("input.md-search__input").click()
    page.keyboard.type(word)
    page.locator(".md-search-result__item", has_text=word).first.wait_for()


def test_the_search_answers(watched: Callable[..., Watched], site: str) -> None:
    seen = watched()
    seen.page.goto(f"{site}/index.html")
    search(seen.page, "playground")
    seen.check(site)


@pytest.mark.parametrize("name", ["index.html", "reference/api.html"])
def test_the_search_answers_without_a_server(
    watched: Callable[..., Watched], folder: Path, name: str
) -> None:
    """`make docs` names a file, which is opened as it is."""
    seen = watched()
    seen.page.goto((folder / name).as_uri())
    search(seen.page, "playground")
    seen.check(folder.as_uri())
