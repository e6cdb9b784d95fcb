"""Nothing goes up: a stage imports only from the stages before it (docs/design.md)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent / "src" / "cereus"

API = frozenset(
    {
        "query",
        "many",
        "matches",
        "recognizer",
        "sources",
        "column_types",
        "par",
        "event_algebra",
        "sremo",
        "__init__",
    }
)
"""The modules at the root that make the public surface: one stage, `api`."""

BEFORE_API = {"compiled", "errors", "lang", "automata", "reactive", "algebra", "plan", "engine"}
MAY_IMPORT: dict[str, set[str]] = {
    "errors": set(),
    "compiled": set(),
    "lang": {"errors"},
    "reference": {"errors", "lang"},
    "automata": {"errors", "lang", "reference"},
    "reactive": {"compiled", "errors", "lang"},
    "algebra": {"compiled", "errors", "lang"},
    "plan": {"errors", "lang", "automata", "reactive", "algebra"},
    "engine": BEFORE_API - {"engine"},
    "dialects": BEFORE_API,
    "api": BEFORE_API | {"dialects"},
    "demo": set(),
    "spark": BEFORE_API | {"dialects", "api"},
    "show": BEFORE_API | {"dialects", "api", "spark"},
    "cli": BEFORE_API | {"dialects", "api", "spark", "show", "demo"},
}
"""For each stage the others it may import. `reference` is what the engine is compared with, and
shares only the syntax trees with it; but `automata.correlate`, which decides general conditions one
combination of events at a time, does so with the reference's own evaluator of conditions."""


def stage_of(module: str) -> str:
    """`cereus.lang.ceql` → `lang`; `cereus.query` and `cereus` itself → `api`."""
    name = module.split(".")[1] if "." in module else "__init__"
    return "api" if name in API else name


def is_module(module: str) -> bool:
    path = ROOT.parent / Path(*module.split("."))
    return path.is_dir() or path.with_suffix(".py").exists()


def imports(source: str, package: str) -> Iterator[tuple[int, str]]:
    """Every module of Cereus that `source` imports anywhere, with the line."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1]
            base = ".".join([*(above if node.level else []), *filter(None, [node.module])])
            inner = [f"{base}.{alias.name}" for alias in node.names]
            names = [name if is_module(name) else base for name in inner]
        else:
            continue
        yield from ((node.lineno, name) for name in names if name.split(".")[0] == "cereus")


def violations(stage: str, source: str, package: str) -> list[str]:
    allowed = MAY_IMPORT[stage] | {stage}
    return [
        f"line {line}: {stage} imports {name}"
        for line, name in imports(source, package)
        if stage_of(name) not in allowed
    ]


MODULES = sorted(ROOT.rglob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_stage_imports_only_from_the_stages_before_it(path: Path) -> None:
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    stage = stage_of(".".join(parts))
    assert stage in MAY_IMPORT, f"{stage} is not a stage: add it to MAY_IMPORT and docs/design.md"
    assert violations(stage, path.read_text(), ".".join(parts[:-1])) == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import cereus.engine.kernel", "cereus.engine.kernel"),
        ("from cereus import spark as cs", "cereus.spark"),
        ("from cereus import compile", "cereus"),
        ("from cereus.engine import COMPILED", "cereus.engine"),
        ("from ..engine import kernel", "cereus.engine"),
        ("def f():\n    from cereus.reference import cel", "cereus.reference.cel"),
    ],
)
def test_every_way_of_importing_is_seen(source: str, found: str) -> None:
    (violation,) = violations("lang", source, "cereus.lang")
    assert found in violation


def test_imports_downwards_and_sideways_are_allowed() -> None:
    source = "import numpy\nfrom cereus.errors import CereusError\nfrom . import expression"
    assert violations("lang", source, "cereus.lang") == []
