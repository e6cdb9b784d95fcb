"""Docs run: every Python block of README.md and docs/*.md is executed.

The blocks of one file share their names and a working directory of their own. A block that opens
with ```python no-run is left out.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(
    r"^(?P<indent> *)(?P<ticks>```+)python(?P<tags>[^\n`]*)\n"
    r"(?P<body>.*?)^(?P=indent)(?P=ticks) *$",
    re.MULTILINE | re.DOTALL,
)


def blocks(text: str) -> list[tuple[int, str]]:
    """The blocks to run, each with the line where it starts."""
    return [
        (text.count("\n", 0, match.start("body")), undented(match["body"], match["indent"]))
        for match in FENCE.finditer(text)
        if "no-run" not in match["tags"].split()
    ]


def undented(body: str, indent: str) -> str:
    return re.sub(f"^{indent}", "", body, flags=re.MULTILINE)


def run(page: Path) -> None:
    names: dict[str, object] = {"__name__": "__docs__"}
    for line, body in blocks(page.read_text()):
        # Blank lines before it make the lines of a traceback those of the page.
        exec(compile("\n" * line + body, str(page), "exec"), names)


def needs_spark(page: Path) -> bool:
    return any("spark" in body for _, body in blocks(page.read_text()))


@pytest.mark.parametrize(
    "page",
    [pytest.param(p, marks=[pytest.mark.spark] if needs_spark(p) else []) for p in PAGES],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_every_block_runs(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.chdir(tmp_path)
    if needs_spark(page):
        request.getfixturevalue("spark")  # the session of the tests, which the page will find
    run(page)


SAMPLE = """
```python
x = 1
```
```bash
false
```
```python no-run
raise SystemExit
```
- item

  ```python
  if x:
      y = x + 1
  ```
"""


def test_blocks_are_found_with_their_lines() -> None:
    assert blocks(SAMPLE) == [(2, "x = 1\n"), (13, "if x:\n    y = x + 1\n")]


def test_blocks_share_names_and_errors_name_the_line(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(SAMPLE)
    run(page)
    page.write_text(SAMPLE + "```python\nassert y == 3\n```\n")
    with pytest.raises(AssertionError) as raised:
        run(page)
    assert raised.traceback[-1].lineno + 1 == 18  # of the page
