"""The core never names a language; a room imports no other room (docs/design.md)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent / "src" / "cereus"

API = frozenset(
    {
        "column_types",
        "many",
        "matches",
        "notices",
        "query",
        "recognizer",
        "sources",
        "statements",
        "writing",
    }
)
"""The modules at the root that make the public surface: one stage, `api`."""

LEAVES = {"compiled", "errors", "limits", "pictures", "state"}
SYNTAX = LEAVES | {"syntax", "expr", "clauses", "stream"}
CORE = SYNTAX | {"automata", "plan", "explain", "engine", "language"}
MAY_IMPORT: dict[str, set[str]] = {
    "errors": set(),
    "compiled": set(),
    "state": {"errors"},
    "limits": {"errors"},
    "pictures": {"errors"},
    "syntax": {"errors"},
    "expr": {"errors", "syntax"},
    "clauses": {"errors", "syntax", "expr"},
    "stream": {"errors", "expr", "clauses"},
    "automata": SYNTAX,
    "plan": SYNTAX | {"automata"},
    "explain": SYNTAX | {"automata", "plan"},
    "engine": SYNTAX | {"automata", "plan"},
    "language": SYNTAX | {"automata", "plan", "explain", "engine"},
    "api": CORE | {"why"},
    "why": CORE | {"api"},
    "languages": CORE | {"api"},
    "reference": {"errors", "syntax", "expr", "clauses", "languages"},
    "translate": CORE | {"languages"},
    "demo": set(),
    "funnels": CORE | {"api"},
    "rules": CORE | {"api"},
    "spark": CORE | {"api", "funnels", "rules", "why"},
    "show": CORE | {"api", "funnels", "why"},
    "report": CORE | {"api", "why", "show"},
    "bench": CORE | {"api", "demo", "show"},
    "lsp": CORE | {"api"},
    "play": CORE | {"api", "why", "report", "lsp", "show", "translate"},
    "cli": CORE
    | {"api", "bench", "demo", "funnels", "lsp", "play", "report", "show", "spark", "translate"}
    | {"why"},
    "__main__": {"cli"},
    "__init__": CORE | {"api", "funnels", "rules", "languages"},
}
"""For each stage the others it may import. Only the package itself, `translate` and the
`reference` know the rooms; every other stage asks `language.registry`."""

ROOM_FILES_OF_THE_REFERENCE = ("tree", "text", "print")
"""The reference evaluates syntax trees: that is all it may take from a room."""


def stage_of(module: str) -> str:
    """`cereus.expr.tree` → `expr`; `cereus.query` → `api`; `cereus` itself → `__init__`."""
    name = module.split(".")[1] if "." in module else "__init__"
    return "api" if name in API else name


def registers(module: str) -> bool:
    """`cereus.languages` itself is where every room is made known."""
    return module == "cereus.languages.__init__"


def room_of(module: str) -> str | None:
    """`cereus.languages.sase.tree` → `sase`."""
    parts = [] if registers(module) else module.split(".")
    return parts[2] if len(parts) > 2 and parts[1] == "languages" else None


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


def violations(module: str, source: str, package: str) -> list[str]:
    stage, room = stage_of(module), room_of(module)
    allowed = MAY_IMPORT[stage] | {stage}
    found = []
    for line, name in imports(source, package):
        if name == "cereus" and stage in ("bench", "cli", "spark", "show", "report", "lsp"):
            continue  # the public surface, and the version
        if stage_of(name) not in allowed:
            found.append(f"line {line}: {stage} imports {name}")
        if room is not None and room_of(name) not in (None, room):
            found.append(f"line {line}: the room {room} imports the room {room_of(name)}")
    return found


MODULES = sorted(ROOT.rglob("*.py"))


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT.parent).with_suffix("").parts)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_stage_imports_only_what_it_may(path: Path) -> None:
    module = module_of(path)
    stage = stage_of(module)
    assert stage in MAY_IMPORT, f"{stage} is not a stage: add it to MAY_IMPORT and docs/design.md"
    package = module.rpartition(".")[0]
    assert violations(module, path.read_text(), package) == []


def test_a_folder_has_about_fifteen_files() -> None:
    folders = {path.parent for path in MODULES}
    sizes = {str(f.relative_to(ROOT)): len(list(f.glob("*.py"))) for f in folders}
    assert {name: size for name, size in sizes.items() if size > 17} == {}


def test_a_folder_is_a_package() -> None:
    """Documentation and type checkers pass over folders that are none."""
    folders = {path.parent for path in MODULES}
    assert [
        str(f.relative_to(ROOT)) for f in sorted(folders) if not (f / "__init__.py").exists()
    ] == []


def test_no_file_outside_a_room_is_called_after_a_language() -> None:
    rooms = [path.name for path in (ROOT / "languages").iterdir() if (path / "tree.py").exists()]
    named = [
        str(path.relative_to(ROOT))
        for path in MODULES
        if path.relative_to(ROOT).parts[0] not in ("languages", "reference", "translate")
        and any(path.stem == room or path.stem.startswith(f"{room}_") for room in rooms)
    ]
    assert named == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import cereus.engine.kernel.kernel", "cereus.engine.kernel.kernel"),
        ("from cereus import spark as cs", "cereus.spark"),
        ("from cereus import compile", "cereus"),
        ("from cereus.engine import COMPILED", "cereus.engine"),
        ("from ..engine import executor", "cereus.engine"),
        ("def f():\n    from cereus.reference import par", "cereus.reference.par"),
    ],
)
def test_every_way_of_importing_is_seen(source: str, found: str) -> None:
    (violation,) = violations("cereus.expr.tree", source, "cereus.expr")
    assert found in violation


def test_imports_downwards_and_sideways_are_allowed() -> None:
    source = "import numpy\nfrom cereus.errors import CereusError\nfrom . import tree"
    assert violations("cereus.expr.check", source, "cereus.expr") == []


def test_a_room_may_not_import_another_room() -> None:
    source = "from cereus.languages.ceql import tree"
    assert violations("cereus.languages.sase.tree", source, "cereus.languages.sase") == [
        "line 1: the room sase imports the room ceql"
    ]
