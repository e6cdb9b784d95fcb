"""The messages of all errors that the sources raise, as templates."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import cereus
from cereus import errors
from cereus.errors import CereusError

SOURCES = Path(cereus.__file__).parent
KINDS = {
    name
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, CereusError)
}
HOLE = "…"
"""Stands for what is filled in when an error is raised."""
EXCEPTIONS = Path(__file__).parent / "mistakes" / "without_example.txt"


@dataclass(frozen=True)
class Message:
    """What a file of the sources says when something is wrong."""

    file: str
    text: str

    def stands_in(self, page: str) -> bool:
        parts = (re.escape(part) for part in self.text.split("\n")[0].split(HOLE))
        return re.search(".*".join(parts), page) is not None


def messages() -> Iterator[Message]:
    """The messages that are written where an error is made. The reference evaluators are apart:
    they raise nothing that a user sees."""
    for path in sorted(SOURCES.rglob("*.py")):
        file, source = path.relative_to(SOURCES).as_posix(), path.read_text("utf-8")
        if not file.startswith("reference/") and any(f"{kind}(" in source for kind in KINDS):
            for node in ast.walk(ast.parse(source)):
                text = _message(node)
                if text.replace(HOLE, "").strip():
                    yield Message(file, text)


def _message(node: ast.AST) -> str:
    if isinstance(node, ast.Call) and node.args:
        name = getattr(node.func, "id", None) or getattr(node.func, "attr", None)
        if name in KINDS:
            return _template(node.args[0])
    return ""


def _template(node: ast.expr) -> str:
    match node:
        case ast.Constant(str() as text):
            return text
        case ast.JoinedStr(parts):
            return "".join(map(_template, parts))
        case ast.BinOp(left, ast.Add(), right):
            return _template(left) + _template(right)
    return HOLE


def exceptions() -> Iterator[str]:
    """The messages that have no example. Lines that begin with `#` give the reason."""
    for line in EXCEPTIONS.read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            yield line.replace("\\n", "\n")
