"""Writes results as files: JSON for programs, a Markdown page with pictures for people."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import cereus
from cereus.errors import CereusError
from cereus.show.pictures import save

JSON, PAGE = "results.json", "results.md"
Row = Mapping[str, Any]


@dataclass(frozen=True)
class ResultSection:
    """One part of a page: what was measured and how, a table, and charts of it by file name."""

    title: str
    text: str
    rows: Sequence[Row]
    charts: Mapping[str, Any] = field(default_factory=dict)


def machine() -> dict[str, Any]:
    """The properties of the machine that the figures depend on."""
    return {
        "cereus": cereus.__version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
    }


def write(folder: Path, title: str, sections: Sequence[ResultSection]) -> Path:
    """Write JSON, pictures and the page into a folder. Returns the path of the page."""
    folder.mkdir(parents=True, exist_ok=True)
    tables = {section.title: list(section.rows) for section in sections}
    text = json.dumps({"machine": machine(), "sections": tables}, indent=1, ensure_ascii=False)
    (folder / JSON).write_text(text + "\n", encoding="utf-8")
    for section in sections:
        for name, chart in section.charts.items():
            save(chart, folder / name)
    page = folder / PAGE
    page.write_text(page_text(title, sections), encoding="utf-8")
    return page


def page_text(title: str, sections: Sequence[ResultSection]) -> str:
    here = machine()
    about = (
        f"Cereus {here['cereus']}, Python {here['python']}, {here['system']}, "
        f"{here['cores']} cores."
    )
    parts = [f"# {title}", about]
    for section in sections:
        parts += [f"## {section.title}", section.text.strip(), markdown(section.rows)]
        parts += [f"![{section.title}]({name})" for name in section.charts]
    return "\n\n".join(part for part in parts if part) + "\n"


def markdown(rows: Sequence[Row]) -> str:
    """A table. A column without numbers is text, aligned to the left."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    numeric = [any(isinstance(row.get(name), int | float) for row in rows) for name in names]
    lines = [names, ["---:" if number else "---" for number in numeric]]
    lines += [[number_text(row.get(name)) for name in names] for row in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) if rows else ""


def number_text(value: Any) -> str:
    """A number with three digits, which is all that a measurement has; counts are shown in full."""
    match value:
        case None:
            return "–"
        case float() if 0 < abs(value) < 100:
            return f"{value:.3g}"
        case float() if abs(value) < 1e15:
            return f"{value:,.0f}"
        case float():
            return f"{value:.3g}"
        case int() if not isinstance(value, bool):
            return f"{value:,}"
    return str(value).replace("|", "\\|")


def read_results(path: Path) -> dict[str, list[Row]]:
    """The tables of results that were written before, by their titles."""
    path = path / JSON if path.is_dir() else path
    try:
        sections = json.loads(path.read_text("utf-8"))["sections"]
        return {str(title): list(rows) for title, rows in sections.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as reason:
        hint = "name a results.json that a benchmark has written, or its folder"
        raise CereusError(f"{path} has no results of a benchmark: {reason}", hint=hint) from None


def against(rows: Sequence[Row], before: Sequence[Row], label: str = "query") -> list[Row]:
    """Each row with how its multiple of the floor compares with that of an earlier run: 0.5 is half
    the work. Floors make runs on different days and machines comparable."""
    earlier = {row.get(label): row.get("× floor") for row in before}

    def ratio(row: Row) -> float | None:
        now, then = row.get("× floor"), earlier.get(row.get(label))
        return now / then if now and then else None

    return [{**row, "× before": ratio(row)} for row in rows]
