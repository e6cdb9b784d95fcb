"""Writes charts to files, and escapes names in charts: nothing in a value or a name is read as
code."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from cereus.errors import CereusError
from cereus.pictures.diagram import Diagram
from cereus.pictures.graphs import library
from cereus.writing.json_text import json_text

CHARTS = (".html", ".svg", ".png")
"""The suffixes of files that a chart can be written to."""
DIAGRAMS = (".svg", ".png")
LARGEST_EXACT = 2**53 - 1
"""A browser rounds larger whole numbers, so they are texts there."""
PLACE = {"description": "the chart"}
"""Stands for a chart in a page, until the chart is put there."""


def save(chart: Any, path: str | Path) -> None:
    """Write an altair chart: .svg or .png as a still picture, .html to zoom in, offline; or a
    diagram, .svg or .png."""
    file = Path(path)
    if isinstance(chart, Diagram):
        return _save_diagram(chart, file)
    if file.suffix.lower() not in CHARTS:
        raise _refused(file, CHARTS)
    spec, convert = chart.to_dict(), library("vl_convert")
    match file.suffix.lower():
        case ".svg":
            file.write_text(convert.vegalite_to_svg(spec), encoding="utf-8")
        case ".png":
            file.write_bytes(convert.vegalite_to_png(spec, scale=2))
        case _:
            file.write_text(_page(spec, convert), encoding="utf-8")


def _save_diagram(diagram: Diagram, file: Path) -> None:
    match file.suffix.lower():
        case ".svg":
            file.write_text(diagram.svg(), encoding="utf-8")
        case ".png":
            file.write_bytes(diagram.png())
        case _:
            raise _refused(file, DIAGRAMS)


def _refused(file: Path, suffixes: tuple[str, ...]) -> CereusError:
    hint = f"end the name in one of {', '.join(suffixes)}"
    return CereusError(f"cannot draw to {str(file)!r}", hint=hint)


def _page(spec: dict[str, Any], convert: Any) -> str:
    """A page with the chart in a script. A value cannot end the script, since `<` is escaped."""
    page: str = convert.vegalite_to_html(PLACE, bundle=True)
    place = json.dumps(PLACE, separators=(",", ":"))
    assert page.count(place) == 1
    return page.replace(place, json_text(spec).replace("<", "\\u003c"))


def field_name(name: str) -> str:
    """A column as a field of a chart's data. Vega reads dots, brackets and quotes in the name of
    a field as code, so they are replaced by their numbers; titles show the column's name."""
    return re.sub(r"[^\w -]", lambda sign: f"_{ord(sign[0]):x}_", name)


def tooltip(alt: Any, column: str) -> Any:
    """The tooltip with the value of a column. Vega-Lite writes the title into an expression, and
    escapes quotes in it, but not backslashes."""
    title = column.replace("\\", "\\\\")
    return alt.Tooltip(field_name(column), type="nominal", title=title)
