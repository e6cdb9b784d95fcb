"""Charts in files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cereus.errors import CereusError

CHARTS = (".html", ".svg", ".png")
"""The suffixes of what a chart can be written to."""


def chart_to_file(chart: Any, path: Path) -> None:
    """Write an altair chart: a page, or a picture."""
    if path.suffix.lower() not in CHARTS:
        hint = f"end the name in one of {', '.join(CHARTS)}"
        raise CereusError(f"cannot draw to {str(path)!r}", hint=hint)
    try:
        chart.save(str(path))
    except ImportError:
        raise CereusError(
            "pictures of charts need vl-convert-python, which is not installed",
            hint="pip install 'cereus[notebook]', or write .html",
        ) from None
