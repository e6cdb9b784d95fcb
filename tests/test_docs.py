"""Docs run: every Python block of README.md and docs/**/*.md is executed, and so is every command.

The blocks of one file share their names and a working directory of their own. A block that opens
with ```py is left out. A block of text right after a Python block is what that prints. A ```console
block has commands, `$ cereus …`, each followed by what it writes; `…` stands for anything.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cereus.cli import main, view

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(
    r"^(?P<indent> *)(?P<ticks>```+)(?P<kind>python|console|text) *\n"
    r"(?P<body>.*?)^(?P=indent)(?P=ticks) *$",
    re.MULTILINE | re.DOTALL,
)
WIDTH = 100
"""Of the terminal that commands write to."""


@dataclass(frozen=True)
class Block:
    """A block of a page, and the line before its first one."""

    kind: str
    line: int
    body: str
    follows: bool = False
    """Nothing stands between the block before it and this one."""


def blocks(text: str) -> list[Block]:
    """The blocks to run, and what they print."""
    found, end = [], 0
    for match in FENCE.finditer(text):
        follows = not text[end : match.start()].strip() and bool(found)
        line = text.count("\n", 0, match.start("body"))
        body = undented(match["body"], match["indent"])
        found.append(Block(match["kind"], line, body, follows))
        end = match.end()
    return found


def undented(body: str, indent: str) -> str:
    return re.sub(f"^{indent}", "", body, flags=re.MULTILINE)


def run(page: Path) -> None:
    names: dict[str, object] = {"__name__": "__docs__"}
    printed: str | None = None
    for block in blocks(page.read_text()):
        place = f"{page.name}:{block.line + 1}"
        if block.kind == "python":
            output = StringIO()
            # Blank lines before it make the lines of a traceback those of the page.
            code = compile("\n" * block.line + block.body, str(page), "exec")
            with redirect_stdout(output):
                exec(code, names)
            printed = output.getvalue()
            continue
        if block.kind == "console":
            for command, shown in commands(block.body):
                check_shown(shown, written_by(command), f"{place}: {command}")
        elif block.follows and printed is not None:
            check_shown(block.body, printed, place)
        printed = None


def commands(body: str) -> Iterator[tuple[str, str]]:
    """Each command with what is shown below it; one that ends in a backslash goes on."""
    for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        typed = re.match(r"(?:[^\n]*\\\n)*[^\n]*\n", part)
        assert typed is not None
        yield typed[0].replace("\\\n", " ").strip(), part[typed.end() :]


def written_by(command: str) -> str:
    program, *arguments = shlex.split(command)
    assert program == "cereus", f"{program} is not run here: only cereus is"
    return CliRunner().invoke(main.app, arguments).output


def check_shown(shown: str, written: str, place: str) -> None:
    wanted = ".*".join(map(re.escape, plain(shown).split("…")))
    assert re.fullmatch(wanted, plain(written), re.DOTALL), f"{place} wrote\n{written}"


def plain(text: str) -> str:
    """Without what cannot be seen: blank lines, and spaces at the ends of lines."""
    return "\n".join(line.rstrip() for line in text.splitlines() if line.strip())


def marks(page: Path) -> Iterator[pytest.MarkDecorator]:
    if needs_spark(page):
        yield pytest.mark.spark
    if page.name == "live.md":  # many queries that wait for one another
        yield pytest.mark.long


def needs_spark(page: Path) -> bool:
    return any(
        "spark" in block.body for block in blocks(page.read_text()) if block.kind == "python"
    )


@pytest.mark.parametrize(
    "page",
    [pytest.param(p, marks=list(marks(p))) for p in PAGES],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_every_block_runs(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    for console in (view.out, view.err):
        monkeypatch.setattr(console, "width", WIDTH)
    monkeypatch.setattr(main, "compiled_notice", lambda: None)  # the tests also run uncompiled
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
```py
raise SystemExit
```
- item

  ```python
  if x:
      y = x + 1
  ```
"""


def test_blocks_are_found_with_their_lines() -> None:
    found = [(block.line, block.body) for block in blocks(SAMPLE)]
    assert found == [(2, "x = 1\n"), (13, "if x:\n    y = x + 1\n")]


def test_blocks_share_names_and_errors_name_the_line(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(SAMPLE)
    run(page)
    page.write_text(SAMPLE + "```python\nassert y == 3\n```\n")
    with pytest.raises(AssertionError) as raised:
        run(page)
    assert raised.traceback[-1].lineno + 1 == 18  # of the page


PRINTING = """
```python
print("a  b", 3.25)
```

```text
{}
```

```console
$ cereus check "SELECT * WHERE A" \\
    --type kind
{}
```
"""


def test_what_is_shown_is_what_is_written(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PRINTING.format("a  b …", "ok (…)"))
    run(page)
    for wrong in (("a  b", "ok (…)"), ("a  b …", "wrong")):
        page.write_text(PRINTING.format(*wrong))
        with pytest.raises(AssertionError, match="wrote"):
            run(page)


USERS = {
    "fraud": "trades/card_fraud.md",
    "data engineering": "trades/data_engineering.md",
    "security": "trades/security.md",
    "SQL": "coming_from/sql.md",
    "funnels": "trades/funnels_and_churn.md",
    "Flink CEP": "coming_from/flink_cep.md",
    "sensors": "trades/machine_monitoring.md",
    "research": "trades/research.md",
    "clumsy hands": "trades/mistakes.md",
    "notebooks": "trades/notebooks.md",
}


@pytest.mark.parametrize("user", USERS)
def test_everyone_who_is_new_has_a_page_that_runs_and_shows_what_comes_out(user: str) -> None:
    found = blocks((ROOT / "docs" / USERS[user]).read_text())
    assert any(block.kind == "python" for block in found)
    assert any(block.kind in ("console", "text") for block in found)
