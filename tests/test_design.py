"""docs/design.md and the pages in docs/design name files and folders that exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "cereus"
DESIGN = (ROOT / "docs" / "design.md").read_text("utf-8")
PAGES = [DESIGN, *(page.read_text("utf-8") for page in (ROOT / "docs" / "design").glob("*.md"))]


def test_every_file_in_the_design_exists() -> None:
    named = {name for page in PAGES for name in re.findall(r"`([a-z_]+(?:/[a-z_]+)*\.py)`", page)}
    assert len(named) > 20
    places = (SOURCE, ROOT, SOURCE / "languages" / "match_recognize")
    assert [name for name in sorted(named) if not any((p / name).exists() for p in places)] == []


def test_the_tree_in_the_design_has_every_folder() -> None:
    tree = DESIGN.split("```")[1]
    folders = {p.name for p in SOURCE.iterdir() if (p / "__init__.py").exists()}
    assert [name for name in sorted(folders) if f"{name}/" not in tree] == []
    rooms = {p.name for p in (SOURCE / "languages").iterdir() if (p / "tree.py").exists()}
    assert [name for name in sorted(rooms) if name not in tree] == []
