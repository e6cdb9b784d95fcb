"""Answers, explanations and tests do not depend on the clock.

The module `time` is imported only where the time a run took is shown, or where another process is
waited for; the names below are all such places.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SHOWS_OR_WAITS = {
    "src/cereus/bench/measuring.py",
    "src/cereus/cli/commands/demo.py",
    "src/cereus/cli/local.py",
    "src/cereus/cli/on_spark.py",
    "src/cereus/play/answers.py",
    "src/cereus/spark/live/meter.py",
    "src/cereus/spark/pipeline/run/batch.py",
    "src/cereus/spark/pipeline/run/listening.py",
    "src/cereus/spark/pipeline/run/live.py",
    "src/cereus/spark/pipeline/local/run.py",
    "src/cereus/spark/sinks/webhook.py",
    "tests/explain/test_explain.py",
    "tests/spark/live/killing.py",
    "tests/spark/starting/test_starting.py",
}
DATES = {"date", "datetime", "dt", "pd"}
NOW = {"now", "utcnow", "today"}
"""What reads the clock of these classes and modules."""
MENTIONED = re.compile(rf"import .*\btime\b|from time |\.({'|'.join(sorted(NOW))})\(")
"""What a text has that reads a clock; only such files are parsed."""
FILES = sorted([*(ROOT / "src").rglob("*.py"), *(ROOT / "tests").rglob("*.py")])


def clocks(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import) and any(each.name == "time" for each in node.names):
            yield "import time"
        elif isinstance(node, ast.ImportFrom) and node.module == "time":
            yield "from time import …"
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = node.func.value
            if node.func.attr in NOW and isinstance(owner, ast.Name) and owner.id in DATES:
                yield f"{owner.id}.{node.func.attr}()"


def reads_a_clock(text: str) -> bool:
    return MENTIONED.search(text) is not None and any(clocks(ast.parse(text)))


def test_only_these_files_read_a_clock() -> None:
    reading = {str(path.relative_to(ROOT)) for path in FILES if reads_a_clock(path.read_text())}
    assert reading == SHOWS_OR_WAITS


@pytest.mark.parametrize(
    "text", ["import time", "import os, time", "from time import sleep", "x = datetime.now(UTC)"]
)
def test_a_clock_is_noticed(text: str) -> None:
    assert reads_a_clock(text)
