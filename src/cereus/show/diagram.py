"""A query as a picture: DOT text, and SVG where graphviz is installed."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass

from cereus.errors import CereusError
from cereus.query import Query


@dataclass(frozen=True)
class Diagram:
    """A graph in DOT. Notebooks show it as a picture where graphviz's `dot` is installed."""

    dot: str

    def svg(self) -> str:
        """The picture; needs graphviz."""
        return self._drawn("svg").decode()

    def png(self) -> bytes:
        """The picture as PNG; needs graphviz."""
        return self._drawn("png")

    def _drawn(self, kind: str) -> bytes:
        program = shutil.which("dot")
        if program is None:
            raise CereusError(
                "graphviz is not installed, so there is no `dot` to draw with",
                hint="install graphviz, or take the DOT text",
            )
        drawn = subprocess.run(
            [program, f"-T{kind}"], input=self.dot.encode(), capture_output=True, check=False
        )
        if drawn.returncode:
            raise CereusError(f"graphviz could not draw this: {drawn.stderr.decode().strip()}")
        return drawn.stdout

    def _repr_svg_(self) -> str | None:
        return self.svg() if shutil.which("dot") else None

    def __str__(self) -> str:
        return self.dot


def diagram(query: Query) -> Diagram:
    """What runs a query, as its language draws it: an automaton over the letters that can occur, a
    machine, or the parts of an expression with what each remembers."""
    return Diagram(query.compiled.diagram())
