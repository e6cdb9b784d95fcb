"""The site of the documentation has every page, and loads nothing from elsewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CONFIGURATION = (ROOT / "mkdocs.yml").read_text("utf-8")


def test_every_page_is_in_the_navigation() -> None:
    listed = re.findall(r": ([a-z_/]+\.md)$", CONFIGURATION, re.MULTILINE)
    pages = [str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")]
    assert sorted(listed) == sorted(pages)


def test_no_bar_in_code_of_a_table_shows_its_backslash() -> None:
    """GitHub wants it escaped there, the site shows the backslash: `<code>a &#124; b</code>`."""
    tables = re.compile(r"^\|.*`[^`\n]*\\\|[^`\n]*`", re.MULTILINE)
    pages = (ROOT / "docs").rglob("*.md")
    assert [page.name for page in pages if tables.search(page.read_text("utf-8"))] == []


@pytest.mark.long
@pytest.mark.skipif(find_spec("mkdocstrings") is None, reason="the extra docs is not installed")
def test_the_site_is_built_and_asks_for_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(tmp_path)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    page = (tmp_path / "index.html").read_text("utf-8")
    loaded = re.findall(r'(?:src|href)="(https?://[^"]+)"', page)
    scripts = [each for each in loaded if each.endswith((".js", ".css"))]
    assert scripts == [] and "fonts.googleapis" not in page
