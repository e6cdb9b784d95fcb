"""The texts of queries that stand in the tests and in the documentation, by language."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from cereus.errors import CereusError
from cereus.language.registry import language

ROOT = Path(__file__).parents[3]
LONGEST = 600
MARKS = {
    "ceql": r"\bSELECT\b.*\bWHERE\b",
    "match_recognize": r"^\s*MATCH_RECOGNIZE\s*\(",
    "sase": r"\bPATTERN\s+SEQ\b",
    "sremo": r"\{.*\}",
    "par": r"[\[;|(]|\brepeat\b",
    "algebra": r"[;|+_-]",
}
"""What a text of each language has, so that few others are parsed."""
PYTHON = re.compile(r"^```python[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)


@cache
def texts(dialect: str) -> tuple[str, ...]:
    """Texts that are queries of a language, each once, shortest first."""
    candidates = {text.strip() for text in _constants(dialect) if 0 < len(text) < LONGEST}
    mark = re.compile(MARKS[dialect], re.IGNORECASE | re.DOTALL)
    chosen = [text for text in candidates if mark.search(text) and _parses(text, dialect)]
    return tuple(sorted(chosen, key=lambda text: (len(text), text)))


def _parses(text: str, dialect: str) -> bool:
    try:
        language(dialect).parse(text)
    except CereusError:
        return False
    return True


def _constants(dialect: str) -> Iterator[str]:
    for path in sorted((ROOT / "tests" / "languages" / dialect).rglob("*.py")):
        yield from _strings(path.read_text("utf-8"))
    page = (ROOT / "docs" / f"{dialect}.md").read_text("utf-8")
    for block in PYTHON.findall(page):
        yield from _strings(block)


def _strings(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
